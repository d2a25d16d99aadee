//! From a `FluxInstance` to the objects of Flux.
//!
//! The build follows one order, which decides what a user's patch sees: the manifests of the release, the
//! changes that the spec asks for, the user's patches, and last what the spec says of all objects alike:
//! images, namespace, labels and annotations. Manifests are changed by name (a container, a flag, a mount, a
//! rule's content), never by position.

mod advice;
mod controllers;
mod error;
mod images;
mod metadata;
mod notifications;
mod sharding;
mod sizing;
mod sync;
mod tenancy;

use std::{collections::BTreeSet, sync::OnceLock};

use crds::{
    FluxInstance,
    flux_instance::{Cluster, ClusterType, Component, ComponentImage, ShardStorage},
    keys::SHARDING_ROLE,
    names::is_domain,
};
use manifests_kustomize::{Image, Patch, Resource, Resources, Target, TransformError};
use serde_json::{Value, json};

use crate::{
    distribution::{Distribution, Election, Release, elect},
    objects::{self, edit_map, kind},
    order, render,
    semver::Version,
};

pub use error::{BuildError, BuildWarning, InvalidField};
use sharding::{STORAGE_ADDRESS, Shard, is_shardable, storage_host};
use tenancy::WorkloadIdentity;

/// The namespace that the roles and bindings of a distribution name.
const MANIFEST_NAMESPACE: &str = "flux-system";

/// The most characters of an object's name.
const MAX_NAME: usize = 253;

/// What an instance comes to.
#[derive(Clone, Debug)]
pub struct Build {
    /// The release, spelled as the distribution spells it, such as `v2.9.5`.
    pub version: Version,
    /// A newer release of the distribution that the range excludes.
    pub newer: Option<Version>,
    /// The objects, in the order in which they are applied. Definitions of custom resources carry the
    /// descriptions that the distribution has.
    pub objects: Vec<Value>,
    /// Computed when it is first asked for: a command that prints the objects has no use for it.
    digest: OnceLock<String>,
    /// The images of the controllers.
    pub components: Vec<ComponentImage>,
    /// What a user should look at, though it stops nothing.
    pub warnings: Vec<BuildWarning>,
}

impl Build {
    /// SHA-256 of the rendered objects without descriptions, in hex.
    #[must_use]
    pub fn digest(&self) -> &str {
        self.digest.get_or_init(|| render::digest(&self.objects))
    }

    /// Version and digest, as `status.lastAttemptedRevision` has them: `v2.9.5@sha256:<hex>`.
    #[must_use]
    pub fn revision(&self) -> String {
        format!("{}@sha256:{}", self.version.original(), self.digest())
    }
}

/// The version of a revision, as [`Build::revision`] writes it.
#[must_use]
pub fn version_of_revision(revision: &str) -> Option<Version> {
    let (version, _) = revision.split_once('@')?;
    Version::parse(version).ok()
}

/// Builds the objects of an instance from the manifests of a distribution.
///
/// The same instance and distribution always give the same bytes.
///
/// # Errors
/// When no release can be elected, the release cannot be read, a field has a value that no object can be
/// made of, or a patch is broken.
pub fn build(
    instance: &FluxInstance,
    namespace: &str,
    distribution: &dyn Distribution,
) -> Result<Build, BuildError> {
    let spec = &instance.spec;
    let applied = instance.status.as_ref().and_then(|status| status.last_applied_revision.as_deref());
    let applied = applied.and_then(version_of_revision);
    let election = elect(&spec.distribution.version, distribution, applied.as_ref())?;
    let mut warnings = skipped(&election);
    let components = components(&spec.components, &mut warnings);
    let variant = images::variant(&spec.distribution);
    let release = Release::load(distribution, &election.version, &components, variant)?;
    let builder =
        Builder { instance, namespace, cluster: spec.cluster.clone().unwrap_or_default(), release: &release };
    let objects = builder.objects(&mut warnings)?;
    Ok(Build {
        digest: OnceLock::new(),
        components: images::of_deployments(&objects),
        version: election.version,
        newer: election.newer,
        objects,
        warnings,
    })
}

/// The components without repetitions; none named means the default ones.
fn components(named: &[Component], warnings: &mut Vec<BuildWarning>) -> Vec<Component> {
    if named.is_empty() {
        return Component::DEFAULT.to_vec();
    }
    let mut components = Vec::new();
    for component in named {
        if components.contains(component) {
            warnings.push(BuildWarning::RepeatedComponent { component: *component });
        } else {
            components.push(*component);
        }
    }
    components
}

fn skipped(election: &Election) -> Vec<BuildWarning> {
    let skipped = election.skipped.iter();
    skipped.map(|version| BuildWarning::UnsupportedMinor { version: version.clone() }).collect()
}

struct Builder<'a> {
    instance: &'a FluxInstance,
    namespace: &'a str,
    cluster: Cluster,
    release: &'a Release,
}

impl Builder<'_> {
    fn objects(&self, warnings: &mut Vec<BuildWarning>) -> Result<Vec<Value>, BuildError> {
        self.check()?;
        let spec = &self.instance.spec;
        warnings.extend(advice::warnings(spec, &self.components()));
        let identity = WorkloadIdentity::of(&self.cluster, &self.release.version)?;
        let mut resources = self.adapted(identity)?;
        let definitions = definitions(&resources);
        let patches: Vec<Patch> =
            spec.kustomize.iter().flat_map(|kustomize| &kustomize.patches).map(patch).collect();
        let pins = images::pins(&spec.distribution, self.release, warnings)?;
        warnings.extend(resources.patch(&patches)?.into_iter().map(BuildWarning::Patch));
        let left = self::definitions(&resources);
        let removed = definitions.difference(&left).cloned();
        warnings.extend(removed.map(|name| BuildWarning::RemovedDefinition { name }));
        if let Err(problem) = self.settle(&mut resources, &pins) {
            return Err(blame(&self.adapted(identity)?, &patches, problem, |resources| {
                self.settle(resources, &pins)
            }));
        }
        let mut objects = resources.into_objects();
        for object in &mut objects {
            metadata::apply(object, self.instance, self.namespace, &self.release.version);
        }
        check_names(&objects)?;
        order::sort(&mut objects);
        Ok(objects)
    }

    /// The manifests with everything that the spec changes in single objects.
    fn adapted(&self, identity: WorkloadIdentity) -> Result<Resources, BuildError> {
        let mut resources = self.base()?;
        for resource in resources.iter_mut() {
            self.adapt(resource, identity);
        }
        Ok(resources)
    }

    /// Names, references and images, when all patches are in.
    fn settle(&self, resources: &mut Resources, pins: &[Image]) -> Result<(), TransformError> {
        resources.namespace(self.namespace)?;
        // Roles and shards were named apart, and a patch may have renamed something.
        resources.fix_references()?;
        resources.images(pins)
    }

    fn check(&self) -> Result<(), InvalidField> {
        let spec = &self.instance.spec;
        metadata::check(self.instance)?;
        if !is_domain(&self.cluster.domain) {
            let problem = format!("'{}' is not a DNS name such as cluster.local", self.cluster.domain);
            return Err(InvalidField::new("spec.cluster.domain", problem));
        }
        if let Some(sharding) = &spec.sharding {
            sharding::check(sharding, &self.components())?;
            if sharding.storage == Some(ShardStorage::Persistent) && spec.storage.is_none() {
                return Err(InvalidField::new(
                    "spec.storage",
                    "must be set when spec.sharding.storage is persistent",
                ));
            }
        }
        spec.storage.iter().try_for_each(sharding::check_storage)
    }

    /// The manifests, before anything is changed that concerns all of them.
    fn base(&self) -> Result<Resources, BuildError> {
        let spec = &self.instance.spec;
        let mut resources = Resources::new(vec![self.namespace_object()])?;
        if self.cluster.network_policy {
            resources.append(Resources::new(self.release.policies.clone())?)?;
        }
        resources.append(self.roles()?)?;
        for (_, objects) in &self.release.components {
            resources.append(Resources::new(objects.clone())?)?;
        }
        if let Some(sharding) = &spec.sharding {
            for name in &sharding.shards {
                let (storage, domain) = (spec.storage.as_ref(), self.cluster.domain.as_str());
                resources.append(Shard { name, sharding, storage, domain }.build(self.release)?)?;
            }
        }
        let claim = spec
            .storage
            .as_ref()
            .map(|storage| sharding::claim(Component::SourceController.as_str(), storage));
        resources.append(Resources::new(claim.into_iter().collect())?)?;
        if let Some(sync) = &spec.sync {
            resources.append(Resources::new(sync::objects(sync, self.namespace, &self.release.version)?)?)?;
        }
        Ok(resources)
    }

    fn namespace_object(&self) -> Value {
        let mut labels = json!({
            "pod-security.kubernetes.io/warn": "restricted",
            "pod-security.kubernetes.io/warn-version": "latest",
        });
        if self.cluster.type_ == ClusterType::Openshift {
            labels = json!({});
        }
        json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {
                "name": self.namespace,
                "labels": labels,
                "annotations": {crds::keys::PRUNE: "disabled"},
            },
        })
    }

    /// Roles and bindings, named after the namespace so that several installs can share a cluster.
    fn roles(&self) -> Result<Resources, BuildError> {
        let mut objects = self.release.rbac.clone();
        let subjects = objects
            .iter_mut()
            .filter_map(|object| object.get_mut("subjects").and_then(Value::as_array_mut))
            .flatten();
        for subject in subjects.filter(|subject| subject["namespace"] == MANIFEST_NAMESPACE) {
            edit_map(subject, &[], |subject| {
                subject.insert("namespace".to_owned(), self.namespace.into());
            });
        }
        let mut resources = Resources::new(objects)?;
        resources.name_suffix(&format!("-{}", self.namespace))?;
        Ok(resources)
    }

    /// Everything that the spec changes in one object.
    fn adapt(&self, resource: &mut Resource, identity: WorkloadIdentity) {
        let original = resource.original_id().name;
        let object = resource.value_mut();
        match kind(object) {
            "Deployment" => {
                let component =
                    self.components().into_iter().find(|component| component.as_str() == original);
                self.adapt_deployment(object, component, identity);
            }
            "CustomResourceDefinition" if self.has(Component::NotificationController) => {
                notifications::accept_kinds(object);
            }
            "ClusterRole" if original == "crd-controller" => {
                if self.has(Component::NotificationController) {
                    notifications::grant_kinds(object);
                }
                identity.restrict(object);
            }
            "Kustomization" if self.cluster.multitenant => tenancy::run_as_controller(object),
            _ => {}
        }
    }

    fn adapt_deployment(
        &self,
        deployment: &mut Value,
        component: Option<Component>,
        identity: WorkloadIdentity,
    ) {
        self.adapt_pod(deployment);
        let Some(component) = component else { return };
        let spec = &self.instance.spec;
        self.adapt_flags(deployment, component);
        let is_shard = deployment
            .pointer("/metadata/annotations")
            .is_some_and(|annotations| annotations[SHARDING_ROLE] == "shard");
        if component == Component::SourceController && spec.storage.is_some() && !is_shard {
            sharding::persist(deployment);
        }
        if let Some(sharding) =
            spec.sharding.as_ref().filter(|_| !is_shard && is_shardable(component, &self.release.version))
        {
            controllers::append_argument(deployment, format!("--watch-label-selector=!{}", sharding.key));
        }
        if let Some(size) = self.cluster.size {
            sizing::apply(deployment, component, size);
        }
        if self.cluster.multitenant {
            tenancy::lock_down(deployment, component, &self.cluster);
        }
        if self.has(Component::SourceWatcher)
            && matches!(component, Component::KustomizeController | Component::HelmController)
        {
            controllers::append_argument(deployment, "--feature-gates=ExternalArtifact=true");
        }
        identity.apply(deployment, component, &self.cluster);
    }

    /// What every pod of Flux gets, whatever it runs.
    fn adapt_pod(&self, deployment: &mut Value) {
        controllers::edit_pod(deployment, &["nodeSelector"], |selector| {
            selector.insert("kubernetes.io/os".to_owned(), "linux".into());
        });
        if let Some(secret) =
            self.instance.spec.distribution.image_pull_secret.as_deref().filter(|secret| !secret.is_empty())
        {
            controllers::edit_pod(deployment, &[], |pod| {
                pod.insert("imagePullSecrets".to_owned(), json!([{"name": secret}]));
            });
        }
        if self.cluster.type_ == ClusterType::Openshift {
            controllers::edit_pod(deployment, &[], |pod| {
                pod.remove("securityContext");
            });
            controllers::edit_manager(deployment, |container| {
                edit_map(container, &["securityContext"], |context| {
                    context.remove("seccompProfile");
                    context.remove("runAsNonRoot");
                });
            });
        }
        let template = ["spec", "template", "metadata"];
        edit_map(deployment, &[&template[..], &["labels"]].concat(), |labels| {
            labels.insert("app.kubernetes.io/part-of".to_owned(), "flux".into());
        });
        edit_map(deployment, &[&template[..], &["annotations"]].concat(), |annotations| {
            annotations.insert("cluster-autoscaler.kubernetes.io/safe-to-evict".to_owned(), "true".into());
        });
    }

    fn adapt_flags(&self, deployment: &mut Value, component: Component) {
        if component != Component::NotificationController {
            controllers::set_argument(deployment, "--events-addr", &self.events_address());
        }
        controllers::set_argument(deployment, "--watch-all-namespaces", "true");
        controllers::set_argument(deployment, "--log-level", "info");
        if matches!(component, Component::SourceController | Component::SourceWatcher) {
            let host = storage_host(component.as_str(), &self.cluster.domain);
            controllers::set_argument(deployment, STORAGE_ADDRESS, &host);
        }
    }

    /// Where the controllers send their events; nowhere without notification-controller.
    fn events_address(&self) -> String {
        if !self.has(Component::NotificationController) {
            return String::new();
        }
        format!("http://notification-controller.{}.svc.{}./", self.namespace, self.cluster.domain)
    }

    fn components(&self) -> Vec<Component> {
        self.release.components.iter().map(|(component, _)| *component).collect()
    }

    fn has(&self, component: Component) -> bool {
        self.release.components.iter().any(|(chosen, _)| *chosen == component)
    }
}

/// Finds the first patch after which the objects cannot be settled any more.
fn blame(
    adapted: &Resources,
    patches: &[Patch],
    problem: TransformError,
    settle: impl Fn(&mut Resources) -> Result<(), TransformError>,
) -> BuildError {
    let is_settled = |count: &usize| {
        let mut resources = adapted.clone();
        let outcome = resources.patch(patches.get(..*count).unwrap_or_default());
        outcome.is_ok() && settle(&mut resources).is_ok()
    };
    let counts: Vec<usize> = (0..=patches.len()).collect();
    match counts.partition_point(is_settled).checked_sub(1) {
        Some(index) => BuildError::PatchedObject { index, source: problem },
        None => BuildError::Transform(problem),
    }
}

/// The names of the definitions of custom resources.
fn definitions(resources: &Resources) -> BTreeSet<String> {
    let of_kind = resources.iter().filter(|resource| kind(resource.value()) == "CustomResourceDefinition");
    of_kind.map(|resource| objects::name(resource.value()).to_owned()).collect()
}

/// Refuses names that no object can have: such an object could neither be applied nor deleted.
fn check_names(objects: &[Value]) -> Result<(), BuildError> {
    let is_name_character = |character: char| {
        character.is_ascii_lowercase() || character.is_ascii_digit() || matches!(character, '-' | '.' | ':')
    };
    let is_name =
        |text: &str| !text.is_empty() && text.len() <= MAX_NAME && text.chars().all(is_name_character);
    let is_good =
        |object: &&Value| is_name(objects::name(object)) && objects::namespace(object).is_none_or(is_name);
    match objects.iter().find(|object| !is_good(object)) {
        Some(object) => Err(BuildError::Name { object: objects::display(object) }),
        None => Ok(()),
    }
}

fn patch(patch: &crds::flux_instance::Patch) -> Patch {
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    let target = patch.target.as_ref().map(|target| Target {
        group: text(&target.group),
        version: text(&target.version),
        kind: text(&target.kind),
        name: text(&target.name),
        namespace: text(&target.namespace),
        label_selector: text(&target.label_selector),
        annotation_selector: text(&target.annotation_selector),
    });
    Patch { patch: patch.patch.clone(), target }
}
