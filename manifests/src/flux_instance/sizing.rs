//! Sizing profiles: resources, concurrency and caches.

use crds::{
    flux_instance::{ClusterSize, Component},
    keys::PROFILE,
};
use serde_json::Value;

use super::controllers::{append_argument, set_resources};
use crate::objects::edit_map;

/// What a profile gives to controllers.
struct Profile {
    /// `--concurrent` and `--requeue-dependency` of kustomize-controller and helm-controller.
    appliers: [&'static str; 2],
    /// `--helm-cache-max-size` of source-controller.
    helm_cache_max_size: &'static str,
    /// `--concurrent` of source-controller; unset, its own default holds.
    source_concurrent: Option<&'static str>,
}

/// CPU and memory, requested and at most.
struct Resources {
    requests: [&'static str; 2],
    limits: [&'static str; 2],
}

/// Applies the profile to the Deployment of a component.
pub(super) fn apply(deployment: &mut Value, component: Component, size: ClusterSize) {
    edit_map(deployment, &["metadata", "annotations"], |annotations| {
        annotations.insert(PROFILE.to_owned(), size.as_str().into());
    });
    if let Some(resources) = resources(component, size) {
        set_resources(deployment, resources.requests, resources.limits);
    }
    let profile = profile(size);
    match component {
        Component::KustomizeController | Component::HelmController => {
            for argument in profile.appliers {
                append_argument(deployment, argument);
            }
        }
        Component::SourceController => {
            append_argument(deployment, profile.helm_cache_max_size);
            append_argument(deployment, "--helm-cache-ttl=720m");
            append_argument(deployment, "--helm-cache-purge-interval=60m");
            if let Some(concurrent) = profile.source_concurrent {
                append_argument(deployment, concurrent);
            }
        }
        _ => {}
    }
}

fn profile(size: ClusterSize) -> Profile {
    match size {
        ClusterSize::Small => Profile {
            appliers: ["--concurrent=5", "--requeue-dependency=10s"],
            helm_cache_max_size: "--helm-cache-max-size=10",
            source_concurrent: None,
        },
        ClusterSize::Medium => Profile {
            appliers: ["--concurrent=10", "--requeue-dependency=5s"],
            helm_cache_max_size: "--helm-cache-max-size=50",
            source_concurrent: Some("--concurrent=5"),
        },
        ClusterSize::Large => Profile {
            appliers: ["--concurrent=20", "--requeue-dependency=5s"],
            helm_cache_max_size: "--helm-cache-max-size=100",
            source_concurrent: Some("--concurrent=10"),
        },
    }
}

/// The resources of a component; none where those of the distribution stay.
fn resources(component: Component, size: ClusterSize) -> Option<Resources> {
    use Component::{HelmController, KustomizeController, SourceController};
    let (requests, limits) = match (size, component) {
        (ClusterSize::Small, _) => (["100m", "64Mi"], ["1000m", "512Mi"]),
        (ClusterSize::Medium, KustomizeController | HelmController | SourceController) => {
            (["100m", "128Mi"], ["2000m", "1Gi"])
        }
        (ClusterSize::Large, KustomizeController | HelmController) => (["100m", "256Mi"], ["3000m", "3Gi"]),
        (ClusterSize::Large, SourceController) => (["100m", "256Mi"], ["2000m", "2Gi"]),
        (ClusterSize::Medium | ClusterSize::Large, _) => return None,
    };
    Some(Resources { requests, limits })
}
