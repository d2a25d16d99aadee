//! The operations of a JSON 6902 patch: reading them, and applying one to an object.

use std::fmt;

use serde_json::{Map, Value};

use crate::limits::{MAX_COPIED_BYTES, MAX_DEPTH};
use crate::measure;
use crate::pointer::{Pointer, PointerError};

/// One operation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Operation {
    pub(crate) verb: Verb,
    pub(crate) path: Pointer,
}

/// What an operation does. A missing `value` is null, as in kustomize.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verb {
    Add(Value),
    Remove,
    Replace(Value),
    Test(Value),
    Move(Pointer),
    Copy(Pointer),
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.verb {
            Verb::Add(_) => write!(f, "add {}", self.path),
            Verb::Remove => write!(f, "remove {}", self.path),
            Verb::Replace(_) => write!(f, "replace {}", self.path),
            Verb::Test(_) => write!(f, "test {}", self.path),
            Verb::Move(from) => write!(f, "move {from} to {}", self.path),
            Verb::Copy(from) => write!(f, "copy {from} to {}", self.path),
        }
    }
}

/// Why a list entry is not an operation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OperationReadError {
    /// An entry that is not a map.
    #[error("is {found}; write a map with `op` and `path`")]
    NotAMap {
        /// What it is.
        found: &'static str,
    },
    /// A field that is missing or not a text.
    #[error("has no text in `{field}`; add it")]
    MissingField {
        /// Which field.
        field: &'static str,
    },
    /// An unknown verb.
    #[error("has the unknown op `{op}`; use add, remove, replace, move, copy or test")]
    UnknownOp {
        /// The verb as the patch has it.
        op: String,
    },
    /// A path that is not a JSON pointer.
    #[error("has the {field} `{text}`: {source}")]
    Pointer {
        /// `path` or `from`.
        field: &'static str,
        /// The text as the patch has it.
        text: String,
        /// What is wrong with it.
        source: PointerError,
    },
    /// `path` is the whole object in an operation that cannot take it.
    #[error("has an empty {field}, which is the whole object; only replace and test take that")]
    WholeObject {
        /// `path` or `from`.
        field: &'static str,
    },
}

/// Why an operation does not apply to an object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OperationError {
    /// What would hold the value is not there.
    #[error("parent {parent} does not exist; add the parent first")]
    MissingParent {
        /// The nearest place that is missing, as a JSON pointer.
        parent: String,
    },
    /// What would hold the value cannot hold anything.
    #[error("{parent} is {found}; only maps and lists have something below them")]
    ParentNotAContainer {
        /// Where, as a JSON pointer.
        parent: String,
        /// What is there.
        found: &'static str,
    },
    /// Nothing is at the path.
    #[error("nothing is at {path}; correct the path or leave the operation out")]
    Missing {
        /// Where, as a JSON pointer.
        path: String,
    },
    /// A list index that is not a number.
    #[error("`{index}` is no place in the list {list}; use a number, or `-` with add for its end")]
    NotAnIndex {
        /// The list, as a JSON pointer.
        list: String,
        /// The text of the index.
        index: String,
    },
    /// A list index beyond the list.
    #[error("index {index} is outside of the list {list}, which has {length} elements")]
    IndexOutside {
        /// The list, as a JSON pointer.
        list: String,
        /// The text of the index.
        index: String,
        /// Elements in the list.
        length: usize,
    },
    /// `test` found another value. The value is not shown: it may be a secret.
    #[error("the value at {path} is not the one that the test expects")]
    TestFailed {
        /// Where, as a JSON pointer.
        path: String,
    },
    /// `replace` of the whole object with something else than an object.
    #[error("an object cannot be replaced with {found}")]
    NotAnObject {
        /// What the patch has.
        found: &'static str,
    },
    /// `copy` operations that make the object explode.
    #[error("copies add more than {MAX_COPIED_BYTES} bytes to the object")]
    CopiesTooMuch,
    /// A value that would nest too deep.
    #[error("the value at {path} would nest deeper than {MAX_DEPTH} levels")]
    TooDeep {
        /// Where, as a JSON pointer.
        path: String,
    },
}

impl Operation {
    /// Reads one entry of a patch.
    pub(crate) fn read(entry: Value) -> Result<Self, OperationReadError> {
        let Value::Object(mut fields) = entry else {
            return Err(OperationReadError::NotAMap { found: measure::type_name(&entry) });
        };
        let value = fields.remove("value").unwrap_or(Value::Null);
        let op = text(&fields, "op")?;
        let verb = match op {
            "add" => Verb::Add(value),
            "remove" => Verb::Remove,
            "replace" => Verb::Replace(value),
            "test" => Verb::Test(value),
            "move" => Verb::Move(below_object(&fields, "from")?),
            "copy" => Verb::Copy(below_object(&fields, "from")?),
            _ => return Err(OperationReadError::UnknownOp { op: op.to_owned() }),
        };
        let path = match verb {
            Verb::Replace(_) | Verb::Test(_) => pointer(&fields, "path")?,
            Verb::Add(_) | Verb::Remove | Verb::Move(_) | Verb::Copy(_) => below_object(&fields, "path")?,
        };
        Ok(Self { verb, path })
    }

    /// Applies the operation to `object`; `copied` counts the bytes that copies have added so far.
    pub(crate) fn apply(&self, object: &mut Value, copied: &mut usize) -> Result<(), OperationError> {
        match &self.verb {
            Verb::Add(value) => self.path.add(object, self.checked(value.clone())?),
            Verb::Remove => self.path.remove(object).map(drop),
            Verb::Replace(value) if self.path.is_whole_object() => {
                if !value.is_object() {
                    return Err(OperationError::NotAnObject { found: measure::type_name(value) });
                }
                *object = value.clone();
                Ok(())
            }
            Verb::Replace(value) => self.path.replace(object, self.checked(value.clone())?),
            Verb::Test(value) => {
                let found =
                    if self.path.is_whole_object() { Some(&*object) } else { self.path.get(object)? };
                if found.unwrap_or(&Value::Null) == value {
                    return Ok(());
                }
                Err(OperationError::TestFailed { path: self.path.to_string() })
            }
            Verb::Move(from) => {
                let value = from.remove(object)?;
                self.path.add(object, self.checked(value)?)
            }
            Verb::Copy(from) => {
                // kustomize copies a missing field as null.
                let source = from.get(object)?.unwrap_or(&Value::Null);
                *copied = copied.saturating_add(measure::size(source));
                if *copied > MAX_COPIED_BYTES {
                    return Err(OperationError::CopiesTooMuch);
                }
                let value = source.clone();
                self.path.add(object, self.checked(value)?)
            }
        }
    }

    /// Passes a value on if it may stand at the path.
    fn checked(&self, value: Value) -> Result<Value, OperationError> {
        if self.path.depth() + measure::depth(&value) > MAX_DEPTH {
            return Err(OperationError::TooDeep { path: self.path.to_string() });
        }
        Ok(value)
    }
}

fn text<'a>(fields: &'a Map<String, Value>, field: &'static str) -> Result<&'a str, OperationReadError> {
    fields.get(field).and_then(Value::as_str).ok_or(OperationReadError::MissingField { field })
}

fn pointer(fields: &Map<String, Value>, field: &'static str) -> Result<Pointer, OperationReadError> {
    let text = text(fields, field)?;
    Pointer::read(text).map_err(|source| OperationReadError::Pointer { field, text: text.to_owned(), source })
}

fn below_object(fields: &Map<String, Value>, field: &'static str) -> Result<Pointer, OperationReadError> {
    let pointer = pointer(fields, field)?;
    if pointer.is_whole_object() {
        return Err(OperationReadError::WholeObject { field });
    }
    Ok(pointer)
}
