//! Server-side apply: the API server computes what changes, and remembers which fields are ours.

use std::time::{Duration, Instant};

use crds::ObjectId;
use futures::{StreamExt as _, stream};
use k8s_openapi::jiff::{Timestamp, fmt::rfc2822};
use kube::{
    Api, Client,
    api::Patch,
    client::Body,
    core::{DynamicObject, Request, Status},
};
use serde_json::Value;
use thiserror::Error;

use crate::{
    error::{RequestError, repeated},
    kinds::{KindError, Kinds},
    managed_fields::{self, is_ours},
    takeover::{self, FormerManagers, Takeover},
};

/// How many objects are applied at once. More does not go faster: the API server's store is the limit.
const IN_FLIGHT: usize = 8;

/// How often a write is tried again that lost against another one.
const CONFLICT_RETRIES: usize = 5;

/// An object to apply.
#[derive(Clone, Copy, Debug)]
pub struct Desired<'a> {
    /// The object.
    pub object: &'a Value,
    /// Take it over from former managers, when it turns out that it was there before.
    pub takeover: Option<Takeover>,
}

/// An object that was applied.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The object as the cluster has it now.
    pub object: Value,
    /// What became of it.
    pub change: Change,
}

/// What an apply did to its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was not there before.
    Created,
    /// It was there, and a field or the owner of a field was changed.
    Configured,
    /// It was as it should be.
    Unchanged,
}

/// An object that could not be applied.
#[derive(Debug, Error)]
#[error("failed to apply {object}")]
pub struct ApplyError {
    /// The object.
    pub object: ObjectId,
    /// What stood in the way.
    pub source: ApplyProblem,
}

/// What stands in the way of an apply.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum ApplyProblem {
    #[error(transparent)]
    Kind(#[from] KindError),
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error("{0}; the field cannot be changed: delete the object, or leave the field as it is")]
    Immutable(RequestError),
    #[error("it was changed by others again and again while it was taken over")]
    Contended,
}

/// Applies objects under one field manager.
#[derive(Clone, Copy)]
pub struct Applier<'a> {
    /// Where to find the APIs.
    pub kinds: &'a Kinds,
    /// Whose fields are taken over.
    pub former: &'a FormerManagers,
}

impl Applier<'_> {
    /// Applies objects, several at a time and in any order.
    ///
    /// Fields that the objects name become ours, whoever had them before; all others stay as they are, but
    /// for those of former managers in objects that are taken over.
    ///
    /// The outcomes come in the order given, one for each object: one that is refused does not stop the
    /// others.
    pub async fn apply(&self, objects: &[Desired<'_>]) -> Vec<Result<Applied, ApplyError>> {
        let applies = objects.iter().map(|desired| async move {
            let applied = self.apply_one(*desired).await;
            applied.map_err(|source| ApplyError { object: ObjectId::of(desired.object), source })
        });
        stream::iter(applies).buffered(IN_FLIGHT).collect().await
    }

    async fn apply_one(&self, desired: Desired<'_>) -> Result<Applied, ApplyProblem> {
        let api = self.kinds.api(desired.object).await?;
        let applied = self.patch(&api, desired.object).await?;
        let Some(extent) = desired.takeover.filter(|_| applied.change != Change::Created) else {
            return Ok(applied);
        };
        self.take_over(&api, desired.object, applied, extent).await
    }

    async fn take_over(
        &self,
        api: &Api<DynamicObject>,
        object: &Value,
        mut applied: Applied,
        extent: Takeover,
    ) -> Result<Applied, ApplyProblem> {
        for _ in 0..CONFLICT_RETRIES {
            let Some(operations) = takeover::plan(&applied.object, crds::FIELD_MANAGER, self.former, extent)
            else {
                return Ok(applied);
            };
            match self.merge_managers(api, object, operations).await {
                // What only the former managers named goes with the next apply.
                Ok(()) => {
                    let taken = self.patch(api, object).await?;
                    return Ok(Applied { change: Change::Configured, ..taken });
                }
                Err(RequestError::Refused(status)) if status.code == 409 => {}
                Err(error) => return Err(error.into()),
            }
            applied = self.patch(api, object).await?;
        }
        Err(ApplyProblem::Contended)
    }

    async fn merge_managers(
        &self,
        api: &Api<DynamicObject>,
        object: &Value,
        operations: Vec<Value>,
    ) -> Result<(), RequestError> {
        let patch: Patch<()> = Patch::Json(serde_json::from_value(Value::Array(operations)).map_err(broken)?);
        let parameters = managed_fields::change();
        repeated(|| api.patch_metadata(name(object), &parameters, &patch)).await?;
        Ok(())
    }

    async fn patch(&self, api: &Api<DynamicObject>, object: &Value) -> Result<Applied, ApplyProblem> {
        let parameters = managed_fields::apply();
        let patch = Patch::Apply(object);
        let (url, began) = (api.resource_url(), Instant::now());
        let attempt = || async {
            let request = Request::new(url).patch(name(object), &parameters, &patch);
            let request = request.map_err(kube::Error::BuildRequest)?;
            send(self.kinds.client(), request, began).await
        };
        let mut tries = 0;
        loop {
            tries += 1;
            match repeated(attempt).await {
                Ok(applied) => return Ok(applied),
                Err(error) if is_immutable(&error) => return Err(ApplyProblem::Immutable(error)),
                // Another write came first.
                Err(error) if error.code() == Some(409) && tries < CONFLICT_RETRIES => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Sends an apply. The status code of the answer tells whether the object is new.
///
/// What was changed since `began` was changed by this apply, or by an earlier try whose answer was lost.
async fn send(
    client: &Client,
    request: http::Request<Vec<u8>>,
    began: Instant,
) -> Result<Applied, kube::Error> {
    let response = client.send(request.map(Body::from)).await?;
    let (status, answered) = (response.status(), date(response.headers()));
    let body = response.into_body().collect_bytes().await?;
    if status.is_success() {
        let object = serde_json::from_slice(&body).map_err(kube::Error::SerdeError)?;
        let change = if status == http::StatusCode::CREATED {
            Change::Created
        } else if is_written(&object, answered.unwrap_or_else(Timestamp::now), began.elapsed()) {
            Change::Configured
        } else {
            Change::Unchanged
        };
        return Ok(Applied { object, change });
    }
    let refusal = serde_json::from_slice::<Status>(&body).unwrap_or_else(|_| {
        let text = String::from_utf8_lossy(&body);
        Status::failure(&format!("{status}: {}", text.trim()), status.as_str()).with_code(status.as_u16())
    });
    Err(kube::Error::Api(Box::new(refusal)))
}

/// The time of an answer by the clock of the API server, in whole seconds.
fn date(headers: &http::HeaderMap) -> Option<Timestamp> {
    let text = headers.get(http::header::DATE)?.to_str().ok()?;
    rfc2822::parse(text).ok().map(|date| date.timestamp())
}

/// Whether an apply that was answered at a time and took so long changed its object: the API server notes the
/// time of our last apply that changed something, in whole seconds.
fn is_written(object: &Value, answered: Timestamp, took: Duration) -> bool {
    let entries = object.pointer("/metadata/managedFields").and_then(Value::as_array);
    let ours = entries.and_then(|entries| entries.iter().find(|entry| is_ours(entry, crds::FIELD_MANAGER)));
    let changed = ours.and_then(|entry| entry["time"].as_str()?.parse::<Timestamp>().ok());
    changed.is_some_and(|changed| {
        let age = answered.as_second().saturating_sub(changed.as_second());
        u64::try_from(age).is_ok_and(|age| age <= took.as_secs().saturating_add(1)) || age < 0
    })
}

fn is_immutable(error: &RequestError) -> bool {
    let RequestError::Refused(status) = error else { return false };
    matches!(status.code, 409 | 422) && status.message.contains("immutable")
}

fn broken(error: serde_json::Error) -> RequestError {
    RequestError::from(kube::Error::SerdeError(error))
}

fn name(object: &Value) -> &str {
    object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::{HeaderMap, HeaderValue, header::DATE};
    use k8s_openapi::jiff::Timestamp;
    use serde_json::json;

    use super::{date, is_written};

    fn is_written_at(changed: &str, took: Duration) -> bool {
        let entry =
            |manager: &str, time: &str| json!({"manager": manager, "operation": "Apply", "time": time});
        let entries = [entry("other", "2026-01-01T12:00:05Z"), entry("flux-operator", changed)];
        let object = json!({"metadata": {"managedFields": entries}});
        is_written(&object, "2026-01-01T12:00:05Z".parse::<Timestamp>().unwrap(), took)
    }

    #[test]
    fn an_object_is_written_when_our_entry_is_as_young_as_the_request() {
        let short = Duration::from_millis(20);
        assert!(is_written_at("2026-01-01T12:00:05Z", short));
        assert!(is_written_at("2026-01-01T12:00:04Z", short));
        assert!(!is_written_at("2026-01-01T12:00:03Z", short));
        assert!(is_written_at("2026-01-01T12:00:03Z", Duration::from_millis(1_020)));
        assert!(!is_written_at("2025-01-01T12:00:05Z", short));
        assert!(!is_written(&json!({}), Timestamp::UNIX_EPOCH, short));
    }

    #[test]
    fn the_time_of_an_answer_is_read() {
        let mut headers = HeaderMap::new();
        assert_eq!(date(&headers), None);
        headers.insert(DATE, HeaderValue::from_static("Thu, 01 Jan 2026 12:00:05 GMT"));
        assert_eq!(date(&headers), Some("2026-01-01T12:00:05Z".parse().unwrap()));
    }
}
