//! The order in which objects are applied, and its stages. Deletion runs the other way round.

use std::cmp::Ordering;

use serde_json::Value;

use crate::objects::{kind, name, namespace, split_api_version};

/// What everything else may need comes first, in this order.
const FIRST: [&str; 23] = [
    "CustomResourceDefinition",
    "Namespace",
    "ClusterRole",
    "ClusterClass",
    "RuntimeClass",
    "PriorityClass",
    "StorageClass",
    "VolumeSnapshotClass",
    "IngressClass",
    "GatewayClass",
    "ClusterRoleBinding",
    "ResourceQuota",
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "ConfigMap",
    "Secret",
    "Service",
    "LimitRange",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];

/// What can refuse everything else comes last, in this order.
const LAST: [&str; 2] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

/// A group of objects that must be there before those of the next group are applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// CustomResourceDefinitions, Namespaces and ClusterRoles: without them the API server refuses the rest.
    Definitions,
    /// Kinds whose name ends in `Class`: others refer to them by name.
    Classes,
    /// Everything else.
    Rest,
}

impl Stage {
    /// All stages, in order.
    pub const ALL: [Self; 3] = [Self::Definitions, Self::Classes, Self::Rest];

    /// The stage that objects of this kind are applied in.
    #[must_use]
    pub fn of(kind: &str) -> Self {
        match kind {
            "CustomResourceDefinition" | "Namespace" | "ClusterRole" => Self::Definitions,
            _ if kind.ends_with("Class") => Self::Classes,
            _ => Self::Rest,
        }
    }
}

/// Sorts objects into the order in which they are applied. Equal kinds are ordered by namespace and name, so
/// that the same objects always give the same list.
pub fn sort(objects: &mut [Value]) {
    objects.sort_by(compare);
}

fn compare(left: &Value, right: &Value) -> Ordering {
    rank(kind(left))
        .cmp(&rank(kind(right)))
        .then_with(|| group(left).cmp(group(right)))
        .then_with(|| kind(left).cmp(kind(right)))
        .then_with(|| namespace(left).cmp(&namespace(right)))
        .then_with(|| name(left).cmp(name(right)))
}

fn group(object: &Value) -> &str {
    split_api_version(object).0
}

fn rank(kind: &str) -> usize {
    let unlisted = FIRST.len();
    let first = FIRST.iter().position(|listed| *listed == kind);
    let last = || LAST.iter().position(|listed| *listed == kind).map(|position| unlisted + 1 + position);
    first.or_else(last).unwrap_or(unlisted)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Stage, sort};

    fn object(api_version: &str, kind: &str, namespace: &str, name: &str) -> Value {
        json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace}})
    }

    fn sorted(mut objects: Vec<Value>) -> Vec<String> {
        sort(&mut objects);
        objects
            .iter()
            .map(|object| {
                let (kind, metadata) = (&object["kind"], &object["metadata"]);
                format!("{kind} {} {}", metadata["namespace"], metadata["name"]).replace('"', "")
            })
            .collect()
    }

    #[test]
    fn needed_kinds_come_first_and_webhooks_last() {
        let kinds = [
            ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"),
            ("apps/v1", "Deployment"),
            ("v1", "Secret"),
            ("v1", "Namespace"),
            ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"),
            ("source.toolkit.fluxcd.io/v1", "GitRepository"),
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
            ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
            ("rbac.authorization.k8s.io/v1", "ClusterRole"),
        ];
        let objects = kinds.map(|(api_version, kind)| object(api_version, kind, "", "x")).to_vec();
        assert_eq!(
            sorted(objects),
            [
                "CustomResourceDefinition  x",
                "Namespace  x",
                "ClusterRole  x",
                "ClusterRoleBinding  x",
                "Secret  x",
                "Deployment  x",
                "GitRepository  x",
                "MutatingWebhookConfiguration  x",
                "ValidatingWebhookConfiguration  x",
            ]
        );
    }

    #[test]
    fn unlisted_kinds_go_by_group_kind_namespace_and_name() {
        let objects = vec![
            object("source.toolkit.fluxcd.io/v1", "GitRepository", "a", "a"),
            object("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "b", "a"),
            object("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "a", "b"),
            object("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "a", "a"),
            object("v1", "PersistentVolumeClaim", "a", "a"),
            object("networking.k8s.io/v1", "NetworkPolicy", "a", "a"),
        ];
        assert_eq!(
            sorted(objects),
            [
                "PersistentVolumeClaim a a",
                "Kustomization a a",
                "Kustomization a b",
                "Kustomization b a",
                "NetworkPolicy a a",
                "GitRepository a a",
            ]
        );
    }

    #[test]
    fn kinds_have_a_stage() {
        assert_eq!(Stage::of("CustomResourceDefinition"), Stage::Definitions);
        assert_eq!(Stage::of("Namespace"), Stage::Definitions);
        assert_eq!(Stage::of("ClusterRole"), Stage::Definitions);
        assert_eq!(Stage::of("StorageClass"), Stage::Classes);
        assert_eq!(Stage::of("ClusterRoleBinding"), Stage::Rest);
        assert_eq!(Stage::of("Deployment"), Stage::Rest);
    }
}
