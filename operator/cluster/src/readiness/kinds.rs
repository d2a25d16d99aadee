//! The rules of built-in kinds, and those that are a few lines.

use serde_json::Value;

use super::{Readiness, fields::Observed, pods, replicas};

/// Decides for objects of one kind whose generation is observed and which nothing general decides.
pub(super) type Rule = fn(&Observed<'_>) -> Readiness;

/// The rule of the object's kind, in any version of its group.
pub(super) fn rule(object: &Value) -> Option<Rule> {
    let kind = object.get("kind")?.as_str()?;
    let rule: Rule = match (group(object)?, kind) {
        ("apps" | "extensions", "Deployment") => replicas::deployment,
        ("apps" | "extensions", "ReplicaSet") => replicas::replica_set,
        ("apps" | "extensions", "DaemonSet") => replicas::daemon_set,
        ("apps", "StatefulSet") => replicas::stateful_set,
        ("batch", "Job") => pods::job,
        ("", "Pod") => pods::pod,
        ("", "PersistentVolumeClaim") => persistent_volume_claim,
        ("", "Service") => service,
        ("apiextensions.k8s.io", "CustomResourceDefinition") => custom_resource_definition,
        ("", "ConfigMap" | "Secret") | ("batch", "CronJob") | ("policy", "PodDisruptionBudget") => exists,
        _ => return None,
    };
    Some(rule)
}

/// The API group, empty for the core; none when the `apiVersion` has more parts than a group and a version.
fn group(object: &Value) -> Option<&str> {
    let api_version = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    match api_version.split_once('/') {
        None => Some(""),
        Some((_, version)) if version.contains('/') => None,
        Some((group, _)) => Some(group),
    }
}

/// Kinds that nothing has to happen to. Their conditions, where they have some, tell of something else.
fn exists(_: &Observed<'_>) -> Readiness {
    Readiness::Ready
}

fn persistent_volume_claim(claim: &Observed<'_>) -> Readiness {
    match claim.text("status.phase") {
        Some("Bound") => Readiness::Ready,
        phase => Readiness::InProgress(format!("Not bound, phase: {}", phase.unwrap_or("unknown"))),
    }
}

/// The address of the load balancer itself is not waited for: clusters without a provider never give one.
fn service(service: &Observed<'_>) -> Readiness {
    let has_address = service.text("spec.clusterIP").is_some_and(|address| !address.is_empty());
    if service.text("spec.type") == Some("LoadBalancer") && !has_address {
        return Readiness::InProgress("Load balancer without cluster IP".to_owned());
    }
    Readiness::Ready
}

fn custom_resource_definition(definition: &Observed<'_>) -> Readiness {
    let decided =
        definition.conditions().iter().find_map(|condition| match (condition.kind, condition.status) {
            ("NamesAccepted", "False") => Some(Readiness::Failed(condition.explain())),
            ("Established", "False") if condition.reason != "Installing" => {
                Some(Readiness::Failed(condition.explain()))
            }
            ("Established", "True") => Some(Readiness::Ready),
            _ => None,
        });
    decided.unwrap_or_else(|| Readiness::InProgress("Not established yet".to_owned()))
}
