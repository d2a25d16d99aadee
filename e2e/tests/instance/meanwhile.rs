//! What happens to an instance while a pass waits, and after one that could not begin.

use std::time::{Duration, Instant};

use crds::{FluxInstance, keys::RECONCILE_TIMEOUT, status::ConditionStatus};
use e2e::{Installation, ready, wait_for, wait_for_any};
use futures::StreamExt as _;
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{Event, Node, Pod, Service},
};
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    runtime::watcher::watch_object,
};
use serde_json::{Value, json};

use crate::LONG;

#[tokio::test]
async fn a_pass_that_is_given_up_says_so_and_what_it_applied() {
    let flux = Installation::start("instance-canceled").await.unwrap();
    start_waiting(&flux).await;
    let canceled = async {
        let mut states = Box::pin(watch_object(flux.instances(), "flux"));
        loop {
            let Some(Ok(Some(instance))) = states.next().await else { continue };
            if ready(&instance).is_some_and(|ready| ready.reason == "HealthCheckCanceled") {
                return instance;
            }
        }
    };
    let smallest = json!({});
    let (canceled, changed) = tokio::join!(tokio::time::timeout(LONG, canceled), flux.apply(&smallest));
    let canceled = canceled.unwrap();
    let generation = changed.metadata.generation.unwrap();
    let said = ready(&canceled).unwrap();
    assert_eq!((said.status, said.observed_generation), (ConditionStatus::False, Some(generation - 1)));
    let status = canceled.status.as_ref().unwrap();
    assert_eq!(status.history[0].last_reconciled_status, "HealthCheckCanceled");
    let entries = &status.inventory.as_ref().unwrap().entries;
    assert!(entries.iter().all(|entry| entry.uid.is_some()), "{entries:?}");
    let events: Api<Event> = Api::namespaced(flux.client.clone(), "flux-system");
    let is_told = |event: &Event| event.reason.as_deref() == Some("HealthCheckCanceled");
    wait_for_any(&events, is_told, LONG).await.unwrap();
    flux.wait_until_ready(LONG).await;
}

#[tokio::test]
async fn a_label_on_the_instance_does_not_disturb_a_pass() {
    let flux = Installation::start("instance-label").await.unwrap();
    start_waiting(&flux).await;
    let labelled = Instant::now();
    merge(&flux.instances(), "flux", json!({"metadata": {"labels": {"example.com/team": "a"}}})).await;
    delete_and_wait(&flux, "source-controller").await;

    give_node(&flux, "kustomize-controller").await;
    let done = flux.wait_until_ready(LONG).await;
    let status = done.status.unwrap();
    let took = status.history[0].last_reconciled_duration.trim_end_matches('s').parse::<f64>().unwrap();
    let since = labelled.elapsed().saturating_sub(Duration::from_secs(2)).as_secs_f64();
    assert!(took > since, "the pass took {took} s and began anew after the label, {since} s ago");
    assert_eq!((status.history.len(), status.history[0].total_reconciliations), (1, 1));
}

#[tokio::test]
async fn what_was_installed_is_kept_while_the_spec_cannot_be_built() {
    let flux = Installation::start("instance-kept").await.unwrap();
    flux.apply(&json!({})).await;
    flux.wait_until_ready(LONG).await;
    flux.apply(&json!({"distribution": {"version": "3.x", "registry": "ghcr.io/fluxcd"}})).await;
    let stalled = flux.wait_for_reason("BuildFailed", LONG).await;
    let deployments: Api<Deployment> = Api::namespaced(flux.client.clone(), "flux-system");
    let edited = merge(&deployments, "helm-controller", json!({"spec": {"replicas": 0}})).await;
    let is_back = |deployment: &Deployment| {
        deployment.metadata.generation > edited.metadata.generation
            && deployment.spec.as_ref().unwrap().replicas == Some(1)
    };
    wait_for(&deployments, "helm-controller", is_back, LONG).await.unwrap();
    delete_and_wait(&flux, "source-controller").await;

    let still = flux.wait_for_reason("BuildFailed", LONG).await;
    assert_eq!(still.status.unwrap().conditions, stalled.status.unwrap().conditions);
    flux.apply(&json!({})).await;
    flux.wait_until_ready(LONG).await;
}

#[tokio::test]
async fn what_is_to_be_looked_at_is_told_of_a_new_instance_too() {
    let flux = Installation::start("instance-again").await.unwrap();
    let patch = json!({"patch": "[{op: remove, path: /spec}]", "target": {"name": "nothing"}});
    let odd = json!({"kustomize": {"patches": [patch]}});
    let events: Api<Event> = Api::namespaced(flux.client.clone(), "flux-system");
    for _ in ["first", "second"] {
        let uid = flux.apply(&odd).await.metadata.uid;
        let is_told = |event: &Event| {
            event.reason.as_deref() == Some("BuildWarning") && event.involved_object.uid == uid
        };
        wait_for_any(&events, is_told, LONG).await.unwrap();
        flux.wait_until_ready(LONG).await;
        flux.instances().delete("flux", &DeleteParams::default()).await.unwrap();
        e2e::wait_until_gone(&flux.instances(), "flux", LONG).await.unwrap();
    }
}

/// Starts a pass over pods that no node takes, and waits until it waits for them alone.
async fn start_waiting(flux: &Installation) {
    let patch = "[{op: add, path: /spec/template/spec/nodeSelector, value: {no: such-node}}]";
    let target = json!({"kind": "Deployment", "name": "kustomize-controller"});
    flux.apply(&json!({"kustomize": {"patches": [{"patch": patch, "target": target}]}})).await;
    flux.annotate(RECONCILE_TIMEOUT, json!("10m")).await;
    let is_waiting = |instance: &FluxInstance| {
        let alone = "Waiting for Deployment/flux-system/kustomize-controller: ";
        ready(instance).is_some_and(|it| it.message.starts_with(alone) && !it.message.contains("; "))
    };
    wait_for(&flux.instances(), "flux", is_waiting, LONG).await.unwrap();
}

/// Puts the pod of a controller on a node that it would not take itself.
async fn give_node(flux: &Installation, controller: &str) {
    let nodes: Api<Node> = Api::all(flux.client.clone());
    let node = nodes.list(&ListParams::default()).await.unwrap().items[0].name_any();
    let pods: Api<Pod> = Api::namespaced(flux.client.clone(), "flux-system");
    let selector = ListParams::default().labels(&format!("app={controller}"));
    let pod = pods.list(&selector).await.unwrap().items[0].name_any();
    let binding = json!({
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": pod, "namespace": "flux-system"},
        "target": {"kind": "Node", "name": node},
    });
    let parameters = PostParams::default();
    pods.create_subresource::<_, Value>("binding", &pod, &parameters, &binding).await.unwrap();
}

/// Deletes a Service, and waits until it is there again and recorded.
async fn delete_and_wait(flux: &Installation, name: &str) {
    let services: Api<Service> = Api::namespaced(flux.client.clone(), "flux-system");
    let lost = services.get(name).await.unwrap().metadata.uid;
    services.delete(name, &DeleteParams::default()).await.unwrap();
    let found = wait_for(&services, name, |service| service.metadata.uid != lost, LONG).await.unwrap();
    let is_recorded = |instance: &FluxInstance| {
        let inventory = instance.status.as_ref().and_then(|status| status.inventory.as_ref());
        inventory.is_some_and(|inventory| inventory.entries.iter().any(|it| it.uid == found.metadata.uid))
    };
    wait_for(&flux.instances(), "flux", is_recorded, LONG).await.unwrap();
}

async fn merge<K>(api: &Api<K>, name: &str, patch: Value) -> K
where
    K: kube::Resource + Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap()
}
