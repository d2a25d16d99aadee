//! Waiting until objects are ready, by watching them.

use std::{collections::BTreeSet, time::Duration};

use crds::{ObjectId, status::InventoryEntry};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, Client, ResourceExt as _,
    core::{DynamicObject, PartialObjectMeta, TypeMeta},
    runtime::{
        WatchStreamExt as _,
        watcher::{self, Event, watch_object, watcher},
    },
};
use serde_json::Value;
use thiserror::Error;
use tokio::time::{Instant, timeout_at};

use crate::{
    error::{RequestError, explain},
    kinds::{KindError, Kinds},
    readiness::{Readiness, readiness},
};

/// How many objects are watched at once; the others wait their turn, and most are ready by then.
const WATCHES: usize = 16;

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
/// When some are not ready after the timeout: all of them are named, with what each waits for.
pub async fn until_ready(kinds: &Kinds, objects: &[Value], limit: Duration) -> Result<(), WaitError> {
    let deadline = Instant::now() + limit;
    let waiting = objects.iter().filter(|object| readiness(object) != Readiness::Ready);
    let waits = waiting.map(|object| async move { watch_until_ready(kinds, object, deadline).await });
    let outcomes: Vec<Option<String>> = stream::iter(waits).buffer_unordered(WATCHES).try_collect().await?;
    let mut pending: Vec<String> = outcomes.into_iter().flatten().collect();
    if pending.is_empty() {
        return Ok(());
    }
    pending.sort();
    Err(NotReady { timeout: limit, pending }.into())
}

/// What the object waits for at the deadline; none when it became ready.
async fn watch_until_ready(
    kinds: &Kinds,
    object: &Value,
    deadline: Instant,
) -> Result<Option<String>, WaitError> {
    let name = ObjectId::of(object).to_string();
    let api = kinds.api(object).await.map_err(|source| WaitError::Watch { object: name.clone(), source })?;
    let object_name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    let mut last = describe(&readiness(object));
    let mut states = Box::pin(watch_object(api, object_name).default_backoff());
    while let Ok(Some(state)) = timeout_at(deadline, states.next()).await {
        let seen = match state {
            Ok(Some(seen)) => judge(seen, object),
            Ok(None) => Readiness::Deleted,
            Err(error) => {
                last = format!("cannot be watched: {}", explain(&error));
                continue;
            }
        };
        if seen == Readiness::Ready {
            return Ok(None);
        }
        last = describe(&seen);
    }
    Ok(Some(format!("{name}: {last}")))
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
            Err(error) => last = explain(&error),
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

/// Waits until objects are gone. Gives those that are still there at the deadline.
///
/// # Errors
/// When the kind of an object cannot be looked up.
pub async fn until_gone(
    kinds: &Kinds,
    entries: &[InventoryEntry],
    limit: Duration,
) -> Result<Vec<ObjectId>, KindError> {
    let deadline = Instant::now() + limit;
    let waits = entries.iter().map(|entry| async move { watch_until_gone(kinds, entry, deadline).await });
    let left: Vec<Option<ObjectId>> = stream::iter(waits).buffer_unordered(WATCHES).try_collect().await?;
    Ok(left.into_iter().flatten().collect())
}

async fn watch_until_gone(
    kinds: &Kinds,
    entry: &InventoryEntry,
    deadline: Instant,
) -> Result<Option<ObjectId>, KindError> {
    let Some(id) = ObjectId::parse(entry) else { return Ok(None) };
    let api = match kinds.api_of(&id, &entry.v).await {
        Ok(api) => api,
        Err(KindError::Unknown { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut states = Box::pin(watch_object(api, &id.name).default_backoff());
    while let Ok(Some(state)) = timeout_at(deadline, states.next()).await {
        match state {
            Ok(None) => return Ok(None),
            // Another object of that name is not the one that was waited for.
            Ok(Some(object)) if entry.uid.is_some() && object.metadata.uid != entry.uid => return Ok(None),
            Ok(Some(_)) | Err(_) => {}
        }
    }
    Ok(Some(id))
}

/// Waits until no pod of a namespace has these labels. Gives the names of those that are left at the deadline.
///
/// # Errors
/// When pods cannot be watched.
pub async fn until_no_pods(
    client: &Client,
    namespace: &str,
    selector: &str,
    limit: Duration,
) -> Result<Vec<String>, RequestError> {
    let deadline = Instant::now() + limit;
    let pods: Api<PartialObjectMeta<Pod>> = Api::namespaced(client.clone(), namespace);
    let mut events = Box::pin(watcher(pods, watcher::Config::default().labels(selector)).default_backoff());
    let mut present = BTreeSet::new();
    // Nothing is known before the first list, and again while a new one is made.
    let mut is_listed = false;
    let mut failure = None;
    while let Ok(Some(event)) = timeout_at(deadline, events.next()).await {
        failure = None;
        match event {
            Ok(Event::Init) => {
                present.clear();
                is_listed = false;
            }
            Ok(Event::InitApply(pod) | Event::Apply(pod)) => {
                present.insert(pod.name_any());
            }
            Ok(Event::Delete(pod)) => {
                present.remove(&pod.name_any());
            }
            Ok(Event::InitDone) => is_listed = true,
            Err(error) => failure = Some(explain(&error)),
        }
        if is_listed && failure.is_none() && present.is_empty() {
            return Ok(Vec::new());
        }
    }
    if failure.is_none() && !is_listed {
        failure = Some("the API server did not list the pods".to_owned());
    }
    match failure {
        Some(problem) => Err(RequestError::Unwatchable(problem)),
        None => Ok(present.into_iter().collect()),
    }
}

fn describe(state: &Readiness) -> String {
    match state {
        Readiness::Ready => "ready".to_owned(),
        Readiness::InProgress(what) => what.clone(),
        Readiness::Failed(why) => format!("failed: {why}"),
        Readiness::Deleted => "deleted".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use kube::core::DynamicObject;
    use serde_json::json;

    use super::judge;
    use crate::readiness::Readiness;

    #[test]
    fn an_item_of_a_list_is_judged_by_the_kind_that_was_asked_for() {
        let item: DynamicObject = serde_json::from_value(json!({"metadata": {"name": "a"}})).unwrap();
        let waited_for = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}});
        assert!(matches!(judge(item.clone(), &waited_for), Readiness::InProgress(_)));
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}});
        assert_eq!(judge(item, &account), Readiness::Ready);
    }
}
