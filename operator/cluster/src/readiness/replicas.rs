//! Kinds that keep a number of pods: Deployments, StatefulSets, DaemonSets, ReplicaSets.
//!
//! The counters of a status are compared in the order in which a rollout fills them, so that the phrase names
//! the first step that is not done.

use super::{Readiness, fields::Observed};

/// What the Deployment controller takes as "no deadline": it then keeps no Progressing condition.
const NO_DEADLINE: i64 = i32::MAX as i64;

/// A counter by the name that people see, what it shows and what it must reach.
type Counter = (&'static str, i64, i64);

pub(super) fn deployment(deployment: &Observed<'_>) -> Readiness {
    let mut conditions = deployment.conditions().iter();
    let exceeded = |reason: &str| reason == "ProgressDeadlineExceeded";
    if let Some(failure) =
        conditions.find(|condition| condition.kind == "Progressing" && exceeded(condition.reason))
    {
        return Readiness::Failed(failure.explain());
    }
    let wanted = wanted_replicas(deployment);
    let replicas = deployment.count("status.replicas");
    let updated = deployment.count("status.updatedReplicas");
    let available = deployment.count("status.availableReplicas");
    let ready = deployment.count("status.readyReplicas");
    ready_unless(
        first_short(&[("Replicas", replicas, wanted), ("Updated", updated, wanted)])
            .or_else(|| surplus(replicas, wanted))
            .or_else(|| first_short(&[("Available", available, updated), ("Ready", ready, wanted)]))
            .map(|unmet| with_creation_failure(deployment, unmet))
            .or_else(|| unfinished_rollout(deployment)),
    )
}

/// What the conditions still wait for when all counters are right.
fn unfinished_rollout(deployment: &Observed<'_>) -> Option<String> {
    let has_deadline =
        deployment.integer("spec.progressDeadlineSeconds").is_some_and(|limit| limit != NO_DEADLINE);
    let is_complete = deployment.conditions().iter().any(|condition| {
        (condition.kind, condition.status, condition.reason)
            == ("Progressing", "True", "NewReplicaSetAvailable")
    });
    if has_deadline && !is_complete {
        return Some("New ReplicaSet not available".to_owned());
    }
    if deployment.condition("Available", "True").is_none() {
        return Some("Deployment not available".to_owned());
    }
    None
}

pub(super) fn replica_set(set: &Observed<'_>) -> Readiness {
    if let Some(failure) = set.condition("ReplicaFailure", "True") {
        return Readiness::InProgress(failure.explain());
    }
    let wanted = wanted_replicas(set);
    ready_unless(
        first_short(&[
            ("Labelled", set.count("status.fullyLabeledReplicas"), wanted),
            ("Available", set.count("status.availableReplicas"), wanted),
            ("Ready", set.count("status.readyReplicas"), wanted),
        ])
        .or_else(|| surplus(set.count("status.replicas"), wanted)),
    )
}

pub(super) fn stateful_set(set: &Observed<'_>) -> Readiness {
    // The user deletes the pods, so there is no rollout to wait for.
    if set.text("spec.updateStrategy.type") == Some("OnDelete") {
        return Readiness::Ready;
    }
    let wanted = wanted_replicas(set);
    let replicas = set.count("status.replicas");
    let ready = set.count("status.readyReplicas");
    ready_unless(
        first_short(&[("Replicas", replicas, wanted), ("Ready", ready, wanted)])
            .or_else(|| surplus(replicas, wanted))
            .or_else(|| unfinished_revision(set, wanted)),
    )
}

/// With a partition only the pods above it are updated; -1 stands for none, as it does in kstatus.
fn unfinished_revision(set: &Observed<'_>, wanted: i64) -> Option<String> {
    let partition = set.integer("spec.updateStrategy.rollingUpdate.partition");
    if let Some(partition) = partition.filter(|partition| *partition != -1) {
        return first_short(&[(
            "Updated",
            set.count("status.updatedReplicas"),
            wanted.wrapping_sub(partition),
        )]);
    }
    let current = set.text("status.currentRevision").unwrap_or_default();
    let update = set.text("status.updateRevision").unwrap_or_default();
    let differs = || (current != update).then(|| format!("Revision: {current}, latest: {update}"));
    first_short(&[("Current", set.count("status.currentReplicas"), wanted)]).or_else(differs)
}

/// A DaemonSet has no wanted number in its spec, so nothing is known before its controller has seen it.
pub(super) fn daemon_set(set: &Observed<'_>) -> Readiness {
    for path in ["metadata.generation", "status.observedGeneration", "status.desiredNumberScheduled"] {
        if set.value(path).is_none() {
            return Readiness::InProgress(format!("Not observed yet: {path} is not set"));
        }
    }
    let Some(wanted) = set.integer("status.desiredNumberScheduled").filter(|wanted| *wanted != -1) else {
        return Readiness::InProgress(
            "Not observed yet: status.desiredNumberScheduled is no count".to_owned(),
        );
    };
    ready_unless(first_short(&[
        ("Current", set.count("status.currentNumberScheduled"), wanted),
        ("Updated", set.count("status.updatedNumberScheduled"), wanted),
        ("Available", set.count("status.numberAvailable"), wanted),
        ("Ready", set.count("status.numberReady"), wanted),
    ]))
}

/// The API server fills in 1, so that does not matter to live objects.
fn wanted_replicas(object: &Observed<'_>) -> i64 {
    object.integer("spec.replicas").unwrap_or(1)
}

fn ready_unless(unmet: Option<String>) -> Readiness {
    unmet.map_or(Readiness::Ready, Readiness::InProgress)
}

fn first_short(counters: &[Counter]) -> Option<String> {
    let short = counters.iter().find(|(_, shown, wanted)| shown < wanted);
    short.map(|(name, shown, wanted)| format!("{name}: {shown}/{wanted}"))
}

fn surplus(replicas: i64, wanted: i64) -> Option<String> {
    (replicas > wanted).then(|| format!("Pending termination: {}", replicas.abs_diff(wanted)))
}

/// Pods that are missing because they were refused (a quota, a policy) do not come by waiting.
fn with_creation_failure(deployment: &Observed<'_>, unmet: String) -> String {
    match deployment.condition("ReplicaFailure", "True") {
        Some(failure) => format!("{unmet}, {}", failure.explain()),
        None => unmet,
    }
}
