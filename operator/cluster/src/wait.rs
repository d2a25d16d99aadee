//! Waiting until objects are ready, by watching them.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crds::ObjectId;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use kube::{
    Api,
    core::{DynamicObject, TypeMeta},
    runtime::{WatchStreamExt as _, watcher::watch_object},
};
use serde_json::Value;
use thiserror::Error;
use tokio::time::{Instant, timeout_at};

use crate::{
    error::{RequestError, repeated},
    kinds::{KindError, Kinds},
    readiness::{Readiness, readiness},
};

/// How many objects are watched at once, each on a connection of its own. The others wait their turn, and are
/// looked at once when it does not come before the deadline.
pub(crate) const WATCHES: usize = 64;

/// When a wait ends.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    limit: Duration,
    at: Instant,
}

impl Deadline {
    /// So long from now.
    #[must_use]
    pub fn after(limit: Duration) -> Self {
        Self { limit, at: Instant::now() + limit }
    }
}

/// The objects that a wait still waits for, and what each of them waits for: for those who tell of it meanwhile.
#[derive(Debug, Default)]
pub struct Pending(Mutex<BTreeMap<ObjectId, String>>);

impl Pending {
    /// The first objects in one phrase, and how many there are besides; none when there are none.
    #[must_use]
    pub fn describe(&self, most: usize) -> Option<String> {
        let pending = self.lock();
        let named: Vec<String> =
            pending.iter().take(most).map(|(id, what)| format!("{id}: {what}")).collect();
        let more = pending.len().saturating_sub(named.len());
        let named = (!named.is_empty()).then(|| named.join("; "))?;
        Some(if more == 0 { named } else { format!("{named}; and {more} more") })
    }

    pub(crate) fn set(&self, id: &ObjectId, state: &Readiness) {
        let mut pending = self.lock();
        if *state == Readiness::Ready {
            pending.remove(id);
        } else {
            pending.insert(id.clone(), describe(state));
        }
    }

    fn all(&self) -> Vec<String> {
        self.lock().iter().map(|(id, what)| format!("{id}: {what}")).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ObjectId, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Objects that did not become ready in time.
#[derive(Debug, Error)]
#[error("not ready after {} s: {}", timeout.as_secs(), pending.join("; "))]
pub struct NotReady {
    /// How long was waited.
    pub timeout: Duration,
    /// Each object and what it waits for, sorted.
    pub pending: Vec<String>,
}

/// Why the wait ended early.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum WaitError {
    #[error(transparent)]
    NotReady(#[from] NotReady),
    #[error("failed to watch {object}")]
    Watch { object: String, source: KindError },
}

/// Waits until all objects are ready. They are given as last seen, so that those which are ready already
/// cost nothing.
///
/// # Errors
/// When some are not ready at the deadline: all of them are named, with what each waits for.
pub async fn until_ready(
    kinds: &Kinds,
    objects: &[Value],
    deadline: Deadline,
    pending: &Pending,
) -> Result<(), WaitError> {
    let is_unready = |(object, state): &(&Value, Readiness)| {
        pending.set(&ObjectId::of(object), state);
        *state != Readiness::Ready
    };
    let unready: Vec<&Value> = objects
        .iter()
        .map(|object| (object, readiness(object)))
        .filter(is_unready)
        .map(|(object, _)| object)
        .collect();
    let waits = unready.into_iter().map(|object| watch_until_ready(kinds, object, deadline, pending));
    stream::iter(waits).buffer_unordered(WATCHES).try_collect::<()>().await?;
    let left = pending.all();
    if left.is_empty() { Ok(()) } else { Err(NotReady { timeout: deadline.limit, pending: left }.into()) }
}

/// Ends when the object is ready, or at the deadline. What it waits for is told all the time.
async fn watch_until_ready(
    kinds: &Kinds,
    object: &Value,
    deadline: Deadline,
    pending: &Pending,
) -> Result<(), WaitError> {
    let id = ObjectId::of(object);
    let failed = |source| WaitError::Watch { object: id.to_string(), source };
    let api = kinds.api(object).await.map_err(failed)?;
    if Instant::now() >= deadline.at {
        look(&api, object, pending).await;
        return Ok(());
    }
    let mut states = Box::pin(watch_object(api, &id.name).default_backoff());
    while let Ok(Some(state)) = timeout_at(deadline.at, states.next()).await {
        let state = match state {
            Ok(Some(seen)) => judge(seen, object),
            Ok(None) => Readiness::Deleted,
            Err(error) => Readiness::InProgress(format!("cannot be watched: {}", RequestError::from(error))),
        };
        pending.set(&id, &state);
        if state == Readiness::Ready {
            break;
        }
    }
    Ok(())
}

/// Looks once at an object that was never watched. One that cannot be seen stays as it was last seen.
async fn look(api: &Api<DynamicObject>, object: &Value, pending: &Pending) {
    let id = ObjectId::of(object);
    if let Ok(seen) = repeated(|| api.get_opt(&id.name)).await {
        pending.set(&id, &seen.map_or(Readiness::Deleted, |seen| judge(seen, object)));
    }
}

/// Readiness of an object that came out of a watch. Items of a list do not say what kind they are, so that
/// is taken from the object that was waited for.
fn judge(mut seen: DynamicObject, waited_for: &Value) -> Readiness {
    let text = |key: &str| waited_for.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    seen.types = Some(TypeMeta { api_version: text("apiVersion"), kind: text("kind") });
    match serde_json::to_value(seen) {
        Ok(seen) => readiness(&seen),
        Err(error) => Readiness::InProgress(format!("cannot be read: {error}")),
    }
}

/// An object of ours that did not become ready.
#[derive(Debug, Error)]
pub enum ReadinessError {
    /// Nothing but a change of the object can help.
    #[error("is stalled: {reason}: {message}")]
    Stalled {
        /// Reason of its Ready condition.
        reason: String,
        /// Message of its Ready condition.
        message: String,
    },
    /// The time is up.
    #[error("is not ready after {} s: {last}", limit.as_secs_f32())]
    TimedOut {
        /// How long was waited.
        limit: Duration,
        /// What was seen last.
        last: String,
    },
}

/// Waits until an object of ours is ready as of its latest generation, also one that does not exist yet, and
/// gives the message of its Ready condition.
///
/// # Errors
/// When it is stalled, or the time is up.
pub async fn until_reconciled(
    api: &Api<DynamicObject>,
    name: &str,
    limit: Duration,
) -> Result<String, ReadinessError> {
    let deadline = Instant::now() + limit;
    let mut last = "it was not seen".to_owned();
    let mut states = Box::pin(watch_object(api.clone(), name).default_backoff());
    while let Ok(Some(state)) = timeout_at(deadline, states.next()).await {
        match state {
            Ok(Some(object)) => match verdict(&object) {
                Verdict::Ready(message) => return Ok(message),
                Verdict::Stalled { reason, message } => {
                    return Err(ReadinessError::Stalled { reason, message });
                }
                Verdict::Waiting(what) => last = what,
            },
            Ok(None) => "it does not exist".clone_into(&mut last),
            Err(error) => last = RequestError::from(error).to_string(),
        }
    }
    Err(ReadinessError::TimedOut { limit, last })
}

enum Verdict {
    Ready(String),
    Stalled { reason: String, message: String },
    Waiting(String),
}

/// What the conditions say of the latest generation.
fn verdict(object: &DynamicObject) -> Verdict {
    let conditions = object.data.pointer("/status/conditions").and_then(Value::as_array);
    let find = |type_: &str| {
        conditions.into_iter().flatten().find(|condition| {
            condition["type"] == type_
                && condition.get("observedGeneration").and_then(Value::as_i64) == object.metadata.generation
        })
    };
    let text = |condition: &Value, key: &str| condition[key].as_str().unwrap_or_default().to_owned();
    let Some(ready) = find("Ready") else { return Verdict::Waiting("it has not been reconciled".to_owned()) };
    let (reason, message) = (text(ready, "reason"), text(ready, "message"));
    if ready["status"] == "True" {
        return Verdict::Ready(message);
    }
    if find("Stalled").is_some_and(|stalled| stalled["status"] == "True") {
        return Verdict::Stalled { reason, message };
    }
    Verdict::Waiting(format!("{reason}: {message}"))
}

fn describe(state: &Readiness) -> String {
    match state {
        Readiness::Ready => "ready".to_owned(),
        Readiness::InProgress(what) => what.clone(),
        Readiness::Failed(why) => format!("failed: {why}"),
        Readiness::Deleted => "it is being deleted".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use kube::core::DynamicObject;
    use serde_json::json;

    use super::{Pending, judge};
    use crate::readiness::Readiness;

    #[test]
    fn what_is_waited_for_is_named_and_the_rest_is_counted() {
        let pending = Pending::default();
        assert_eq!(pending.describe(2), None);
        let id = |name: &str| {
            let object = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}});
            crds::ObjectId::of(&object)
        };
        let waits = Readiness::InProgress("it starts".to_owned());
        for name in ["c", "a", "b"] {
            pending.set(&id(name), &waits);
        }
        assert_eq!(pending.describe(2).unwrap(), "Pod/a: it starts; Pod/b: it starts; and 1 more");
        pending.set(&id("a"), &Readiness::Ready);
        assert_eq!(pending.describe(2).unwrap(), "Pod/b: it starts; Pod/c: it starts");
        assert_eq!(pending.all(), ["Pod/b: it starts", "Pod/c: it starts"]);
    }

    #[test]
    fn an_item_of_a_list_is_judged_by_the_kind_that_was_asked_for() {
        let item: DynamicObject = serde_json::from_value(json!({"metadata": {"name": "a"}})).unwrap();
        let waited_for = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}});
        assert!(matches!(judge(item.clone(), &waited_for), Readiness::InProgress(_)));
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}});
        assert_eq!(judge(item, &account), Readiness::Ready);
    }
}
