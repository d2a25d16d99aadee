//! Server-side apply: the API server computes what changes, and remembers which fields are ours.

use crds::ObjectId;
use futures::{StreamExt as _, stream};
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
    client::Body,
    core::{DynamicObject, Request, Status},
};
use serde_json::Value;
use thiserror::Error;

use crate::{
    error::{RequestError, bounded},
    kinds::{KindError, Kinds},
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
    /// It was not there before.
    pub is_new: bool,
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
        let Some(extent) = desired.takeover.filter(|_| !applied.is_new) else { return Ok(applied) };
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
                Ok(()) => return self.patch(api, object).await,
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
        let parameters =
            PatchParams { field_manager: Some(crds::FIELD_MANAGER.to_owned()), ..PatchParams::default() };
        bounded(api.patch_metadata(name(object), &parameters, &patch)).await?;
        Ok(())
    }

    async fn patch(&self, api: &Api<DynamicObject>, object: &Value) -> Result<Applied, ApplyProblem> {
        let parameters = PatchParams::apply(crds::FIELD_MANAGER).force();
        let mut tries = 0;
        loop {
            let request = Request::new(api.resource_url())
                .patch(name(object), &parameters, &Patch::Apply(object))
                .map_err(kube::Error::BuildRequest)
                .map_err(RequestError::from)?;
            tries += 1;
            match bounded(send(self.kinds.client(), request)).await {
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
async fn send(client: &Client, request: http::Request<Vec<u8>>) -> Result<Applied, kube::Error> {
    let response = client.send(request.map(Body::from)).await?;
    let status = response.status();
    let body = response.into_body().collect_bytes().await?;
    if status.is_success() {
        let object = serde_json::from_slice(&body).map_err(kube::Error::SerdeError)?;
        return Ok(Applied { object, is_new: status == http::StatusCode::CREATED });
    }
    let refusal = serde_json::from_slice::<Status>(&body).unwrap_or_else(|_| {
        let text = String::from_utf8_lossy(&body);
        Status::failure(&format!("{status}: {}", text.trim()), status.as_str()).with_code(status.as_u16())
    });
    Err(kube::Error::Api(Box::new(refusal)))
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
