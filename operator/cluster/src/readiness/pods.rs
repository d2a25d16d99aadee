//! Kinds that run to an end: Pods and Jobs.

use serde_json::Value;

use super::{Readiness, fields::Observed};

/// A Pod that has ended is as ready as it gets, whatever its outcome: the owner of the Pod judges that.
pub(super) fn pod(pod: &Observed<'_>) -> Readiness {
    match pod.text("status.phase").unwrap_or_default() {
        "Succeeded" | "Failed" => Readiness::Ready,
        "Running" => running(pod),
        "Pending" => pending(pod),
        "" => Readiness::InProgress("Not observed yet: status.phase is not set".to_owned()),
        phase => Readiness::InProgress(format!("Phase: {phase}")),
    }
}

fn running(pod: &Observed<'_>) -> Readiness {
    if pod.condition("Ready", "True").is_some() {
        return Readiness::Ready;
    }
    let is_loop = |(_, reason): &(&str, &str)| *reason == "CrashLoopBackOff";
    let looping: Vec<&str> = waiting_containers(pod).filter(is_loop).map(|(name, _)| name).collect();
    if looping.is_empty() {
        return Readiness::InProgress("Running, not ready".to_owned());
    }
    Readiness::Failed(format!("Crash loop: {}", looping.join(", ")))
}

fn pending(pod: &Observed<'_>) -> Readiness {
    let scheduled = pod.condition("PodScheduled", "False");
    if let Some(refusal) = scheduled.filter(|condition| condition.reason == "Unschedulable") {
        return Readiness::InProgress(refusal.explain());
    }
    let waiting: Vec<String> = waiting_containers(pod).map(|(name, why)| format!("{name} {why}")).collect();
    if waiting.is_empty() {
        return Readiness::InProgress("Phase: Pending".to_owned());
    }
    Readiness::InProgress(format!("Phase: Pending, {}", waiting.join(", ")))
}

/// The containers that wait for something, by name, with the reason.
fn waiting_containers<'a>(pod: &Observed<'a>) -> impl Iterator<Item = (&'a str, &'a str)> {
    let statuses = pod.value("status.containerStatuses").and_then(Value::as_array);
    statuses.into_iter().flatten().filter_map(|status| {
        let reason = status.pointer("/state/waiting/reason")?.as_str()?;
        Some((status.get("name")?.as_str()?, reason))
    })
}

/// A Job is suspended when its spec says so. The condition counts only where the spec is silent: it lags behind
/// when a Job is resumed.
pub(super) fn job(job: &Observed<'_>) -> Readiness {
    let asked = job.value("spec.suspend").and_then(Value::as_bool);
    if asked == Some(true) {
        return Readiness::Ready;
    }
    let ended = job.conditions().iter().find_map(|condition| match (condition.kind, condition.status) {
        ("Complete", "True") => Some(Readiness::Ready),
        ("Failed", "True") => Some(Readiness::Failed(condition.explain())),
        _ => None,
    });
    ended.unwrap_or_else(|| match (asked, job.condition("Suspended", "True")) {
        (None, Some(_)) => Readiness::Ready,
        _ => unfinished(job),
    })
}

fn unfinished(job: &Observed<'_>) -> Readiness {
    if job.text("status.startTime").unwrap_or_default().is_empty() {
        return Readiness::InProgress("Not started".to_owned());
    }
    let parallelism = job.integer("spec.parallelism").unwrap_or(1);
    let completions = job.integer("spec.completions").unwrap_or(parallelism);
    let succeeded = job.count("status.succeeded");
    let active = job.count("status.active");
    let failed = job.count("status.failed");
    Readiness::InProgress(format!("Succeeded: {succeeded}/{completions}, active: {active}, failed: {failed}"))
}
