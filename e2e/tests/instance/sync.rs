//! What an instance tells of its sync.

use crds::FluxInstance;
use e2e::{Installation, apply_yaml, ready, wait_for, wait_for_any};
use k8s_openapi::api::{apps::v1::Deployment, core::v1::Event};
use kube::{
    Api,
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use serde_json::{Value, json};

use crate::LONG;

const MISSING: &str = "Secret/flux-system/git is missing: create it, or correct spec.sync.pullSecret";

fn sync(fields: &Value) -> Value {
    let mut sync = json!({
        "kind": "GitRepository", "url": "https://git.example.com/fleet", "ref": "refs/heads/main", "path": "a",
        "pullSecret": "git", "verify": {"secretRef": {"name": "keys"}},
    });
    sync.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!({"sync": sync})
}

fn says(instance: &FluxInstance, start: &str, words: &str) -> bool {
    ready(instance).is_some_and(|ready| ready.message.starts_with(start) && ready.message.contains(words))
}

#[tokio::test]
async fn a_missing_secret_of_the_sync_is_named_while_it_is_missing() {
    let flux = Installation::start("instance-sync").await.unwrap();
    apply_yaml(
        &flux.client,
        "{apiVersion: v1, kind: Secret, metadata: {name: keys, namespace: flux-system}}",
    )
    .await
    .unwrap();
    flux.apply(&sync(&json!({}))).await;
    flux.annotate("fluxcd.controlplane.io/reconcileTimeout", json!("40s")).await;
    let told =
        wait_for(&flux.instances(), "flux", |it| says(it, "Waiting for ", MISSING), LONG).await.unwrap();
    assert!(!ready(&told).unwrap().message.contains("keys"), "one that is there: {told:?}");
    wait_for(&flux.instances(), "flux", says_failure, LONG).await.unwrap();

    // Nothing fetches here: the sync is suspended, and there is nothing to wait for.
    flux.apply(&sync(&json!({"suspend": true}))).await;
    flux.wait_until_ready(LONG).await;
    let events: Api<Event> = Api::namespaced(flux.client.clone(), "flux-system");
    let is_told = |event: &Event| {
        event.reason.as_deref() == Some("SecretMissing") && event.message.as_deref() == Some(MISSING)
    };
    wait_for_any(&events, is_told, LONG).await.unwrap();
    for (group, kind) in
        [("source.toolkit.fluxcd.io", "GitRepository"), ("kustomize.toolkit.fluxcd.io", "Kustomization")]
    {
        assert_eq!(object(&flux, group, kind).await.data["spec"]["suspend"], true, "{kind}");
    }

    flux.apply(&sync(&json!({"prune": false, "timeout": "5m"}))).await;
    let resumed = |it: &DynamicObject| it.data["spec"].get("suspend").is_none();
    let kustomizations = api(&flux, "kustomize.toolkit.fluxcd.io", "Kustomization");
    let resumed = wait_for(&kustomizations, "flux-system", resumed, LONG).await.unwrap();
    assert_eq!(
        (&resumed.data["spec"]["prune"], &resumed.data["spec"]["timeout"]),
        (&json!(false), &json!("5m"))
    );
    apply_yaml(&flux.client, "{apiVersion: v1, kind: Secret, metadata: {name: git, namespace: flux-system}}")
        .await
        .unwrap();
    let is_quiet = |it: &FluxInstance| {
        says(it, "", "GitRepository/flux-system/flux-system") && !says(it, "", "is missing")
    };
    wait_for(&flux.instances(), "flux", is_quiet, LONG).await.unwrap();
}

#[tokio::test]
async fn objects_of_a_shard_that_goes_are_counted_before_its_controllers_go() {
    let flux = Installation::start("instance-shards").await.unwrap();
    flux.apply(&json!({"sharding": {"shards": ["apps", "infra"]}})).await;
    flux.wait_until_ready(LONG).await;
    let source = |name: &str, shard: &str| {
        format!(
            "{{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, \
             metadata: {{name: {name}, namespace: default, labels: {{sharding.fluxcd.io/key: {shard}}}}}, \
             spec: {{interval: 1m, url: 'https://git.example.com/a'}}}}"
        )
    };
    let (mine, other, left) = (source("a", "apps"), source("b", "apps"), source("c", "infra"));
    let kustomization = "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, \
         metadata: {name: a, namespace: default, labels: {sharding.fluxcd.io/key: apps}}, \
         spec: {interval: 1m, prune: true, sourceRef: {kind: GitRepository, name: a}}}";
    for object in [mine.as_str(), &other, &left, kustomization] {
        apply_yaml(&flux.client, object).await.unwrap();
    }

    flux.apply(&json!({"sharding": {"shards": ["infra"]}})).await;
    let events: Api<Event> = Api::namespaced(flux.client.clone(), "flux-system");
    let is_told = |event: &Event| event.reason.as_deref() == Some("ShardInUse");
    let told = wait_for_any(&events, is_told, LONG).await.unwrap();
    assert_eq!(told.type_.as_deref(), Some("Warning"));
    assert_eq!(
        told.message.as_deref(),
        Some(
            "3 objects still carry the label sharding.fluxcd.io/key=apps of a shard that is removed, and no controller serves them until it is changed (GitRepository: 2, Kustomization: 1)"
        )
    );
    let deployments: Api<Deployment> = Api::namespaced(flux.client.clone(), "flux-system");
    e2e::wait_until_gone(&deployments, "source-controller-apps", LONG).await.unwrap();
    flux.wait_until_ready(LONG).await;
}

fn says_failure(instance: &FluxInstance) -> bool {
    ready(instance).is_some_and(|it| it.reason == "ReconciliationFailed" && it.message.ends_with(MISSING))
}

fn api(flux: &Installation, group: &str, kind: &str) -> Api<DynamicObject> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, "v1", kind));
    Api::namespaced_with(flux.client.clone(), "flux-system", &resource)
}

async fn object(flux: &Installation, group: &str, kind: &str) -> DynamicObject {
    api(flux, group, kind).get("flux-system").await.unwrap()
}
