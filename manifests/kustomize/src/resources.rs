//! A set of objects with their history of names.

use std::fmt;

use serde_json::{Map, Value};

use crate::id::Id;
use crate::limits::MAX_DEPTH;
use crate::measure;

/// One object and the ids that it had before.
#[derive(Clone, PartialEq)]
pub struct Resource {
    pub(crate) value: Value,
    pub(crate) previous: Vec<Id>,
    pub(crate) suffixes: Vec<String>,
}

/// Objects in order, no two with the same id.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Resources {
    pub(crate) list: Vec<Resource>,
}

/// Why objects do not form a set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResourceError {
    /// A value that is not a map.
    #[error("object {number} is {found}; it must be a map")]
    NotAnObject {
        /// Its place in the list, from 1.
        number: usize,
        /// What it is.
        found: &'static str,
    },
    /// An object that does not say what it is.
    #[error("object {number} ({id}) has no text in `{field}`; add it")]
    MissingField {
        /// Its place in the list, from 1.
        number: usize,
        /// What is known of it.
        id: Box<Id>,
        /// The field that is missing.
        field: &'static str,
    },
    /// An object that nests too deep.
    #[error("object {number} ({id}) nests deeper than {MAX_DEPTH} levels")]
    TooDeep {
        /// Its place in the list, from 1.
        number: usize,
        /// Which object.
        id: Box<Id>,
    },
    /// Two objects with one id.
    #[error("{id} is there twice; keep one of them")]
    Duplicate {
        /// Which object.
        id: Box<Id>,
    },
}

impl fmt::Debug for Resource {
    /// Only the id: the object may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Resource({})", self.id())
    }
}

impl Resource {
    /// The object as it is now.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The object, to change. A changed name or namespace is not followed in references; use a patch for that.
    pub fn value_mut(&mut self) -> &mut Value {
        &mut self.value
    }

    /// What the object is called now.
    #[must_use]
    pub fn id(&self) -> Id {
        Id::of(&self.value)
    }

    /// What the object was called before any change.
    #[must_use]
    pub fn original_id(&self) -> Id {
        self.previous_ids().into_iter().next().unwrap_or_else(|| self.id())
    }

    /// Everything that the object was called, the oldest first, without what it is called now.
    pub(crate) fn previous_ids(&self) -> Vec<Id> {
        let now = self.id();
        let with_api = |id: &Id| Id { group: now.group.clone(), version: now.version.clone(), ..id.clone() };
        self.previous.iter().map(with_api).collect()
    }

    /// Notes what the object is called before it changes.
    pub(crate) fn remember_id(&mut self) {
        let id = self.id();
        let namespace = id.effective_namespace().to_owned();
        self.previous.push(Id { namespace, ..id });
        drop_empty_annotations(&mut self.value);
        tidy_annotations(&mut self.value);
    }
}

impl Resources {
    /// Makes a set of `objects`, in their order. The items of a list object (`kind: ...List`) come at the end.
    ///
    /// # Errors
    ///
    /// When an object has no `apiVersion`, `kind` or `metadata.name`, nests deeper than [`MAX_DEPTH`], or has the id
    /// of another one.
    pub fn new(objects: Vec<Value>) -> Result<Self, ResourceError> {
        let mut resources = Self::default();
        for (index, object) in inline_lists(objects).into_iter().enumerate() {
            check(&object, index + 1)?;
            resources.push(Resource { value: object, previous: Vec::new(), suffixes: Vec::new() })?;
        }
        Ok(resources)
    }

    /// Adds the objects of `other` at the end.
    ///
    /// # Errors
    ///
    /// When an object of `other` has the id of one that is there.
    pub fn append(&mut self, other: Self) -> Result<(), ResourceError> {
        other.list.into_iter().try_for_each(|resource| self.push(resource))
    }

    /// The objects, in order.
    #[must_use]
    pub fn into_objects(self) -> Vec<Value> {
        self.list.into_iter().map(|resource| resource.value).collect()
    }

    /// The resources, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Resource> {
        self.list.iter()
    }

    /// The resources, in order, to change.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Resource> {
        self.list.iter_mut()
    }

    /// The first object of this kind and name, to change.
    pub fn get_mut(&mut self, kind: &str, name: &str) -> Option<&mut Value> {
        let is_wanted = |resource: &&mut Resource| {
            let id = resource.id();
            id.kind == kind && id.name == name
        };
        self.list.iter_mut().find(is_wanted).map(Resource::value_mut)
    }

    /// Keeps the resources for which `keep` says so.
    pub fn retain(&mut self, keep: impl FnMut(&Resource) -> bool) {
        self.list.retain(keep);
    }

    /// How many objects there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// True without objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    fn push(&mut self, resource: Resource) -> Result<(), ResourceError> {
        let id = resource.id();
        let has_name = |other: &&Resource| {
            let name = other.value.get("metadata").and_then(|metadata| metadata.get("name"));
            name.and_then(Value::as_str) == Some(&id.name)
        };
        if self.list.iter().filter(has_name).any(|other| other.id().is_same_object(&id)) {
            return Err(ResourceError::Duplicate { id: Box::new(id) });
        }
        self.list.push(resource);
        Ok(())
    }
}

/// Name of the first field that an object needs and lacks.
pub(crate) fn missing_field(object: &Value) -> Option<&'static str> {
    if is_missing(object, "/apiVersion") { Some("apiVersion") } else { missing_name(object) }
}

/// The same without `apiVersion`, which a patch may leave to its target.
pub(crate) fn missing_name(object: &Value) -> Option<&'static str> {
    if is_missing(object, "/kind") {
        return Some("kind");
    }
    is_missing(object, "/metadata/name").then_some("metadata.name")
}

fn is_missing(object: &Value, pointer: &str) -> bool {
    object.pointer(pointer).and_then(Value::as_str).is_none_or(str::is_empty)
}

/// Puts the items of list objects in the place of these, at the end.
pub(crate) fn inline_lists(objects: Vec<Value>) -> Vec<Value> {
    let mut open = std::collections::VecDeque::from(objects);
    let mut flat = Vec::with_capacity(open.len());
    while let Some(mut object) = open.pop_front() {
        let is_list = object.get("kind").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("List"));
        match object.get_mut("items") {
            Some(Value::Array(items)) if is_list => open.extend(std::mem::take(items)),
            Some(Value::Null) if is_list => {}
            _ => flat.push(object),
        }
    }
    flat
}

fn check(object: &Value, number: usize) -> Result<(), ResourceError> {
    if !object.is_object() {
        return Err(ResourceError::NotAnObject { number, found: measure::type_name(object) });
    }
    if let Some(field) = missing_field(object) {
        return Err(ResourceError::MissingField { number, id: Box::new(Id::of(object)), field });
    }
    if measure::depth(object) > MAX_DEPTH {
        return Err(ResourceError::TooDeep { number, id: Box::new(Id::of(object)) });
    }
    Ok(())
}

/// Annotations as kustomize leaves them: every value is a text.
pub(crate) fn tidy_annotations(object: &mut Value) {
    if let Some(Value::Object(annotations)) = object.pointer_mut("/metadata/annotations") {
        make_texts(annotations);
    }
}

/// Takes an empty map of annotations away, as kustomize does with objects whose ids it remembers.
pub(crate) fn drop_empty_annotations(object: &mut Value) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    if metadata.get("annotations").and_then(Value::as_object).is_some_and(Map::is_empty) {
        metadata.remove("annotations");
    }
}

/// Turns numbers and booleans into texts.
pub(crate) fn make_texts(fields: &mut Map<String, Value>) {
    for value in fields.values_mut() {
        if value.is_number() || value.is_boolean() {
            *value = Value::String(value.to_string());
        }
    }
}
