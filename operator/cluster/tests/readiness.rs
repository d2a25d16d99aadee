//! Readiness against kstatus: the vectors hold its answers (see `e2e/oracles/readiness`).

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

use std::{collections::BTreeMap, sync::LazyLock};

use operator_cluster::readiness::{Readiness, readiness};
use proptest::{collection, prelude::*, sample};
use serde_json::{Value, json};

static VECTORS: LazyLock<BTreeMap<String, (Value, String)>> = LazyLock::new(|| {
    let list: Vec<Value> = serde_json::from_str(include_str!("vectors/readiness.json")).unwrap();
    let entry = |vector: &Value| {
        let text = |key: &str| vector.get(key).unwrap().as_str().unwrap().to_owned();
        (text("name"), (vector.get("object").unwrap().clone(), text("want")))
    };
    list.iter().map(entry).collect()
});

/// Vectors where the answer is another one than kstatus's, on purpose.
struct Difference {
    reason: &'static str,
    ours: &'static str,
    names: &'static [&'static str],
}

const DIFFERENCES: [Difference; 4] = [
    Difference {
        reason: "a Job is waited for because of its work, so that it runs is not enough",
        ours: "InProgress",
        names: &[
            "Job that runs",
            "Job that runs: status.active=0",
            "Job that runs: status.active=\"1\"",
            "Job that runs: conditions [Complete=False]",
            "Job that runs: conditions [Failed=Unknown]",
            "Job that runs: conditions [FailureTarget=True]",
            "Job that runs: conditions [SuccessCriteriaMet=True]",
            "Job that runs: conditions [Suspended=False]",
        ],
    },
    Difference {
        reason: "a suspended Job does what its spec asks for: nothing",
        ours: "Ready",
        names: &["Job that is not started: spec.suspend=true", "Job without a word on suspension"],
    },
    Difference {
        reason: "Flux asks whether a Job is suspended before it asks how the Job ended",
        ours: "Ready",
        names: &["Job that failed: spec.suspend=true"],
    },
    Difference {
        reason: "without a clock, a Pod is never unschedulable for too long",
        ours: "InProgress",
        names: &[
            "Pod that cannot be scheduled: metadata.creationTimestamp=\"2020-01-02T03:04:05Z\"",
            "Pod that cannot be scheduled: metadata.creationTimestamp=\"soon\"",
            "Pod that cannot be scheduled: metadata.creationTimestamp removed",
            "Pod that is pending: conditions [PodScheduled=False/Unschedulable/0 of 3 nodes fit]",
            "Pod that is pending: conditions [PodScheduled=True, PodScheduled=False/Unschedulable]",
        ],
    },
];

fn state(object: &Value) -> &'static str {
    match readiness(object) {
        Readiness::Ready => "Ready",
        Readiness::InProgress(_) => "InProgress",
        Readiness::Failed(_) => "Failed",
        Readiness::Deleted => "Deleted",
    }
}

/// An object and the answer of kstatus.
fn vector(name: &str) -> &'static (Value, String) {
    VECTORS.get(name).unwrap_or_else(|| panic!("there is no vector {name:?}"))
}

#[test]
fn every_object_is_judged_as_kstatus_judges_it() {
    let ours = |name: &str| DIFFERENCES.iter().find(|difference| difference.names.contains(&name));
    let wrong: Vec<String> = VECTORS
        .iter()
        .map(|(name, (object, want))| (name, ours(name).map_or(want.as_str(), |other| other.ours), object))
        .filter(|(_, want, object)| state(object) != *want)
        .map(|(name, want, object)| format!("{name}: {:?} instead of {want}", readiness(object)))
        .collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), VECTORS.len(), wrong.join("\n"));
}

#[test]
fn every_difference_is_one() {
    for Difference { reason, ours, names } in DIFFERENCES {
        for name in names {
            let (_, want) = vector(name);
            assert_ne!(want, ours, "{name} is listed as different, since {reason}, and kstatus agrees");
        }
    }
}

#[test]
fn the_vectors_show_every_state_many_times() {
    assert!(VECTORS.len() >= 700, "{} vectors", VECTORS.len());
    for (state, least) in [("Ready", 200), ("InProgress", 400), ("Failed", 40), ("Deleted", 5)] {
        let count = VECTORS.values().filter(|(_, want)| want == state).count();
        assert!(count >= least, "{count} vectors are {state}");
    }
}

#[test]
fn phrases_name_the_first_step_that_is_not_done() {
    for (name, phrase) in [
        ("Deployment: spec.replicas=3", "Replicas: 2/3"),
        ("StatefulSet: spec.replicas=3", "Replicas: 2/3"),
        ("StatefulSet: status.readyReplicas=1", "Ready: 1/2"),
        ("DaemonSet: status.currentNumberScheduled=1", "Current: 1/2"),
        ("DaemonSet: status.updatedNumberScheduled=1", "Updated: 1/2"),
        ("DaemonSet: status.numberAvailable=1", "Available: 1/2"),
        ("ReplicaSet: status.availableReplicas=1", "Available: 1/2"),
        ("ReplicaSet: status.readyReplicas=1", "Ready: 1/2"),
        ("Deployment: status.updatedReplicas=1", "Updated: 1/2"),
        ("Deployment: status.replicas=3", "Pending termination: 1"),
        ("Deployment: status.availableReplicas=1", "Available: 1/2"),
        ("Deployment: status.readyReplicas=1", "Ready: 1/2"),
        ("Deployment: conditions [Available=True]", "New ReplicaSet not available"),
        ("Deployment: conditions [Progressing=True/NewReplicaSetAvailable]", "Deployment not available"),
        ("StatefulSet: status.currentReplicas=1", "Current: 1/2"),
        ("StatefulSet: status.updateRevision=\"db-2\"", "Revision: db-1, latest: db-2"),
        (
            "StatefulSet: status.updatedReplicas=0, spec.updateStrategy.rollingUpdate.partition=1",
            "Updated: 0/1",
        ),
        (
            "DaemonSet: status.observedGeneration removed",
            "Not observed yet: status.observedGeneration is not set",
        ),
        ("DaemonSet: status.numberReady=1", "Ready: 1/2"),
        (
            "ReplicaSet: conditions [ReplicaFailure=True/FailedCreate/quota exceeded]",
            "FailedCreate: quota exceeded",
        ),
        ("ReplicaSet: status.fullyLabeledReplicas=1", "Labelled: 1/2"),
        ("Pod that runs and is not ready", "Running, not ready"),
        ("Pod that is pending", "Phase: Pending"),
        (
            "Pod that is pending: conditions [PodScheduled=False/Unschedulable/0 of 3 nodes fit]",
            "Unschedulable: 0 of 3 nodes fit",
        ),
        ("Pod: status.phase=\"Unknown\"", "Phase: Unknown"),
        ("Pod: status.phase removed", "Not observed yet: status.phase is not set"),
        ("Job that is not started", "Not started"),
        ("Job that runs", "Succeeded: 0/1, active: 1, failed: 0"),
        ("PersistentVolumeClaim: status.phase=\"Lost\"", "Not bound, phase: Lost"),
        ("PersistentVolumeClaim: status removed", "Not bound, phase: unknown"),
        ("Service: spec.clusterIP removed", "Load balancer without cluster IP"),
        ("CustomResourceDefinition: status removed", "Not established yet"),
        ("Thing: metadata.generation=4", "Observed generation: 3, latest: 4"),
        ("Thing: conditions [Ready=False/Broken/it broke]", "Broken: it broke"),
        ("Thing: conditions [Ready=True, Reconciling=True]", "Reconciling is True"),
        ("Thing: conditions [Reconciling=True/Progressing/busy, Ready=True]", "Progressing: busy"),
        (
            "Thing of an odd shape: status.conditions=[null,{\"status\":\"False\",\"type\":\"Ready\"}]",
            "Ready is False",
        ),
        (
            "Thing of an odd shape: status=\"text\"",
            "Status is not readable: the parent of conditions is a string and must be a map",
        ),
        (
            "Thing of an odd shape: status.conditions=\"text\"",
            "Status is not readable: status.conditions is a string and must be a list",
        ),
        (
            "Thing: metadata.deletionTimestamp=null",
            "Status is not readable: metadata.deletionTimestamp is null and must be a string",
        ),
        (
            "Thing: status.observedGeneration=3.0",
            "Status is not readable: status.observedGeneration is a number that is no 64-bit integer and must be an integer",
        ),
    ] {
        assert_eq!(readiness(&vector(name).0), Readiness::InProgress(phrase.to_owned()), "{name}");
    }
}

#[test]
fn failures_carry_the_words_of_the_controller() {
    for (name, phrase) in [
        (
            "Deployment: conditions [Available=True, Progressing=False/ProgressDeadlineExceeded/timed out]",
            "ProgressDeadlineExceeded: timed out",
        ),
        ("Job that failed", "BackoffLimitExceeded: Job has reached the specified backoff limit"),
        (
            "CustomResourceDefinition: conditions [NamesAccepted=False/Conflict/the name is taken, Established=True]",
            "Conflict: the name is taken",
        ),
        ("CustomResourceDefinition: conditions [Established=False]", "Established is False"),
        ("Thing: conditions [Stalled=True/Invalid/bad spec, Ready=False]", "Invalid: bad spec"),
    ] {
        assert_eq!(readiness(&vector(name).0), Readiness::Failed(phrase.to_owned()), "{name}");
    }
}

#[test]
fn waiting_containers_are_named() {
    let waiting = |name: &str, reason: &str| json!({"name": name, "state": {"waiting": {"reason": reason}}});
    let pod = |phase: &str, statuses: Value| json!({"apiVersion": "v1", "kind": "Pod", "status": {"phase": phase, "containerStatuses": statuses}});
    let both = json!([waiting("app", "CrashLoopBackOff"), waiting("side", "CrashLoopBackOff")]);
    assert_eq!(readiness(&pod("Running", both)), Readiness::Failed("Crash loop: app, side".to_owned()));
    let image = json!([waiting("app", "ImagePullBackOff")]);
    let pending = "Phase: Pending, app ImagePullBackOff".to_owned();
    assert_eq!(readiness(&pod("Pending", image)), Readiness::InProgress(pending));
}

#[test]
fn pods_that_a_deployment_may_not_create_are_explained() {
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "status": {"conditions": [
            {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "exceeded quota: small"},
        ]},
    });
    let phrase = "Replicas: 0/1, FailedCreate: exceeded quota: small".to_owned();
    assert_eq!(readiness(&deployment), Readiness::InProgress(phrase));
}

/// kstatus has no answer to these: it panics, or cannot be asked.
#[test]
fn what_kstatus_cannot_be_asked_is_in_progress() {
    let pod = |status: Value| json!({"apiVersion": "v1", "kind": "Pod", "status": {"phase": "Running", "containerStatuses": [status]}});
    for object in [json!(null), json!("text"), json!(1), json!([]), json!([{"kind": "Secret"}])] {
        assert_eq!(state(&object), "InProgress", "{object}");
    }
    for status in [
        json!(null),
        json!("text"),
        json!({"name": 1, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}),
        json!({"name": "app", "state": null}),
        json!({"name": "app", "state": {"waiting": "CrashLoopBackOff"}}),
        json!({"name": "app", "state": {"waiting": {"reason": ["CrashLoopBackOff"]}}}),
    ] {
        assert_eq!(
            readiness(&pod(status.clone())),
            Readiness::InProgress("Running, not ready".to_owned()),
            "{status}"
        );
    }
}

#[test]
fn a_job_being_resumed_is_not_ready_though_its_condition_lags() {
    let job = |spec: Value| {
        json!({"apiVersion": "batch/v1", "kind": "Job", "spec": spec,
            "status": {"conditions": [{"type": "Suspended", "status": "True"}]}})
    };
    assert_eq!(state(&job(json!({"suspend": false}))), "InProgress");
    assert_eq!(state(&job(json!({"suspend": true}))), "Ready");
    assert_eq!(state(&job(json!({}))), "Ready");
}

#[test]
fn a_running_job_counts_its_pods() {
    let job = |spec: Value| {
        json!({"apiVersion": "batch/v1", "kind": "Job", "spec": spec,
            "status": {"startTime": "2020-01-02T03:04:05Z", "succeeded": 1, "active": 2, "failed": 4}})
    };
    for (spec, wanted) in
        [(json!({"completions": 9, "parallelism": 3}), 9), (json!({"parallelism": 3}), 3), (json!({}), 1)]
    {
        let phrase = format!("Succeeded: 1/{wanted}, active: 2, failed: 4");
        assert_eq!(readiness(&job(spec)), Readiness::InProgress(phrase));
    }
}

#[test]
fn a_phrase_is_one_line_of_bounded_length() {
    let thing = |message: &str| json!({"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "R", "message": message}]}});
    let Readiness::InProgress(phrase) = readiness(&thing("first\n\n  second\tthird\r\n")) else { panic!() };
    assert_eq!(phrase, "R: first second third");
    for (length, cut) in [(1021, false), (1022, true), (100_000, true)] {
        let Readiness::InProgress(phrase) = readiness(&thing(&"é".repeat(length))) else { panic!() };
        assert_eq!((phrase.chars().count(), phrase.ends_with('…')), (1024, cut), "{length}");
    }
}

/// Words that mean something somewhere in a status or in a kind.
const WORDS: &str = "
    True False Ready Stalled Reconciling Available Progressing PodScheduled Unschedulable Complete
    Failed Suspended Established CrashLoopBackOff Running Pending OnDelete LoadBalancer v1 apps/v1
    Deployment Pod";

const KEYS: &str = "
    apiVersion kind metadata spec status generation observedGeneration deletionTimestamp conditions
    type reason message replicas readyReplicas updateStrategy partition phase containerStatuses name
    state waiting suspend";

fn word_of(words: &'static str) -> impl Strategy<Value = &'static str> + Clone {
    sample::select(words.split_whitespace().collect::<Vec<_>>())
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        word_of(WORDS).prop_map(Value::from),
    ];
    let key = prop_oneof![4 => word_of(KEYS).prop_map(str::to_owned), 1 => ".{0,4}"];
    leaf.prop_recursive(5, 64, 8, move |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            collection::btree_map(key.clone(), inner, 0..8).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

/// The JSON pointers of all values in an object.
fn pointers(value: &Value, prefix: &str, all: &mut Vec<String>) {
    all.push(prefix.to_owned());
    let list = value.as_array().into_iter().flatten().enumerate();
    for (index, item) in list {
        pointers(item, &format!("{prefix}/{index}"), all);
    }
    for (key, item) in value.as_object().into_iter().flatten() {
        pointers(item, &format!("{prefix}/{key}"), all);
    }
}

fn explains_itself(object: &Value) -> Result<(), TestCaseError> {
    if let Readiness::InProgress(phrase) | Readiness::Failed(phrase) = readiness(object) {
        prop_assert!(!phrase.is_empty() && phrase.chars().count() <= 1024, "phrase {phrase:?}");
        prop_assert!(!phrase.contains(['\n', '\r', '\t']), "phrase {phrase:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn any_json_has_an_answer(object in any_json()) {
        explains_itself(&object)?;
    }

    #[test]
    fn any_object_with_anything_anywhere_has_an_answer(
        vector in any::<sample::Index>(),
        places in collection::vec((any::<sample::Index>(), any_json()), 1..4),
    ) {
        let objects: Vec<&Value> = VECTORS.values().map(|(object, _)| object).collect();
        let mut object = (*vector.get(&objects)).clone();
        for (place, value) in places {
            let mut all = Vec::new();
            pointers(&object, "", &mut all);
            if let Some(target) = object.pointer_mut(place.get::<String>(&all)) {
                *target = value;
            }
        }
        explains_itself(&object)?;
    }

    #[test]
    fn an_object_that_is_being_deleted_is_never_ready(mut object in any_json(), time in ".{1,8}") {
        if let Some(fields) = object.as_object_mut() {
            fields.insert("metadata".to_owned(), json!({"deletionTimestamp": time}));
            prop_assert_eq!(readiness(&object), Readiness::Deleted);
        }
    }
}
