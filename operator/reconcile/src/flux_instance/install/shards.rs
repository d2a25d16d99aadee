//! Warning of objects that no controller serves any more, before a shard goes.

use std::collections::BTreeMap;

use crds::{ObjectId, conditions, keys, status::InventoryEntry};
use kube::core::GroupVersionKind;
use manifests::{flux_instance::Build, objects::kind};
use operator_cluster::{events::Severity, explain, labelled::count_labelled, status::read};
use serde_json::Value;
use tracing::{debug, warn};

use crate::flux_instance::pass::Pass;

/// The flag that tells a controller of a shard which objects are its own.
const SELECTOR: &str = "--watch-label-selector=";

impl Pass<'_> {
    /// Tells, for every shard whose controllers are about to be deleted, how many objects still carry its label.
    pub(super) async fn warn_of_shards(&self, built: &Build, leaving: &[InventoryEntry]) {
        let kept: Vec<String> = built.objects.iter().filter_map(shard_label).collect();
        let mut labels: Vec<String> = Vec::new();
        for entry in leaving {
            let label = self.label_of(entry).await;
            labels.extend(label.filter(|label| !kept.contains(label) && !labels.contains(label)));
        }
        for label in labels {
            let counts = self.count_in_use(built, &label).await;
            if !counts.is_empty() {
                let message = describe(&label, &counts);
                warn!(reason = conditions::SHARD_IN_USE, "{message}");
                self.tell(Severity::Warning, conditions::SHARD_IN_USE, &message).await;
            }
        }
    }

    /// The label of the shard that a recorded Deployment serves; none when it serves no shard or is going already.
    async fn label_of(&self, entry: &InventoryEntry) -> Option<String> {
        let id = ObjectId::parse(entry).filter(|id| id.group == "apps" && id.kind == "Deployment")?;
        let unseen = |problem: &(dyn std::error::Error + 'static)| {
            debug!(error = explain(problem), "a Deployment that leaves could not be looked at");
        };
        let api =
            self.reconciler.kinds.api_of(&id, &entry.v).await.map_err(|problem| unseen(&problem)).ok()?;
        let found = read(&api, &id.name).await.map_err(|problem| unseen(&problem)).ok()??;
        if found.metadata.deletion_timestamp.is_some() {
            return None;
        }
        shard_label(&serde_json::to_value(found).ok()?)
    }

    /// How many objects of each kind of Flux have a label; kinds without any are left out.
    async fn count_in_use(&self, built: &Build, label: &str) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for kind in built.objects.iter().filter_map(defined) {
            match count_labelled(&self.reconciler.kinds, &kind, label).await {
                Ok(0) => {}
                Ok(count) => {
                    counts.insert(kind.kind, count);
                }
                Err(problem) => {
                    warn!(
                        error = explain(&problem),
                        label, "objects of a shard that goes could not be counted"
                    );
                }
            }
        }
        counts
    }
}

/// The kind that a definition defines, in the version that is stored.
fn defined(object: &Value) -> Option<GroupVersionKind> {
    if kind(object) != "CustomResourceDefinition" {
        return None;
    }
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
    let versions = object.pointer("/spec/versions")?.as_array()?;
    let is_stored = |version: &&Value| version.get("storage").and_then(Value::as_bool) == Some(true);
    let stored = versions.iter().find(is_stored)?.get("name")?.as_str()?;
    Some(GroupVersionKind::gvk(text("/spec/group")?, stored, text("/spec/names/kind")?))
}

/// The label, `key=name`, of the objects that a Deployment of a shard serves.
fn shard_label(object: &Value) -> Option<String> {
    let role = object.pointer("/metadata/annotations")?.get(keys::SHARDING_ROLE)?;
    if kind(object) != "Deployment" || role != "shard" {
        return None;
    }
    let containers = object.pointer("/spec/template/spec/containers")?.as_array()?;
    let arguments = containers.iter().filter_map(|container| container.get("args")?.as_array()).flatten();
    let mut labels = arguments.filter_map(|argument| argument.as_str()?.strip_prefix(SELECTOR));
    labels.next().map(str::to_owned)
}

fn describe(label: &str, counts: &BTreeMap<String, usize>) -> String {
    let total: usize = counts.values().sum();
    let verb = if total == 1 { "object still carries" } else { "objects still carry" };
    let kinds: Vec<String> = counts.iter().map(|(kind, count)| format!("{kind}: {count}")).collect();
    format!(
        "{total} {verb} the label {label} of a shard that is removed, and no controller serves them until it is changed ({})",
        kinds.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{defined, describe, shard_label};

    fn deployment(role: &str, argument: &str) -> Value {
        json!({
            "kind": "Deployment",
            "metadata": {"annotations": {"sharding.fluxcd.io/role": role}},
            "spec": {"template": {"spec": {"containers": [{"args": ["--log-level=info", argument]}]}}},
        })
    }

    #[test]
    fn the_label_is_that_of_the_controllers_flag() {
        let label = "--watch-label-selector=example.com/shard=a";
        assert_eq!(shard_label(&deployment("shard", label)).as_deref(), Some("example.com/shard=a"));
        assert_eq!(shard_label(&deployment("main", "--watch-label-selector=!example.com/shard")), None);
        assert_eq!(shard_label(&deployment("shard", "--other=a")), None);
        assert_eq!(shard_label(&json!({"kind": "Deployment"})), None);
    }

    #[test]
    fn a_kind_is_counted_in_its_stored_version() {
        let versions = json!([{"name": "v1beta2", "storage": false}, {"name": "v1", "storage": true}]);
        let definition = json!({
            "kind": "CustomResourceDefinition",
            "spec": {"group": "g", "names": {"kind": "K"}, "versions": versions},
        });
        let found = defined(&definition).map(|kind| (kind.group, kind.version, kind.kind));
        assert_eq!(found, Some(("g".to_owned(), "v1".to_owned(), "K".to_owned())));
        assert_eq!(defined(&json!({"kind": "Deployment"})), None);
    }

    #[test]
    fn counts_are_told_by_kind() {
        let one = [("GitRepository".to_owned(), 1)].into();
        assert_eq!(
            describe("k=a", &one),
            "1 object still carries the label k=a of a shard that is removed, and no controller serves them until it is changed (GitRepository: 1)"
        );
        let more = [("Kustomization".to_owned(), 3), ("GitRepository".to_owned(), 1)].into();
        assert!(describe("k=a", &more).starts_with("4 objects still carry the label k=a "));
        assert!(describe("k=a", &more).ends_with(" (GitRepository: 1, Kustomization: 3)"));
    }
}
