//! Waits for objects, built on watches.

use std::fmt;
use std::time::Duration;

use futures::StreamExt as _;
use kube::runtime::watcher;
use kube::{Api, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{with_causes, write_with_causes};

/// Before a watch that failed is tried again: the definition may be new, or the API server away.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// A condition that did not come true in time.
///
/// `Debug` prints the same sentence as `Display`: it is what `unwrap` shows.
#[derive(thiserror::Error)]
#[error("{object} was not as expected within {} s; {last}", within.as_secs_f32())]
pub struct WaitError {
    /// The object's path in the API.
    pub object: String,
    /// The deadline.
    pub within: Duration,
    /// What was seen last: that there is no object, its conditions, or the error of the watch.
    pub last: String,
}

impl fmt::Debug for WaitError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_with_causes(self, formatter)
    }
}

/// Waits until an object exists and is as expected, and gives it.
///
/// # Errors
/// [`WaitError`] with the conditions that the object had at the end.
pub async fn wait_for<K>(
    api: &Api<K>,
    name: &str,
    expected: impl Fn(&K) -> bool,
    within: Duration,
) -> Result<K, WaitError>
where
    K: Resource + Clone + fmt::Debug + Send + Serialize + DeserializeOwned + 'static,
{
    wait(api, name, |object| object.filter(|object| expected(object)).cloned(), within).await
}

/// Waits until some object is as expected, and gives it.
///
/// # Errors
/// [`WaitError`] with how many objects there were.
pub async fn wait_for_any<K>(
    api: &Api<K>,
    expected: impl Fn(&K) -> bool,
    within: Duration,
) -> Result<K, WaitError>
where
    K: Resource + Clone + fmt::Debug + Send + Serialize + DeserializeOwned + 'static,
{
    let mut seen = 0_usize;
    let mut events = std::pin::pin!(watcher(api.clone(), watcher::Config::default()));
    let follow = async {
        loop {
            match events.next().await {
                Some(Ok(watcher::Event::Apply(object) | watcher::Event::InitApply(object))) => {
                    seen += 1;
                    if expected(&object) {
                        return object;
                    }
                }
                Some(Ok(_)) => {}
                Some(Err(_)) => tokio::time::sleep(RETRY_INTERVAL).await,
                None => std::future::pending().await,
            }
        }
    };
    let found = tokio::time::timeout(within, follow).await;
    found.map_err(|_| WaitError {
        object: api.resource_url().to_owned(),
        within,
        last: format!("{seen} objects were seen, none as expected"),
    })
}

/// Waits until an object is gone.
///
/// # Errors
/// [`WaitError`] with the conditions that the object had at the end.
pub async fn wait_until_gone<K>(api: &Api<K>, name: &str, within: Duration) -> Result<(), WaitError>
where
    K: Resource + Clone + fmt::Debug + Send + Serialize + DeserializeOwned + 'static,
{
    wait(api, name, |object| object.is_none().then_some(()), within).await
}

/// Whether a condition of an object has a status, such as `Ready` and `True`.
///
/// ```
/// let ready = e2e::has_condition("Ready", "True");
/// let object = serde_json::json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
/// assert!(ready(&object));
/// ```
pub fn has_condition<K: Serialize>(condition: &str, status: &str) -> impl Fn(&K) -> bool {
    move |object| conditions(object).iter().any(|one| one["type"] == condition && one["status"] == status)
}

/// Follows an object until something can be made of it; nothing stands for an absent one.
async fn wait<K, T>(
    api: &Api<K>,
    name: &str,
    decide: impl Fn(Option<&K>) -> Option<T>,
    within: Duration,
) -> Result<T, WaitError>
where
    K: Resource + Clone + fmt::Debug + Send + Serialize + DeserializeOwned + 'static,
{
    let mut last = "nothing was seen".to_owned();
    let mut events = std::pin::pin!(watcher::watch_object(api.clone(), name));
    let follow = async {
        loop {
            match events.next().await {
                Some(Ok(object)) => match decide(object.as_ref()) {
                    Some(outcome) => return outcome,
                    None => last = describe(object.as_ref()),
                },
                Some(Err(error)) => {
                    last = format!("the last watch failed: {}", with_causes(&error));
                    tokio::time::sleep(RETRY_INTERVAL).await;
                }
                None => std::future::pending().await,
            }
        }
    };
    let outcome = tokio::time::timeout(within, follow).await;
    outcome.map_err(|_| WaitError { object: format!("{}/{name}", api.resource_url()), within, last })
}

fn describe<K: Resource + Serialize>(object: Option<&K>) -> String {
    let Some(object) = object else { return "there is no such object".to_owned() };
    let meta = object.meta();
    let mut lines = vec![format!("it has generation {}", meta.generation.unwrap_or_default())];
    if meta.deletion_timestamp.is_some() {
        let finalizers = meta.finalizers.clone().unwrap_or_default();
        lines.push(format!("being deleted, finalizers: {}", finalizers.join(", ")));
    }
    let conditions = conditions(object);
    if conditions.is_empty() {
        lines.push("no conditions".to_owned());
    }
    lines.extend(conditions.iter().map(|one| {
        let field = |name: &str| one[name].as_str().unwrap_or_default();
        format!("{}={} {}: {}", field("type"), field("status"), field("reason"), field("message"))
    }));
    lines.join("\n  ")
}

fn conditions<K: Serialize>(object: &K) -> Vec<Value> {
    let value = serde_json::to_value(object).unwrap_or_default();
    value["status"]["conditions"].as_array().cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::api::DynamicObject;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_is_described_by_what_explains_a_wait() {
        let object: DynamicObject = serde_json::from_value(json!({
            "metadata": {
                "name": "flux", "generation": 4,
                "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["one", "two"],
            },
            "status": {"conditions": [
                {"type": "Ready", "status": "False", "reason": "Denied", "message": "no rights"},
            ]},
        }))
        .unwrap();
        assert_eq!(
            describe(Some(&object)),
            "it has generation 4\n  being deleted, finalizers: one, two\n  Ready=False Denied: no rights"
        );
        assert_eq!(describe(Some(&ConfigMap::default())), "it has generation 0\n  no conditions");
    }
}
