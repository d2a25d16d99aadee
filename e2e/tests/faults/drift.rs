//! What people change of Flux is put right within seconds; what they add stays.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crds::keys::OWNER_NAME;
use crds::{DEFAULT_NAMESPACE, ObjectId};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, DeleteParams, DynamicObject, Patch, PatchParams};
use kube::core::{GroupVersionKind, TypeMeta};
use serde_json::{Value, json};

use crate::bench::{ALL, Bench};
use crate::snapshot::{Objects, differences, masked, owned};

/// How soon a change is put right.
const REPAIRED_WITHIN: Duration = Duration::from_secs(5);
/// How long to look for the repair of a change, to say how late it came.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(40);
/// How long nothing may happen after a change that is none of ours.
const QUIET: Duration = Duration::from_secs(3);
/// Enough to be sure that a pass is over.
const SETTLED: Duration = Duration::from_secs(1);

/// What somebody does to an object.
enum Change {
    Delete,
    /// A merge patch by a person.
    Edit(Value),
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_people_change_or_delete_is_put_right_within_seconds() {
    let bench = Bench::start().await;
    bench.apply(&ALL, json!({})).await;
    bench.wait_until_ready().await;
    bench.wait_until_quiet(SETTLED).await;
    let whole = contents(&owned(&bench.client).await);
    let find = |kind: &str, name: &str| {
        let found = whole.keys().find(|id| id.kind == kind && id.name == name);
        found.unwrap_or_else(|| panic!("no {kind} {name} in {:?}", whole.keys().collect::<Vec<_>>())).clone()
    };
    let without = |label: &str| Change::Edit(json!({"metadata": {"labels": {label: null}}}));
    let changes = [
        ("scaled", find("Deployment", "source-controller"), Change::Edit(json!({"spec": {"replicas": 0}}))),
        ("deleted", find("Service", "source-controller"), Change::Delete),
        ("without a label", find("Deployment", "helm-controller"), without("app.kubernetes.io/component")),
        ("without an owner label", find("ServiceAccount", "helm-controller"), without(OWNER_NAME)),
        ("deleted", find("Deployment", "notification-controller"), Change::Delete),
        (
            "deleted",
            find("CustomResourceDefinition", "alerts.notification.toolkit.fluxcd.io"),
            Change::Delete,
        ),
    ];
    let mut late = String::new();
    for (what, id, change) in changes {
        change_it(&bench, &id, change).await;
        let took = repaired(&bench, &whole, &id).await;
        println!("{id}, {what}, was put right after {took:.1?}");
        if took > REPAIRED_WITHIN {
            let _ = writeln!(late, "{id}, {what}: {took:.1?}");
        }
    }
    assert!(late.is_empty(), "put right too late:\n{late}");
    bench.wait_until_quiet(SETTLED).await;
    let left = differences(&whole, &contents(&owned(&bench.client).await));
    assert!(left.is_empty(), "{left}");
    bench.uninstall().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_others_add_stays_and_is_no_reason_to_write() {
    let bench = Bench::start().await;
    bench.apply(&ALL, json!({})).await;
    bench.wait_until_ready().await;
    bench.wait_until_quiet(SETTLED).await;
    let mark = bench.proxy.mark();
    let added = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "source-controller", "annotations": {"example.com/added": "yes"}},
        "spec": {"template": {"spec": {"priorityClassName": "system-cluster-critical"}}},
    });
    let deployments = Api::<Deployment>::namespaced(bench.client.clone(), DEFAULT_NAMESPACE);
    let parameters = PatchParams::apply("somebody-else").force();
    deployments.patch("source-controller", &parameters, &Patch::Apply(&added)).await.unwrap();
    bench.wait_until_quiet(QUIET).await;
    let seen = bench.proxy.since(mark);
    let writes: Vec<String> = seen
        .iter()
        .filter(|record| record.request.verb.is_write() && !record.request.is_lease())
        .map(ToString::to_string)
        .collect();
    println!("after a foreign field: {writes:?}");

    let live = deployments.get("source-controller").await.unwrap();
    assert_eq!(live.metadata.annotations.unwrap()["example.com/added"], "yes");
    let pod = live.spec.unwrap().template.spec.unwrap();
    assert_eq!(pod.priority_class_name.as_deref(), Some("system-cluster-critical"));
    assert!(writes.is_empty(), "{writes:?}");
    bench.uninstall().await;
}

async fn change_it(bench: &Bench, id: &ObjectId, change: Change) {
    let api = api(bench, id).await;
    match change {
        Change::Delete => drop(api.delete(&id.name, &DeleteParams::background()).await.unwrap()),
        Change::Edit(patch) => {
            let person = PatchParams { field_manager: Some("somebody".to_owned()), ..PatchParams::default() };
            api.patch(&id.name, &person, &Patch::Merge(patch)).await.unwrap();
        }
    }
}

/// How long it takes until an object is as it was.
async fn repaired(bench: &Bench, whole: &Objects, id: &ObjectId) -> Duration {
    let began = Instant::now();
    let expected = Objects::from([(id.clone(), whole[id].clone())]);
    let api = api(bench, id).await;
    loop {
        let live = api.get_opt(&id.name).await.unwrap();
        let live = live.filter(|live| live.metadata.deletion_timestamp.is_none());
        let live = live.map(|live| (id.clone(), serde_json::to_value(live).unwrap()));
        let left = differences(&expected, &contents(&live.into_iter().collect()));
        if left.is_empty() {
            return began.elapsed();
        }
        assert!(began.elapsed() < GIVEN_UP_AFTER, "never put right: {left}\n{}", bench.explain());
        tokio::task::yield_now().await;
    }
}

/// The objects without what the API server and other controllers write.
fn contents(objects: &Objects) -> Objects {
    let mut objects = masked(objects);
    for object in objects.values_mut() {
        object.as_object_mut().unwrap().remove("status");
        let metadata = object["metadata"].as_object_mut().unwrap();
        for key in ["managedFields", "generation", "finalizers"] {
            metadata.remove(key);
        }
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.remove("deployment.kubernetes.io/revision");
            if annotations.is_empty() {
                metadata.remove("annotations");
            }
        }
    }
    objects
}

async fn api(bench: &Bench, id: &ObjectId) -> Api<DynamicObject> {
    let api_version = if id.group.is_empty() { "v1".to_owned() } else { format!("{}/v1", id.group) };
    let kind = GroupVersionKind::try_from(TypeMeta { api_version, kind: id.kind.clone() }).unwrap();
    let (resource, _) = kube::discovery::pinned_kind(&bench.client, &kind).await.unwrap();
    if id.namespace.is_empty() {
        Api::all_with(bench.client.clone(), &resource)
    } else {
        Api::namespaced_with(bench.client.clone(), &id.namespace, &resource)
    }
}
