//! Patches: which text, for which objects, and what came of it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::limits::{MAX_OBJECT_BYTES, MAX_PATCHES};
use crate::merge::MergeError;
use crate::operation::OperationError;
use crate::patch_text::PatchTextError;
use crate::target::{Target, TargetError};

/// A patch as users write it.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    /// A strategic merge patch (one or more objects), or a list of JSON 6902 operations, as YAML or JSON.
    pub patch: String,
    /// Which objects it is for. A strategic merge patch without target is for the object that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
}

/// Which patch of a list is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchPosition {
    /// Place in the list, from 1.
    pub number: usize,
    /// Its target.
    pub target: Option<Box<Target>>,
}

/// A patch that had no effect, or less than it seems.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchWarning {
    /// Which patch.
    pub position: PatchPosition,
    /// What happened.
    pub finding: PatchFinding,
}

/// What is odd about a patch that applied without error.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatchFinding {
    /// No object matches the target.
    MatchesNothing,
    /// The objects were as the patch wants them before.
    ChangesNothing {
        /// The objects that matched.
        objects: Vec<Id>,
    },
    /// The text has only comments or an empty list in it.
    Empty,
    /// Documents after the list of JSON 6902 operations, which have no effect.
    IgnoredDocuments {
        /// How many.
        documents: usize,
    },
}

/// A patch that cannot be applied.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{position}: {cause}")]
pub struct PatchError {
    /// Which patch.
    pub position: PatchPosition,
    /// What is wrong with it.
    pub cause: Box<PatchFailure>,
}

/// What is wrong with a patch.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchFailure {
    /// More patches than allowed.
    #[error("there are {patches} patches, and at most {MAX_PATCHES} are allowed")]
    TooManyPatches {
        /// How many.
        patches: usize,
    },
    /// The text is not a patch.
    #[error(transparent)]
    Text(#[from] PatchTextError),
    /// The target cannot be used.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A JSON 6902 patch that does not say for which objects it is.
    #[error("a JSON 6902 patch needs a target; add one, for example `kind: Deployment`")]
    NoTarget,
    /// Several documents for one target.
    #[error(
        "the patch has {documents} documents, and a target takes one; make each a patch, or drop the target"
    )]
    SeveralDocuments {
        /// How many.
        documents: usize,
    },
    /// No object with the id that a strategic merge patch names.
    #[error("there is no {id} (apiVersion {}) to patch; correct the name, or add a target", .id.api_version())]
    NoObject {
        /// The id in the patch.
        id: Box<Id>,
    },
    /// Several objects were called so at some time.
    #[error("{objects} objects are or were called {id}; add a target that matches one")]
    SeveralObjects {
        /// The id in the patch.
        id: Box<Id>,
        /// How many.
        objects: usize,
    },
    /// A strategic merge patch does not fit an object.
    #[error("{object}: {source}")]
    Merge {
        /// Which object.
        object: Box<Id>,
        /// What does not fit.
        source: MergeError,
    },
    /// An operation does not apply to an object.
    #[error("operation {number}: {operation} in {object}: {source}")]
    Operation {
        /// Place of the operation in the patch, from 1.
        number: usize,
        /// The operation, without its value.
        operation: String,
        /// Which object.
        object: Box<Id>,
        /// What is wrong.
        source: OperationError,
    },
    /// The patch took away what an object needs.
    #[error("{object} has no text in `{field}` after the patch; to delete the object use `$patch: delete`")]
    IdentityLost {
        /// Which object.
        object: Box<Id>,
        /// The field that is missing now.
        field: &'static str,
    },
    /// The patch gave an object the id of another one.
    #[error("{object} becomes {id}, which is there already")]
    Duplicate {
        /// Which object.
        object: Box<Id>,
        /// What it would be called.
        id: Box<Id>,
    },
    /// The patch made an object too large.
    #[error("{object} would have {bytes} bytes, and at most {MAX_OBJECT_BYTES} are allowed")]
    TooLarge {
        /// Which object.
        object: Box<Id>,
        /// Its size with the patch.
        bytes: usize,
    },
}

impl fmt::Debug for Patch {
    /// Without the text, which may hold a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format_args!("{} bytes", self.patch.len());
        f.debug_struct("Patch").field("patch", &text).field("target", &self.target).finish()
    }
}

impl fmt::Display for PatchPosition {
    /// `patches[2] (target kind=Deployment)`: the index counts from 0, as the field path does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "patches[{}] (", self.number.saturating_sub(1))?;
        match &self.target {
            Some(target) => write!(f, "target {target})"),
            None => f.write_str("no target)"),
        }
    }
}

impl fmt::Display for PatchWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.position)?;
        match &self.finding {
            PatchFinding::MatchesNothing => f.write_str("the target matches no object"),
            PatchFinding::ChangesNothing { objects } => {
                let objects: Vec<String> = objects.iter().map(Id::to_string).collect();
                write!(f, "the patch changes nothing in {}", objects.join(", "))
            }
            PatchFinding::Empty => f.write_str("the patch is empty"),
            PatchFinding::IgnoredDocuments { documents } => write!(
                f,
                "{documents} documents after the list of operations have no effect; make each a patch"
            ),
        }
    }
}

impl PatchFailure {
    pub(crate) fn at(self, position: PatchPosition) -> PatchError {
        PatchError { position, cause: Box::new(self) }
    }
}
