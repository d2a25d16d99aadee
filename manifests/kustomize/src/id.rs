//! What an object is called: group, version, kind, name and namespace.

use std::fmt;

use serde_json::Value;

use crate::scope_table::CLUSTER_SCOPED;

/// Stands for the namespace of kinds that have none; targets may name it, as in kustomize.
pub(crate) const NO_NAMESPACE: &str = "_non_namespaceable_";

/// Where an object without a namespace lands.
pub(crate) const DEFAULT_NAMESPACE: &str = "default";

/// Group, version, kind, name and namespace of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Id {
    /// API group; empty for the core group.
    pub group: String,
    /// API version within the group, for example `v1`.
    pub version: String,
    /// Kind, for example `Deployment`.
    pub kind: String,
    /// `metadata.name`.
    pub name: String,
    /// `metadata.namespace`; empty when the object names none.
    pub namespace: String,
}

impl Id {
    /// The id that `object` carries now; a missing field is an empty string.
    #[must_use]
    pub fn of(object: &Value) -> Self {
        let (group, version) = group_and_version(text(object.get("apiVersion")));
        let metadata = object.get("metadata");
        let in_metadata = |field: &str| text(metadata.and_then(|metadata| metadata.get(field))).to_owned();
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: text(object.get("kind")).to_owned(),
            name: in_metadata("name"),
            namespace: in_metadata("namespace"),
        }
    }

    /// `apiVersion` as it stands in an object.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// True for built-in kinds that are in no namespace; a custom kind counts as one that is.
    #[must_use]
    pub fn is_cluster_scoped(&self) -> bool {
        let api_version = self.api_version();
        let wanted = (api_version.as_str(), self.kind.as_str());
        CLUSTER_SCOPED.binary_search_by(|kind| (*kind).cmp(&wanted)).is_ok()
    }

    /// The namespace that counts in comparisons: never empty.
    pub(crate) fn effective_namespace(&self) -> &str {
        if self.is_cluster_scoped() {
            NO_NAMESPACE
        } else if self.namespace.is_empty() {
            DEFAULT_NAMESPACE
        } else {
            &self.namespace
        }
    }

    /// True when both name the same object.
    pub(crate) fn is_same_object(&self, other: &Self) -> bool {
        self.name == other.name
            && self.kind == other.kind
            && self.group == other.group
            && self.version == other.version
            && self.effective_namespace() == other.effective_namespace()
    }
}

impl fmt::Display for Id {
    /// `Deployment/flux-system/source-controller`, without the namespace where there is none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() || self.namespace == NO_NAMESPACE {
            write!(f, "{}/{}", self.kind, self.name)
        } else {
            write!(f, "{}/{}/{}", self.kind, self.namespace, self.name)
        }
    }
}

/// Splits `apps/v1` into group and version.
pub(crate) fn group_and_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

/// The text of a string field; anything else reads as empty.
pub(crate) fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_sorted_for_the_search() {
        assert!(CLUSTER_SCOPED.is_sorted_by(|a, b| a < b));
    }
}
