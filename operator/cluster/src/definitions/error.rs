use crds::ObjectId;
use thiserror::Error;

use super::SERVED_TIMEOUT;
use crate::{apply::ApplyError, error::RequestError, kinds::KindError};

/// Why a definition or its objects could not be brought to new versions. What was done stays done: a new try
/// goes on from there.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum DefinitionError {
    #[error("failed to look up the kind CustomResourceDefinition")]
    Kind(#[from] KindError),
    #[error("failed to read CustomResourceDefinition {definition}")]
    Read { definition: String, source: RequestError },
    #[error(
        "failed to keep {} in CustomResourceDefinition {definition} until its objects are rewritten to {version}",
        dropped.join(", ")
    )]
    Bridge { definition: String, dropped: Vec<String>, version: String, source: ApplyError },
    #[error(
        "CustomResourceDefinition {definition} does not serve {version} after {} s: see its conditions",
        SERVED_TIMEOUT.as_secs()
    )]
    NotServed { definition: String, version: String },
    #[error("failed to list the objects of CustomResourceDefinition {definition} in {version}")]
    List { definition: String, version: String, source: RequestError },
    #[error(
        "failed to rewrite {object} to {version}, and CustomResourceDefinition {definition} keeps its old versions until that works: allow the write, or delete the object"
    )]
    Rewrite { definition: String, object: ObjectId, version: String, source: RequestError },
    #[error(
        "failed to rewrite {object} to {version}, because others changed it again and again: find out who writes it without end"
    )]
    Restless { object: ObjectId, version: String },
    #[error(
        "failed to record in CustomResourceDefinition {definition} that all its objects are stored in {version}"
    )]
    Record { definition: String, version: String, source: RequestError },
    #[error(
        "CustomResourceDefinition {definition} was changed by others again and again while its objects were rewritten: find out who applies it besides this operator"
    )]
    Contended { definition: String },
}
