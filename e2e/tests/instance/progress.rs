//! What an instance says while its objects are not ready.

use crds::{FluxInstance, status::ConditionStatus};
use e2e::{Installation, ready, wait_for};
use futures::StreamExt as _;
use kube::runtime::watcher::watch_object;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

use crate::LONG;

/// The most objects that are watched at once, and some more.
const SHARDS: usize = 22;

fn with_pods_that_cannot_start(target: &Value, shards: usize) -> Value {
    let patch = "[{op: add, path: /spec/template/spec/nodeSelector, value: {no: such-node}}]";
    let mut fields = json!({"kustomize": {"patches": [{"patch": patch, "target": target}]}});
    if shards > 0 {
        let names: Vec<String> = (0..shards).map(|number| format!("s{number:02}")).collect();
        fields["sharding"] = json!({"shards": names});
    }
    fields
}

#[tokio::test]
async fn what_is_waited_for_is_named_and_not_too_often() {
    let flux = Installation::start("instance-progress").await.unwrap();
    flux.apply(&with_pods_that_cannot_start(&json!({"kind": "Deployment"}), 0)).await;
    let is_told = |instance: &FluxInstance| {
        ready(instance).is_some_and(|ready| {
            ready.status == ConditionStatus::Unknown && ready.message.starts_with("Waiting for ")
        })
    };
    let waiting = wait_for(&flux.instances(), "flux", is_told, LONG).await.unwrap();
    let message = &ready(&waiting).unwrap().message;
    let expected = "Waiting for Deployment/flux-system/helm-controller: ";
    assert!(message.starts_with(expected) && message.ends_with("; and 1 more"), "{message}");
    assert_eq!(message.matches("Deployment/").count(), 3, "{message}");

    // One that starts changes what is waited for, after a while.
    let began = Instant::now();
    flux.apply(&with_pods_that_cannot_start(&json!({"kind": "Deployment", "name": "helm-controller"}), 0))
        .await;
    let is_alone =
        |instance: &FluxInstance| is_told(instance) && !ready(instance).unwrap().message.contains("more");
    let waiting = wait_for(&flux.instances(), "flux", is_alone, LONG).await.unwrap();
    assert_eq!(ready(&waiting).unwrap().message.matches("Deployment/").count(), 1);
    assert!(began.elapsed() > Duration::from_secs(8), "told after {:?}", began.elapsed());
    flux.apply(&json!({})).await;
    flux.wait_until_ready(LONG).await;
}

#[tokio::test]
async fn of_many_objects_that_are_not_ready_none_is_forgotten() {
    let flux = Installation::start("instance-many").await.unwrap();
    let sharded = json!({"kind": "Deployment", "annotationSelector": "sharding.fluxcd.io/role=shard"});
    flux.apply(&with_pods_that_cannot_start(&sharded, SHARDS)).await;
    flux.annotate("fluxcd.controlplane.io/reconcileTimeout", json!("20s")).await;
    let failed = async {
        let mut states = Box::pin(watch_object(flux.instances(), "flux"));
        loop {
            let Some(Ok(Some(instance))) = states.next().await else { continue };
            if let Some(ready) = ready(&instance).filter(|it| it.reason == "ReconciliationFailed") {
                return ready.message.clone();
            }
        }
    };
    let message = tokio::time::timeout(LONG, failed).await.unwrap();
    let named = message.matches("Deployment/flux-system/").count();
    assert_eq!(named, 3 * SHARDS, "{message}");
    assert!(!message.contains("Deployment/flux-system/source-controller:"), "one that is ready: {message}");
}
