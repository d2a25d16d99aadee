//! What people change of Flux is put right within seconds; what they add stays.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crds::keys::{OWNER_NAME, RECONCILE_TIMEOUT};
use crds::status::ConditionStatus;
use crds::{DEFAULT_NAMESPACE, FluxInstance, INSTANCE_NAME, ObjectId};
use e2e::wait_for;
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, DeleteParams, DynamicObject, Patch, PatchParams};
use kube::core::{GroupVersionKind, TypeMeta};
use serde_json::{Value, json};

use crate::LONG;
use crate::bench::{ALL, Bench, ready};
use crate::snapshot::{Objects, differences, masked, misnamed, owned};

/// How soon a change is put right.
const REPAIRED_WITHIN: Duration = Duration::from_secs(5);
/// How long to look for the repair of a change, to say how late it came.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(40);
/// How long nothing may happen after a change that is none of ours.
const QUIET: Duration = Duration::from_secs(3);
/// How often one object is changed until its repair takes longer than that of others may.
const QUARRELS: usize = 6;
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_takes_a_field_again_and_again_does_not_slow_down_other_repairs() {
    let bench = Bench::start().await;
    bench.apply(&ALL, json!({})).await;
    bench.wait_until_ready().await;
    bench.wait_until_quiet(SETTLED).await;
    let whole = contents(&owned(&bench.client).await);
    let deployments = Api::<Deployment>::namespaced(bench.client.clone(), DEFAULT_NAMESPACE);
    let has_one = |deployment: &Deployment| deployment.spec.as_ref().unwrap().replicas == Some(1);
    let began = Instant::now();
    for _ in 0..QUARRELS {
        change_it(&bench, &deployment("source-controller"), Change::Edit(json!({"spec": {"replicas": 0}})))
            .await;
        wait_for(&deployments, "source-controller", has_one, GIVEN_UP_AFTER).await.unwrap();
    }
    let quarrel = began.elapsed();
    println!("{QUARRELS} repairs of one object took {quarrel:.1?}");
    assert!(quarrel > Duration::from_secs(3), "they do not become slower");
    change_it(&bench, &deployment("source-controller"), Change::Edit(json!({"spec": {"replicas": 0}}))).await;
    let other = deployment("helm-controller");
    change_it(&bench, &other, Change::Edit(json!({"spec": {"replicas": 0}}))).await;
    let took = repaired(&bench, &whole, &other).await;
    assert!(took < REPAIRED_WITHIN, "another object was put right after {took:.1?}");
    bench.uninstall().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_people_change_is_put_right_while_a_pass_waits_and_after_it_failed() {
    let bench = Bench::start_with(vec!["--min-retry-delay=10m".to_owned()]).await;
    let apply_with_timeout = async |timeout: &str| {
        let patch = "[{op: add, path: /spec/template/spec/nodeSelector, value: {no: such-node}}]";
        let target = json!({"kind": "Deployment", "name": "source-controller"});
        let object = json!({
            "apiVersion": "fluxcd.controlplane.io/v1",
            "kind": "FluxInstance",
            "metadata": {
                "name": INSTANCE_NAME,
                "namespace": DEFAULT_NAMESPACE,
                "annotations": {RECONCILE_TIMEOUT: timeout},
            },
            "spec": {
                "distribution": {"version": "2.x", "registry": "ghcr.io/fluxcd"},
                "kustomize": {"patches": [{"patch": patch, "target": target}]},
            },
        });
        e2e::apply(&bench.client, object).await.unwrap();
    };
    apply_with_timeout("5m").await;
    let says = async |status: ConditionStatus, part: &str| {
        let is_said = |instance: &FluxInstance| {
            ready(instance).is_some_and(|it| it.status == status && it.message.contains(part))
        };
        let found = wait_for(&bench.instances(), INSTANCE_NAME, is_said, LONG).await;
        found.unwrap_or_else(|error| panic!("{error}\n{}", bench.explain()))
    };
    says(ConditionStatus::Unknown, "Waiting for Deployment/flux-system/source-controller: ").await;
    let whole = contents(&owned(&bench.client).await);
    let service = whole.keys().find(|id| id.kind == "Service" && id.name == "source-controller").unwrap();
    for phase in ["while it waits", "after it failed"] {
        let changes = [
            (deployment("helm-controller"), Change::Edit(json!({"spec": {"replicas": 0}}))),
            (service.clone(), Change::Delete),
        ];
        for (id, change) in changes {
            change_it(&bench, &id, change).await;
            let took = repaired(&bench, &whole, &id).await;
            println!("{id} was put right after {took:.1?} {phase}");
            assert!(took < REPAIRED_WITHIN, "{id} was put right after {took:.1?} {phase}");
        }
        bench.wait_until_quiet(SETTLED).await;
        let instance = bench.instances().get(INSTANCE_NAME).await.unwrap();
        let misnamed = misnamed(&owned(&bench.client).await, &instance);
        assert!(misnamed.is_empty(), "another uid in the inventory than in the cluster: {misnamed:?}");
        if phase == "while it waits" {
            apply_with_timeout("1s").await;
            says(ConditionStatus::False, "not ready after 1 s: Deployment/flux-system/source-controller")
                .await;
        }
    }
    let failed = bench.instances().get(INSTANCE_NAME).await.unwrap();
    assert_eq!(ready(&failed).unwrap().status, ConditionStatus::False, "the words of the failure stay");
    bench.uninstall().await;
}

fn deployment(name: &str) -> ObjectId {
    ObjectId {
        group: "apps".to_owned(),
        kind: "Deployment".to_owned(),
        namespace: DEFAULT_NAMESPACE.to_owned(),
        name: name.to_owned(),
    }
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
