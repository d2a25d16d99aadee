//! Waiting until objects are ready, by watching them.

use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use kube::{
    core::{DynamicObject, TypeMeta},
    runtime::{WatchStreamExt as _, watcher::watch_object},
};
use serde_json::Value;
use thiserror::Error;
use tokio::time::{Instant, timeout_at};

use crate::{
    apply::display,
    error::explain,
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
    let outcomes: Vec<Option<String>> =
        stream::iter(waits).buffer_unordered(WATCHES).try_collect().await?;
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
    let name = display(object);
    let api = kinds
        .api(object)
        .await
        .map_err(|source| WaitError::Watch { object: name.clone(), source })?;
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
