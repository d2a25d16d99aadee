//! JSON pointers, as the library that kustomize uses reads them: indices may be negative, `-` is the end of a list.

use std::fmt;

use serde_json::Value;

use crate::limits::MAX_DEPTH;
use crate::measure::type_name;
use crate::operation::OperationError;

/// A place in an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pointer {
    text: String,
    segments: Vec<String>,
}

/// Why a text is not a JSON pointer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PointerError {
    /// kustomize drops what stands before the first slash, and so writes to another place than meant.
    #[error("it does not start with `/`; write `/{text}`")]
    NoLeadingSlash {
        /// The text as the patch has it.
        text: String,
    },
    /// More segments than an object may have levels.
    #[error("it has more than {MAX_DEPTH} segments")]
    TooDeep,
}

impl Pointer {
    pub(crate) fn read(text: &str) -> Result<Self, PointerError> {
        if text.is_empty() {
            return Ok(Self { text: String::new(), segments: Vec::new() });
        }
        let Some(rest) = text.strip_prefix('/') else {
            return Err(PointerError::NoLeadingSlash { text: text.to_owned() });
        };
        if rest.split('/').count() > MAX_DEPTH {
            return Err(PointerError::TooDeep);
        }
        let segments = rest.split('/').map(|segment| segment.replace("~1", "/").replace("~0", "~")).collect();
        Ok(Self { text: text.to_owned(), segments })
    }

    pub(crate) fn is_whole_object(&self) -> bool {
        self.segments.is_empty()
    }

    /// Levels between the object and the place.
    pub(crate) fn depth(&self) -> usize {
        self.segments.len()
    }

    /// What is at the place. A missing field of an existing map is `None`, not an error.
    pub(crate) fn get<'a>(&self, object: &'a Value) -> Result<Option<&'a Value>, OperationError> {
        let (_, last) = self.split();
        match self.existing_parent(object)? {
            Value::Array(elements) => {
                Ok(elements.get(self.checked_index(last, elements.len(), elements.len())?))
            }
            parent => Ok(parent.get(last)),
        }
    }

    /// Puts a value at the place; in a list, before what is there.
    pub(crate) fn add(&self, object: &mut Value, value: Value) -> Result<(), OperationError> {
        match self.parent(object)? {
            (Parent::Map(fields), last) => {
                fields.insert(last.to_owned(), value);
            }
            (Parent::List(elements), "-") => elements.push(value),
            (Parent::List(elements), last) => {
                let length = elements.len();
                elements.insert(self.checked_index(last, length + 1, length)?, value);
            }
        }
        Ok(())
    }

    /// Puts a value in the place of another one; a missing field of a map is added.
    pub(crate) fn replace(&self, object: &mut Value, value: Value) -> Result<(), OperationError> {
        match self.parent(object)? {
            (Parent::Map(fields), last) => {
                fields.insert(last.to_owned(), value);
            }
            (Parent::List(elements), last) => {
                let place = self.checked_index(last, elements.len(), elements.len())?;
                if let Some(slot) = elements.get_mut(place) {
                    *slot = value;
                }
            }
        }
        Ok(())
    }

    /// Takes the value at the place out.
    pub(crate) fn remove(&self, object: &mut Value) -> Result<Value, OperationError> {
        match self.parent(object)? {
            (Parent::Map(fields), last) => {
                fields.remove(last).ok_or_else(|| OperationError::Missing { path: self.text.clone() })
            }
            (Parent::List(elements), last) => {
                let place = self.checked_index(last, elements.len(), elements.len())?;
                Ok(elements.remove(place))
            }
        }
    }

    fn split(&self) -> (&[String], &str) {
        self.segments.split_last().map_or((&[], ""), |(last, parents)| (parents, last.as_str()))
    }

    /// The map or list that holds the place.
    fn existing_parent<'a>(&self, object: &'a Value) -> Result<&'a Value, OperationError> {
        let mut at = object;
        for (level, segment) in self.split().0.iter().enumerate() {
            at = match at {
                Value::Object(fields) => fields.get(segment),
                Value::Array(elements) => {
                    index(segment, elements.len()).and_then(|place| elements.get(place))
                }
                other => return Err(self.not_a_container(level, other)),
            }
            .filter(|next| !next.is_null())
            .ok_or_else(|| OperationError::MissingParent { parent: self.up_to(level + 1) })?;
        }
        if at.is_object() || at.is_array() {
            Ok(at)
        } else {
            Err(self.not_a_container(self.split().0.len(), at))
        }
    }

    fn parent<'a>(&'a self, object: &'a mut Value) -> Result<(Parent<'a>, &'a str), OperationError> {
        self.existing_parent(object)?;
        let (parents, last) = self.split();
        let mut at = object;
        for (level, segment) in parents.iter().enumerate() {
            at = match at {
                Value::Object(fields) => fields.get_mut(segment),
                Value::Array(elements) => {
                    index(segment, elements.len()).and_then(|place| elements.get_mut(place))
                }
                _ => None,
            }
            .ok_or_else(|| OperationError::MissingParent { parent: self.up_to(level + 1) })?;
        }
        match at {
            Value::Object(fields) => Ok((Parent::Map(fields), last)),
            Value::Array(elements) => Ok((Parent::List(elements), last)),
            other => Err(self.not_a_container(parents.len(), other)),
        }
    }

    fn not_a_container(&self, level: usize, found: &Value) -> OperationError {
        OperationError::ParentNotAContainer { parent: self.up_to(level), found: type_name(found) }
    }

    /// The pointer to the first `segments` segments, as the patch spells them.
    fn up_to(&self, segments: usize) -> String {
        let shown: Vec<&str> = self.text.split('/').take(segments + 1).collect();
        shown.join("/")
    }

    /// The place that `segment` means in a list, if it is below `bound`.
    fn checked_index(&self, segment: &str, bound: usize, length: usize) -> Result<usize, OperationError> {
        let list = self.up_to(self.segments.len().saturating_sub(1));
        if segment.parse::<i64>().is_err() {
            return Err(OperationError::NotAnIndex { list, index: segment.to_owned() });
        }
        index(segment, bound).ok_or_else(|| OperationError::IndexOutside {
            list,
            index: segment.to_owned(),
            length,
        })
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.text.is_empty() { "the whole object" } else { &self.text })
    }
}

/// What holds the place.
enum Parent<'a> {
    Map(&'a mut serde_json::Map<String, Value>),
    List(&'a mut Vec<Value>),
}

/// Reads an index below `bound`; a negative one counts from the end.
fn index(segment: &str, bound: usize) -> Option<usize> {
    let number: i64 = segment.parse().ok()?;
    let distance = usize::try_from(number.unsigned_abs()).ok()?;
    let place = if number < 0 { bound.checked_sub(distance)? } else { distance };
    (place < bound).then_some(place)
}
