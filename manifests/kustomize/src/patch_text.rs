//! What the text of a patch says: documents to merge, or operations.

use manifests_yaml::{Document, ReadError};
use serde_json::Value;

use crate::directive::{self, DirectiveError};
use crate::id::Id;
use crate::limits::{MAX_DEPTH, MAX_OBJECT_BYTES, MAX_OPERATIONS, MAX_PATCH_BYTES};
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

/// Why a text is not a patch. Lines count from 1 within the text of the patch.
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
    /// A text that is too long once its aliases are replaced.
    #[error(
        "the patch has {bytes} bytes with its aliases replaced, and at most {MAX_OBJECT_BYTES} are allowed"
    )]
    ExpandsTooMuch {
        /// Its length as JSON.
        bytes: usize,
    },
    /// Not YAML.
    #[error("the patch is not YAML: {0}")]
    Yaml(#[from] ReadError),
    /// A document that is neither of the two forms.
    #[error(
        "line {line} of the patch starts {found}; write an object with `apiVersion`, `kind` and `metadata.name` \
         (strategic merge), or a list of operations (JSON 6902)"
    )]
    NeitherForm {
        /// Where the document starts.
        line: usize,
        /// What it is.
        found: &'static str,
    },
    /// A strategic merge patch that does not say what it is.
    #[error(
        "the object at line {line} of the patch has no text in `{field}`; add it: a strategic merge patch needs it, \
         though with a target any value will do"
    )]
    MissingField {
        /// Where the document starts.
        line: usize,
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
    #[error("the document at line {line} of the patch nests deeper than {MAX_DEPTH} levels")]
    TooDeep {
        /// Where the document starts.
        line: usize,
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
        let mut documents = manifests_yaml::documents(text)?;
        documents.retain(|document| !is_empty(&document.value));
        let bytes: usize = documents.iter().map(|document| measure::size(&document.value)).sum();
        if bytes > MAX_OBJECT_BYTES {
            return Err(PatchTextError::ExpandsTooMuch { bytes });
        }
        if let Some(deep) = documents.iter().find(|document| measure::depth(&document.value) > MAX_DEPTH) {
            return Err(PatchTextError::TooDeep { line: deep.line });
        }
        let ignored = documents.len().saturating_sub(1);
        let mut documents = documents.into_iter();
        match documents.next() {
            None => Ok(Self::Nothing),
            Some(Document { value: Value::Array(entries), .. }) => {
                Ok(Self::Operations { operations: operations(entries)?, ignored })
            }
            Some(first) => merge(std::iter::once(first).chain(documents)),
        }
    }
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

fn merge(documents: impl Iterator<Item = Document>) -> Result<Plan, PatchTextError> {
    let mut patches = Vec::new();
    for Document { value, line, .. } in documents {
        for patch in inline_lists(vec![value]) {
            check(&patch, line)?;
            patches.push(patch);
        }
    }
    Ok(Plan::Merge(patches))
}

fn check(patch: &Value, line: usize) -> Result<(), PatchTextError> {
    if !patch.is_object() {
        return Err(PatchTextError::NeitherForm { line, found: measure::type_name(patch) });
    }
    if let Some(field) = missing_name(patch) {
        return Err(PatchTextError::MissingField { line, field });
    }
    directive::check(patch)
        .map_err(|source| PatchTextError::Directive { id: Box::new(Id::of(patch)), source })
}
