//! Places in objects of certain kinds, and visiting them.

use serde_json::{Map, Value};

use crate::id::Id;
use crate::measure::type_name;

/// A place in objects of a kind. Empty text stands for any group, version or kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldSpec {
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) kind: &'static str,
    /// Segments with `/` between them; `\/` is a slash in a segment. Lists on the way are walked through; a segment
    /// that ends in `[]` is never created.
    pub(crate) path: &'static str,
    pub(crate) missing: Missing,
}

/// What happens where the place does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    Create,
    Leave,
}

/// The fields that name objects of a kind.
#[derive(Debug)]
pub(crate) struct BackReferences {
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) referrers: &'static [FieldSpec],
}

/// A place that is created where it is missing.
pub(crate) const fn created(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    path: &'static str,
) -> FieldSpec {
    FieldSpec { group, version, kind, path, missing: Missing::Create }
}

/// A place that is only used where it exists.
pub(crate) const fn existing(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    path: &'static str,
) -> FieldSpec {
    FieldSpec { group, version, kind, path, missing: Missing::Leave }
}

/// What stands at a place that is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Created {
    Nothing,
    Map,
    Text,
}

/// An object has a value of another type than its kind has there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrongType {
    pub(crate) path: String,
    pub(crate) found: &'static str,
}

impl FieldSpec {
    pub(crate) fn is_for(&self, id: &Id) -> bool {
        is_selected(id, self.group, self.version, self.kind)
    }

    /// Calls `change` for every value at the place.
    pub(crate) fn visit<E: From<WrongType>>(
        &self,
        object: &mut Value,
        created: Created,
        change: &mut impl FnMut(&mut Value) -> Result<(), E>,
    ) -> Result<(), E> {
        let segments = segments(self.path);
        let created = if self.missing == Missing::Create { created } else { Created::Nothing };
        visit(object, &segments, created, change)
    }

    /// The error for a value that does not fit at the place.
    pub(crate) fn wrong_type(&self, found: &Value) -> WrongType {
        WrongType { path: self.path.to_owned(), found: type_name(found) }
    }
}

/// True when an id fits; empty text stands for anything.
pub(crate) fn is_selected(id: &Id, group: &str, version: &str, kind: &str) -> bool {
    (group.is_empty() || group == id.group)
        && (version.is_empty() || version == id.version)
        && (kind.is_empty() || kind == id.kind)
}

fn visit<E: From<WrongType>>(
    at: &mut Value,
    segments: &[String],
    created: Created,
    change: &mut impl FnMut(&mut Value) -> Result<(), E>,
) -> Result<(), E> {
    let Some((segment, rest)) = segments.split_first() else { return change(at) };
    match at {
        Value::Null => Ok(()),
        Value::Array(elements) => {
            elements.iter_mut().try_for_each(|element| visit(element, segments, created, change))
        }
        Value::Object(fields) => match field(fields, segment, rest.is_empty(), created) {
            Some(next) => visit(next, rest, created, change),
            None => Ok(()),
        },
        other => Err(WrongType { path: segments.join("/"), found: type_name(other) }.into()),
    }
}

/// The field that a segment names, created or made a list or map of null where that is asked for.
fn field<'a>(
    fields: &'a mut Map<String, Value>,
    segment: &str,
    is_last: bool,
    created: Created,
) -> Option<&'a mut Value> {
    if let Some(name) = segment.strip_suffix("[]") {
        let field = fields.get_mut(name)?;
        if field.is_null() {
            *field = Value::Array(Vec::new());
        }
        return Some(field);
    }
    let fresh = match created {
        Created::Nothing => return fields.get_mut(segment),
        Created::Text if is_last => Value::String(String::new()),
        Created::Map | Created::Text => Value::Object(Map::new()),
    };
    let field = fields.entry(segment).or_insert(Value::Null);
    if field.is_null() {
        *field = fresh;
    }
    Some(field)
}

fn segments(path: &str) -> Vec<String> {
    let mut segments: Vec<String> = Vec::new();
    for part in path.split('/') {
        match segments.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.pop();
                last.push('/');
                last.push_str(part);
            }
            _ => segments.push(part.to_owned()),
        }
    }
    segments
}
