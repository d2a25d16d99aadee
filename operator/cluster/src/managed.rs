//! Watching what was applied, so that drift is repaired when it happens.
//!
//! Only metadata is watched. The API server records in `managedFields` which fields are ours: when somebody
//! changes or removes one of them, it stops being ours. So an object is as we left it exactly when our entry
//! holds the fields that it held after our last apply; status, and fields that others add, do not matter.

mod watches;

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crds::ObjectId;
use kube::core::GroupVersionKind;
use serde_json::Value;
use tokio::sync::Notify;

use crate::managed_fields::is_ours;
pub use watches::Watches;

/// The objects of one owner, and whether they are as they were applied.
#[derive(Clone, Default)]
pub struct Managed {
    state: Arc<Mutex<State>>,
    drift: Arc<Notify>,
    left: Arc<Notify>,
}

#[derive(Default)]
struct State {
    /// What our entry held after the last apply.
    applied: HashMap<ObjectId, u64>,
    /// What our entry holds, as last seen.
    seen: HashMap<ObjectId, Seen>,
    /// The objects that are being deleted.
    leaving: HashSet<ObjectId>,
}

/// One state of an object.
#[derive(Clone, Copy)]
struct Seen {
    /// What our entry holds.
    fields: u64,
    /// Versions of one object are numbers that grow; 0 when it is none.
    version: u64,
}

/// The versions in which objects were last seen, at some time.
#[derive(Clone, Debug, Default)]
pub struct Versions(HashMap<ObjectId, u64>);

impl Versions {
    /// Whether an object has the very version that it had then.
    #[must_use]
    pub fn hold(&self, live: &Value) -> bool {
        let version = version_of(live);
        version != 0 && self.0.get(&ObjectId::of(live)) == Some(&version)
    }
}

impl Managed {
    /// Records an object as it came out of an apply.
    pub fn note_applied(&self, live: &Value) {
        let id = ObjectId::of(live);
        let fields = fields_of(live.pointer("/metadata/managedFields").and_then(Value::as_array));
        let mut state = self.lock();
        state.applied.insert(id.clone(), fields);
        let is_overtaken = !state.see(id, Seen { fields, version: version_of(live) });
        drop(state);
        if is_overtaken {
            // A watch showed a later state before the answer came.
            self.drift.notify_one();
        }
    }

    /// The versions in which objects were last seen.
    #[must_use]
    pub fn versions(&self) -> Versions {
        Versions(self.lock().seen.iter().map(|(id, seen)| (id.clone(), seen.version)).collect())
    }

    /// Forgets an object that is to be deleted; that it goes is no drift, and is told.
    pub fn note_leaving(&self, id: &ObjectId) {
        let mut state = self.lock();
        state.applied.remove(id);
        state.leaving.insert(id.clone());
    }

    /// Forgets an object that is left as somebody else applied it: it is not known to be as we applied it, and that
    /// is no drift.
    pub fn note_left_alone(&self, id: &ObjectId) {
        self.lock().applied.remove(id);
    }

    /// Whether an object is not known to be as it was last applied.
    #[must_use]
    pub fn has_drifted(&self, id: &ObjectId) -> bool {
        let state = self.lock();
        match (state.applied.get(id), state.seen.get(id)) {
            (Some(applied), Some(seen)) => *applied != seen.fields,
            _ => true,
        }
    }

    /// The objects that were applied and are not as they were then.
    #[must_use]
    pub fn drifted(&self) -> Vec<ObjectId> {
        let state = self.lock();
        let has_drifted =
            |id: &ObjectId, applied: &u64| state.seen.get(id).is_none_or(|seen| seen.fields != *applied);
        state
            .applied
            .iter()
            .filter(|(id, applied)| has_drifted(id, applied))
            .map(|(id, _)| id.clone())
            .collect()
    }

    /// Whether an object that was applied is known to be gone.
    #[must_use]
    pub fn is_gone(&self, id: &ObjectId) -> bool {
        let state = self.lock();
        state.applied.contains_key(id) && !state.seen.contains_key(id)
    }

    /// Ends when an object drifts.
    pub async fn changed(&self) {
        self.drift.notified().await;
    }

    /// Ends when an object that was to be deleted is gone.
    pub async fn left(&self) {
        self.left.notified().await;
    }

    /// Forgets everything, so that the next pass applies everything.
    pub fn forget(&self) {
        *self.lock() = State::default();
    }

    fn see(&self, id: ObjectId, seen: Seen) {
        let mut state = self.lock();
        let has_drifted = state.applied.get(&id).is_some_and(|applied| *applied != seen.fields);
        let is_news = state.see(id, seen);
        drop(state);
        if has_drifted && is_news {
            self.drift.notify_one();
        }
    }

    fn see_gone(&self, id: &ObjectId) {
        let mut state = self.lock();
        state.seen.remove(id);
        let (has_drifted, has_left) = (state.applied.contains_key(id), state.leaving.remove(id));
        drop(state);
        if has_drifted {
            self.drift.notify_one();
        }
        if has_left {
            self.left.notify_one();
        }
    }

    /// Whatever a complete list of a kind does not hold is gone.
    fn see_all(&self, kind: &GroupVersionKind, present: &HashSet<ObjectId>) {
        let is_missing =
            |id: &&ObjectId| id.group == kind.group && id.kind == kind.kind && !present.contains(*id);
        let state = self.lock();
        let missing: Vec<ObjectId> = state.seen.keys().filter(is_missing).cloned().collect();
        drop(state);
        for id in &missing {
            self.see_gone(id);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes note of a state, unless a later one is known; says whether it did.
    fn see(&mut self, id: ObjectId, seen: Seen) -> bool {
        if self.seen.get(&id).is_some_and(|known| known.version > seen.version) {
            return false;
        }
        self.seen.insert(id, seen);
        true
    }
}

/// A fingerprint of the fields that are ours.
fn fields_of(entries: Option<&Vec<Value>>) -> u64 {
    let ours = entries.and_then(|entries| entries.iter().find(|entry| is_ours(entry, crds::FIELD_MANAGER)));
    fingerprint(ours.and_then(|entry| entry.get("fieldsV1")))
}

fn version_of(live: &Value) -> u64 {
    number(live.pointer("/metadata/resourceVersion").and_then(Value::as_str))
}

fn number(version: Option<&str>) -> u64 {
    version.and_then(|version| version.parse().ok()).unwrap_or_default()
}

fn fingerprint(fields: Option<&Value>) -> u64 {
    let mut hash = DefaultHasher::new();
    // Maps are sorted, so that equal fields have one text.
    fields.map(Value::to_string).hash(&mut hash);
    hash.finish()
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, time::Duration};

    use crds::ObjectId;
    use kube::core::GroupVersionKind;
    use serde_json::{Value, json};
    use tokio::time::timeout;

    use super::{Managed, Seen, fields_of};

    fn object(fields: &Value) -> Value {
        let entry = |manager: &str, fields: &Value| json!({"manager": manager, "operation": "Apply", "fieldsV1": fields});
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "n", "managedFields": [
            entry("somebody", &json!({"f:spec": {}})),
            entry("flux-operator", fields)
        ]}})
    }

    fn seen(managed: &Managed, live: &Value) {
        let fields = fields_of(live["metadata"]["managedFields"].as_array());
        managed.see(ObjectId::of(live), Seen { fields, version: 0 });
    }

    async fn is_told(managed: &Managed) -> bool {
        timeout(Duration::ZERO, managed.changed()).await.is_ok()
    }

    #[tokio::test]
    async fn an_object_that_was_never_applied_counts_as_drifted() {
        let managed = Managed::default();
        let live = object(&json!({"f:spec": {"f:replicas": {}}}));
        assert!(managed.has_drifted(&ObjectId::of(&live)));
        managed.note_applied(&live);
        assert!(!managed.has_drifted(&ObjectId::of(&live)));
    }

    #[tokio::test]
    async fn a_field_that_somebody_takes_is_drift() {
        let managed = Managed::default();
        let live = object(&json!({"f:spec": {"f:replicas": {}, "f:template": {}}}));
        managed.note_applied(&live);
        seen(&managed, &live);
        assert!(!is_told(&managed).await);
        seen(&managed, &object(&json!({"f:spec": {"f:template": {}}})));
        assert!(is_told(&managed).await);
        assert!(managed.has_drifted(&ObjectId::of(&live)));
        managed.note_applied(&live);
        assert!(!managed.has_drifted(&ObjectId::of(&live)));
    }

    #[tokio::test]
    async fn a_later_state_is_not_overwritten_by_an_earlier_one() {
        let managed = Managed::default();
        let at = |version: &str, fields: &Value| {
            let mut live = object(fields);
            live["metadata"]["resourceVersion"] = json!(version);
            live
        };
        let ours = at("5", &json!({"f:spec": {"f:replicas": {}}}));
        let fields = fields_of(object(&json!({}))["metadata"]["managedFields"].as_array());
        managed.see(ObjectId::of(&ours), Seen { fields, version: 6 });
        managed.note_applied(&ours);
        assert!(is_told(&managed).await);
        assert!(managed.has_drifted(&ObjectId::of(&ours)));
    }

    #[test]
    fn versions_are_those_of_the_time_when_they_were_asked_for() {
        let managed = Managed::default();
        let at = |version: &str| {
            let mut live = object(&json!({}));
            live["metadata"]["resourceVersion"] = json!(version);
            live
        };
        assert!(!managed.versions().hold(&at("5")));
        managed.note_applied(&at("5"));
        let versions = managed.versions();
        managed.note_applied(&at("6"));
        assert!(versions.hold(&at("5")) && !versions.hold(&at("6")));
        assert!(managed.versions().hold(&at("6")));
        managed.note_applied(&object(&json!({})));
        assert!(!managed.versions().hold(&object(&json!({}))), "without a version nothing is known");
    }

    #[tokio::test]
    async fn an_object_that_is_deleted_is_drift() {
        let managed = Managed::default();
        let live = object(&json!({}));
        managed.note_applied(&live);
        managed.see_gone(&ObjectId::of(&live));
        assert!(is_told(&managed).await);
        assert!(managed.has_drifted(&ObjectId::of(&live)));
        assert!(managed.is_gone(&ObjectId::of(&live)));
    }

    #[tokio::test]
    async fn an_object_that_a_new_list_lacks_is_gone() {
        let managed = Managed::default();
        let live = object(&json!({}));
        managed.note_applied(&live);
        let kind = GroupVersionKind::gvk("apps", "v1", "Deployment");
        managed.see_all(&kind, &HashSet::from([ObjectId::of(&live)]));
        assert!(!is_told(&managed).await);
        managed.see_all(&GroupVersionKind::gvk("", "v1", "Service"), &HashSet::new());
        assert!(!is_told(&managed).await);
        managed.see_all(&kind, &HashSet::new());
        assert!(is_told(&managed).await);
    }

    #[tokio::test]
    async fn the_end_of_an_object_that_was_to_go_is_told_and_no_drift() {
        let managed = Managed::default();
        let live = object(&json!({}));
        managed.note_applied(&live);
        managed.note_leaving(&ObjectId::of(&live));
        seen(&managed, &object(&json!({"f:spec": {}})));
        assert!(!is_told(&managed).await);
        managed.see_gone(&ObjectId::of(&live));
        assert!(!is_told(&managed).await);
        assert!(timeout(Duration::ZERO, managed.left()).await.is_ok());
    }

    #[tokio::test]
    async fn what_has_drifted_is_named() {
        let managed = Managed::default();
        let named = |name: &str, fields: &Value| {
            let mut live = object(fields);
            live["metadata"]["name"] = json!(name);
            live
        };
        let ours = json!({"f:spec": {}});
        for name in ["changed", "gone", "same"] {
            managed.note_applied(&named(name, &ours));
        }
        assert_eq!(managed.drifted(), []);
        seen(&managed, &named("changed", &json!({})));
        seen(&managed, &named("foreign", &json!({})));
        managed.see_gone(&ObjectId::of(&named("gone", &ours)));
        let mut drifted: Vec<String> = managed.drifted().into_iter().map(|id| id.name).collect();
        drifted.sort();
        assert_eq!(drifted, ["changed", "gone"]);
        managed.note_left_alone(&ObjectId::of(&named("changed", &ours)));
        assert_eq!(managed.drifted().len(), 1);
        assert!(managed.has_drifted(&ObjectId::of(&named("changed", &ours))));
    }
}
