//! Specs that cannot be brought about: told, without harm, and healed by a better spec.

use crds::status::ConditionStatus;
use e2e::{Installation, ready};
use k8s_openapi::api::{apps::v1::Deployment, core::v1::Event};
use kube::{
    Api, ResourceExt as _,
    api::{ListParams, Patch, PatchParams},
};
use serde_json::{Value, json};

use crate::LONG;

#[tokio::test]
async fn a_spec_that_cannot_be_built_changes_nothing_and_heals() {
    let flux = Installation::start("instance-mistakes").await.unwrap();
    flux.apply(&json!({})).await;
    flux.wait_until_ready(LONG).await;
    let before = versions(&flux).await;
    let distribution = |fields: Value| {
        let mut distribution = json!({"version": "2.x", "registry": "ghcr.io/fluxcd"});
        for (field, value) in fields.as_object().unwrap() {
            distribution[field] = value.clone();
        }
        json!({"distribution": distribution})
    };
    let patch =
        |patch: &str| json!({"kustomize": {"patches": [{"patch": patch, "target": {"kind": "Deployment"}}]}});
    let mistakes = [
        (
            distribution(json!({"version": "3.x"})),
            "no version matches spec.distribution.version '3.x' (embedded: 2.6.4, 2.9.5)",
        ),
        (distribution(json!({"version": "two"})), "spec.distribution.version 'two' is not a version range"),
        (distribution(json!({"version": "2.6.x"})), "older than the installed v2.9.5"),
        (
            distribution(json!({"registry": "https://ghcr.io/fluxcd"})),
            "spec.distribution.registry: must be a registry and path without a scheme",
        ),
        (
            distribution(json!({"artifact": "oci://registry.example.com/a"})),
            "spec.distribution.artifact is not supported",
        ),
        (patch("[{op: remove, path: /spec/nothing}]"), "spec.kustomize.patches[0] (target kind=Deployment)"),
        (patch("a: ["), "spec.kustomize.patches[0]"),
        (
            json!({"sharding": {"shards": ["A"]}}),
            "spec.sharding.shards[0]: 'A' must consist of small letters",
        ),
    ];
    for (fields, message) in mistakes {
        flux.apply(&fields).await;
        let instance = flux.wait_for_reason("BuildFailed", LONG).await;
        let ready = ready(&instance).unwrap();
        assert_eq!(ready.status, ConditionStatus::False);
        assert!(ready.message.contains(message), "{}\n  should contain: {message}", ready.message);
        let conditions = &instance.status.as_ref().unwrap().conditions;
        let types: Vec<&str> = conditions.iter().map(|condition| condition.type_.as_str()).collect();
        assert!(types.contains(&"Stalled") && !types.contains(&"Reconciling"), "{types:?}");
        assert_eq!(versions(&flux).await, before, "a broken spec changed the cluster");
    }
    let events: Api<Event> = Api::namespaced(flux.client.clone(), "flux-system");
    let list = events.list(&ListParams::default()).await.unwrap();
    let told = list.items.iter().filter(|event| event.reason.as_deref() == Some("BuildFailed"));
    assert!(told.count() >= 7, "a mistake is told once each");

    flux.apply(&json!({})).await;
    let healed = flux.wait_until_ready(LONG).await;
    assert_eq!(healed.status.unwrap().conditions.len(), 1);
    assert_eq!(versions(&flux).await, before);
}

#[tokio::test]
async fn an_inventory_that_does_not_fit_is_told_before_anything_is_changed() {
    let flux = Installation::start("instance-large").await.unwrap();
    flux.apply(&json!({})).await;
    let installed = flux.wait_until_ready(LONG).await;
    let before = versions(&flux).await;
    let inventory = serde_json::to_value(installed.status.unwrap().inventory).unwrap();
    let set_inventory = async |inventory: &Value| {
        let patch = Patch::Merge(json!({"status": {"inventory": inventory}}));
        flux.instances().patch_status("flux", &PatchParams::default(), &patch).await.unwrap();
    };
    let mut large = inventory.clone();
    let entry =
        |number: usize| json!({"id": format!("flux-system_nothing-{number:06}__ConfigMap"), "v": "v1"});
    large["entries"].as_array_mut().unwrap().extend((0..10_500).map(entry));
    set_inventory(&large).await;

    flux.apply(&json!({"sharding": {"shards": ["apps"]}})).await;
    let refused = flux.wait_for_reason("BuildFailed", LONG).await;
    let message = &ready(&refused).unwrap().message;
    assert!(message.starts_with("status.inventory cannot hold the 105"), "{message}");
    assert!(message.contains(" KiB, and at most 1024 KiB fit; ask for fewer shards"), "{message}");
    assert_eq!(versions(&flux).await, before);

    set_inventory(&inventory).await;
    flux.apply(&json!({})).await;
    flux.wait_until_ready(LONG).await;
}

#[tokio::test]
async fn a_paused_instance_is_left_alone_until_it_is_resumed() {
    let flux = Installation::start("instance-paused").await.unwrap();
    flux.apply(&json!({})).await;
    flux.wait_until_ready(LONG).await;
    let deployments: Api<Deployment> = Api::namespaced(flux.client.clone(), "flux-system");
    flux.annotate("fluxcd.controlplane.io/reconcile", json!("Disabled")).await;
    let events: Api<Event> = Api::namespaced(flux.client.clone(), "flux-system");
    let is_paused = |event: &Event| event.reason.as_deref() == Some("ReconciliationDisabled");
    e2e::wait_for_any(&events, is_paused, LONG).await.unwrap();
    let edit = json!({"spec": {"replicas": 2}});
    deployments.patch("helm-controller", &PatchParams::default(), &Patch::Merge(&edit)).await.unwrap();
    flux.apply(&json!({"components": ["source-controller"]})).await;
    // The edit comes to its end: an operator that did not pause would have undone it before.
    let has_two = |deployment: &Deployment| {
        deployment.status.as_ref().is_some_and(|status| status.ready_replicas == Some(2))
    };
    e2e::wait_for(&deployments, "helm-controller", has_two, LONG).await.unwrap();

    flux.annotate("fluxcd.controlplane.io/reconcile", json!("enabled")).await;
    let resumed = flux.wait_until_ready(LONG).await;
    assert_eq!(resumed.status.unwrap().components.len(), 1);
    // The pause ended the drift watch's effect too: the edit went with the component.
    e2e::wait_until_gone(&deployments, "helm-controller", LONG).await.unwrap();
}

#[tokio::test]
async fn a_request_is_acted_on_and_echoed() {
    let flux = Installation::start("instance-requested").await.unwrap();
    flux.apply(&json!({})).await;
    flux.wait_until_ready(LONG).await;
    flux.annotate("reconcile.fluxcd.io/requestedAt", json!("2026-01-01T00:00:00Z")).await;
    let is_handled = |instance: &crds::FluxInstance| {
        instance
            .status
            .as_ref()
            .is_some_and(|status| status.last_handled_reconcile_at.as_deref() == Some("2026-01-01T00:00:00Z"))
    };
    let handled = e2e::wait_for(&flux.instances(), "flux", is_handled, LONG).await.unwrap();
    assert_eq!(handled.status.unwrap().history[0].total_reconciliations, 2);
}

/// The versions of all Deployments, which move with every change.
async fn versions(flux: &Installation) -> Vec<(String, Option<i64>)> {
    let deployments: Api<Deployment> = Api::namespaced(flux.client.clone(), "flux-system");
    let list = deployments.list(&ListParams::default()).await.unwrap();
    list.into_iter().map(|deployment| (deployment.name_any(), deployment.metadata.generation)).collect()
}
