//! What an object is called, in a cluster and in an inventory.

use std::fmt;

use serde_json::Value;

use crate::status::InventoryEntry;

/// Kinds whose names may hold a colon, which an inventory writes as two underscores.
const COLON_KINDS: [&str; 4] = ["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"];

/// Group, kind, namespace and name: two objects with the same ones are one object. The version says how it is
/// spoken of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId {
    /// API group; empty for the core.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl ObjectId {
    /// The id of an object in its JSON form; what the object lacks is empty.
    #[must_use]
    pub fn of(object: &Value) -> Self {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let group = text("/apiVersion").split_once('/').map_or("", |(group, _)| group);
        Self {
            group: group.to_owned(),
            kind: text("/kind").to_owned(),
            namespace: text("/metadata/namespace").to_owned(),
            name: text("/metadata/name").to_owned(),
        }
    }

    /// The id of an entry; none when the entry is not one.
    #[must_use]
    pub fn parse(entry: &InventoryEntry) -> Option<Self> {
        let (namespace, rest) = entry.id.split_once('_')?;
        let (rest, kind) = rest.rsplit_once('_')?;
        let (name, group) = rest.rsplit_once('_')?;
        let name = if is_colon_kind(group, kind) { name.replace("__", ":") } else { name.to_owned() };
        Some(Self { group: group.to_owned(), kind: kind.to_owned(), namespace: namespace.to_owned(), name })
    }

    /// The id as an inventory holds it: `<namespace>_<name>_<group>_<kind>`.
    #[must_use]
    pub fn entry_id(&self) -> String {
        let Self { group, kind, namespace, name } = self;
        let name = if is_colon_kind(group, kind) { name.replace(':', "__") } else { name.clone() };
        format!("{namespace}_{name}_{group}_{kind}")
    }
}

/// As people name it: `Kind/namespace/name`, or `Kind/name` without a namespace.
impl fmt::Display for ObjectId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, namespace, name, .. } = self;
        if namespace.is_empty() {
            return write!(formatter, "{kind}/{name}");
        }
        write!(formatter, "{kind}/{namespace}/{name}")
    }
}

fn is_colon_kind(group: &str, kind: &str) -> bool {
    group == "rbac.authorization.k8s.io" && COLON_KINDS.contains(&kind)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ObjectId;
    use crate::status::InventoryEntry;

    fn id(group: &str, kind: &str, namespace: &str, name: &str) -> ObjectId {
        let [group, kind, namespace, name] = [group, kind, namespace, name].map(str::to_owned);
        ObjectId { group, kind, namespace, name }
    }

    #[test]
    fn ids_are_written_and_read_as_inventories_hold_them() {
        for (id, text) in [
            (id("apps", "Deployment", "ns", "app"), "ns_app_apps_Deployment"),
            (id("", "Namespace", "", "x"), "_x__Namespace"),
            (
                id("rbac.authorization.k8s.io", "ClusterRole", "", "a:b"),
                "_a__b_rbac.authorization.k8s.io_ClusterRole",
            ),
            (id("", "ConfigMap", "ns", "a.b-c"), "ns_a.b-c__ConfigMap"),
        ] {
            assert_eq!(id.entry_id(), text);
            let entry = InventoryEntry { id: text.to_owned(), v: "v1".to_owned(), uid: None };
            assert_eq!(ObjectId::parse(&entry), Some(id));
        }
    }

    #[test]
    fn what_is_no_id_is_none() {
        for text in ["", "a", "a_b", "a_b_c"] {
            let entry = InventoryEntry { id: text.to_owned(), v: String::new(), uid: None };
            assert_eq!(ObjectId::parse(&entry), None, "{text}");
        }
    }

    #[test]
    fn objects_are_named_as_people_name_them() {
        let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x", "namespace": "y"}});
        assert_eq!(ObjectId::of(&deployment), id("apps", "Deployment", "y", "x"));
        assert_eq!(ObjectId::of(&deployment).to_string(), "Deployment/y/x");
        assert_eq!(id("", "Namespace", "", "x").to_string(), "Namespace/x");
    }
}
