//! Upgrades whose definitions drop versions, against a real API server. Each test has a cluster of its own.

mod bridge;
mod crash;
mod killed;
mod migration;
mod newer;
mod objects;
mod obstacles;

use std::{collections::BTreeMap, time::Duration};

use crds::FluxInstance;
use e2e::{Installation, OperatorOptions, proxy::FaultProxy};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Api, Client};
use serde_json::{Value, json};

/// Enough for a busy machine; a good run takes a fraction of it.
const LONG: Duration = Duration::from_mins(4);

/// The kinds whose only version of 2.9 is not among those of 2.6.
const IMAGE_DEFINITIONS: [&str; 3] = [
    "imagepolicies.image.toolkit.fluxcd.io",
    "imagerepositories.image.toolkit.fluxcd.io",
    "imageupdateautomations.image.toolkit.fluxcd.io",
];

/// The components of 2.6.
const COMPONENTS: [&str; 6] = [
    "source-controller",
    "kustomize-controller",
    "helm-controller",
    "notification-controller",
    "image-reflector-controller",
    "image-automation-controller",
];

/// An instance of Flux 2.6.4 with all its components.
fn old() -> Value {
    json!({"distribution": {"version": "=2.6.4", "registry": "ghcr.io/fluxcd"}, "components": COMPONENTS})
}

/// An instance of Flux 2.9.5 with one component more.
fn new() -> Value {
    let components = [&COMPONENTS[..], &["source-watcher"]].concat();
    json!({"distribution": {"version": "=2.9.5", "registry": "ghcr.io/fluxcd"}, "components": components})
}

/// A cluster with Flux 2.6.4.
async fn old_flux(name: &str) -> Installation {
    let flux = Installation::start(name).await.unwrap();
    flux.apply(&old()).await;
    let instance = flux.wait_until_ready(LONG).await;
    assert_eq!(version(&instance), "v2.6.4");
    flux
}

/// An operator that asks nobody whether it may work.
fn alone() -> OperatorOptions {
    OperatorOptions {
        arguments: vec!["--enable-leader-election=false".to_owned()],
        ..OperatorOptions::default()
    }
}

/// The same, which sees the API server through a proxy.
fn behind(proxy: &FaultProxy) -> OperatorOptions {
    OperatorOptions { kubeconfig: Some(proxy.kubeconfig().to_owned()), ..alone() }
}

fn definitions(client: &Client) -> Api<CustomResourceDefinition> {
    Api::all(client.clone())
}

fn stored_versions(definition: &CustomResourceDefinition) -> Vec<String> {
    definition.status.clone().unwrap_or_default().stored_versions.unwrap_or_default()
}

/// Names of the versions of a definition, sorted.
fn versions(definition: &CustomResourceDefinition) -> Vec<&str> {
    let mut versions: Vec<&str> =
        definition.spec.versions.iter().map(|version| version.name.as_str()).collect();
    versions.sort_unstable();
    versions
}

fn version(instance: &FluxInstance) -> &str {
    let revision = instance.status.as_ref().and_then(|status| status.last_applied_revision.as_deref());
    revision.and_then(|revision| revision.split_once('@')).map_or("", |(version, _)| version)
}

/// The id of every object of the instance, with its uid.
fn uids(instance: &FluxInstance) -> BTreeMap<String, Option<String>> {
    let inventory = instance.status.clone().unwrap().inventory.unwrap();
    inventory.entries.into_iter().map(|entry| (entry.id, entry.uid)).collect()
}
