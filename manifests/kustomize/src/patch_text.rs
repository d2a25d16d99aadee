//! What the text of a patch says: documents to merge, or operations.

use manifests_yaml::ReadError;
use serde_json::Value;

use crate::directive::{self, DirectiveError};
use crate::id::Id;
use crate::limits::{MAX_DEPTH, MAX_OPERATIONS, MAX_PATCH_BYTES};
use crate::measure;
use crate::operation::{Operation, OperationReadError};
use crate::resources::{inline_lists, missing_name};

/// A patch that has been read.
#[derive(Debug)]
pub(crate) enum Plan {
    /// Nothing to do: only comments, or an empty list.
    Nothing,
    /// Documents to merge.
    Merge(Vec<Value>),
    /// Operations of JSON 6902; `ignored` documents stood after them.
    Operations { operations: Vec<Operation>, ignored: usize },
}

/// Why a text is not a patch.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchTextError {
    /// A text without anything in it.
    #[error("the patch is empty; write a strategic merge patch or a list of JSON 6902 operations")]
    Empty,
    /// A text that is too long.
    #[error("the patch has {bytes} bytes, and at most {MAX_PATCH_BYTES} are allowed; split it")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Not YAML.
    #[error("the patch is not YAML: {0}")]
    Yaml(#[from] ReadError),
    /// A document that is neither of the two forms.
    #[error(
        "document {document} of the patch is {found}; write an object with `apiVersion`, `kind` and `metadata.name` \
         (strategic merge), or a list of operations (JSON 6902)"
    )]
    NeitherForm {
        /// Its place in the text, from 1.
        document: usize,
        /// What it is.
        found: &'static str,
    },
    /// A strategic merge patch that does not say what it is.
    #[error(
        "document {document} of the patch has no text in `{field}`; a strategic merge patch needs it, also with a \
         target, which then decides"
    )]
    MissingField {
        /// Its place in the text, from 1.
        document: usize,
        /// The field that is missing.
        field: &'static str,
    },
    /// A directive that cannot be followed.
    #[error("the patch for {id}: {source}")]
    Directive {
        /// The object that the patch names.
        id: Box<Id>,
        /// What is wrong.
        source: DirectiveError,
    },
    /// A document that nests too deep.
    #[error("document {document} of the patch nests deeper than {MAX_DEPTH} levels")]
    TooDeep {
        /// Its place in the text, from 1.
        document: usize,
    },
    /// Too many operations.
    #[error("the patch has {operations} operations, and at most {MAX_OPERATIONS} are allowed; split it")]
    TooManyOperations {
        /// How many it has.
        operations: usize,
    },
    /// A list entry that is not an operation.
    #[error("operation {number} {source}")]
    Operation {
        /// Its place in the list, from 1.
        number: usize,
        /// What is wrong.
        source: OperationReadError,
    },
}

impl Plan {
    /// Reads the text of a patch.
    pub(crate) fn read(text: &str) -> Result<Self, PatchTextError> {
        if text.len() > MAX_PATCH_BYTES {
            return Err(PatchTextError::TooLong { bytes: text.len() });
        }
        if text.trim().is_empty() {
            return Err(PatchTextError::Empty);
        }
        let documents = documents(text)?;
        if let Some(document) = documents.iter().position(|document| measure::depth(document) > MAX_DEPTH) {
            return Err(PatchTextError::TooDeep { document: document + 1 });
        }
        let mut filled = documents.into_iter().filter(|document| !is_empty(document));
        match filled.next() {
            None => Ok(Self::Nothing),
            Some(Value::Array(entries)) => {
                Ok(Self::Operations { operations: operations(entries)?, ignored: filled.count() })
            }
            Some(first) => merge(std::iter::once(first).chain(filled).collect()),
        }
    }
}

fn documents(text: &str) -> Result<Vec<Value>, ReadError> {
    Ok(manifests_yaml::documents(text)?.into_iter().map(|document| document.value).collect())
}

fn is_empty(document: &Value) -> bool {
    match document {
        Value::Null => true,
        Value::Array(elements) => elements.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

fn operations(entries: Vec<Value>) -> Result<Vec<Operation>, PatchTextError> {
    if entries.len() > MAX_OPERATIONS {
        return Err(PatchTextError::TooManyOperations { operations: entries.len() });
    }
    let read = |(index, entry)| {
        Operation::read(entry).map_err(|source| PatchTextError::Operation { number: index + 1, source })
    };
    entries.into_iter().enumerate().map(read).collect()
}

fn merge(documents: Vec<Value>) -> Result<Plan, PatchTextError> {
    let documents = inline_lists(documents);
    for (index, document) in documents.iter().enumerate() {
        if !document.is_object() {
            let found = measure::type_name(document);
            return Err(PatchTextError::NeitherForm { document: index + 1, found });
        }
        if let Some(field) = missing_name(document) {
            return Err(PatchTextError::MissingField { document: index + 1, field });
        }
        directive::check(document)
            .map_err(|source| PatchTextError::Directive { id: Box::new(Id::of(document)), source })?;
    }
    Ok(Plan::Merge(documents))
}
