//! Strategic merge of one patch into one object, with kustomize's answers.

use serde_json::{Map, Value};

use crate::directive::{self, Directive};
use crate::limits::MAX_MERGED_ELEMENTS;
use crate::measure::type_name;
use crate::merge_list::{self, Patched};
use crate::schema::{self, Node};

/// Why a patch does not fit an object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// A map meets a list, or a list a plain value.
    #[error("{path} is {found} in the object and {wanted} in the patch; give it the same type")]
    Shape {
        /// Where, as a JSON pointer.
        path: String,
        /// What the object has.
        found: &'static str,
        /// What the patch has.
        wanted: &'static str,
    },
    /// A list element does not say which element it is.
    #[error("an element of the list {path} has no `{key}`, by which its elements are told apart; add it")]
    MissingMergeKey {
        /// Where, as a JSON pointer.
        path: String,
        /// The field that is missing.
        key: String,
    },
    /// `$patch` in a list that has no merge key.
    #[error(
        "`$patch` inside the list {path}: it has no merge key and is replaced as a whole; \
         write the whole list without `$patch`, or use a JSON 6902 patch"
    )]
    DirectiveInPlainList {
        /// Where, as a JSON pointer.
        path: String,
    },
    /// Elements of a patch that contradict each other.
    #[error(
        "the patch names one element of the list {path} twice, once with `$patch`; write each element once"
    )]
    ElementTwice {
        /// Where, as a JSON pointer.
        path: String,
    },
    /// A list too long to merge by key.
    #[error("the list {path} has {elements} elements, and at most {MAX_MERGED_ELEMENTS} are merged by key")]
    ListTooLong {
        /// Where, as a JSON pointer.
        path: String,
        /// How many elements both sides have together.
        elements: usize,
    },
}

/// Merges `patch` into `object`. `None` means that the patch deletes the object.
///
/// Directives in `patch` must be known ones: see [`directive::check`]. `$patch: replace` of a whole object changes
/// nothing, as in kustomize: who relies on that would lose objects if it did.
pub(crate) fn merge(object: Value, patch: Value) -> Result<Option<Value>, MergeError> {
    if directive::of_map(&patch) == Some(Directive::Replace) {
        return Ok(Some(object));
    }
    let node = schema::of_object(&object);
    Walk { path: Vec::new() }.pair(Some(object), Some(patch), node)
}

/// One walk over an object and its patch; the path is for errors.
pub(crate) struct Walk {
    path: Vec<String>,
}

impl Walk {
    /// What becomes of a place that holds `dest` and for which the patch says `patch`.
    pub(crate) fn pair(
        &mut self,
        dest: Option<Value>,
        patch: Option<Value>,
        node: Option<&'static Node>,
    ) -> Result<Option<Value>, MergeError> {
        match (dest, patch) {
            (None | Some(Value::Null), Some(added)) => self.adopt(added, node),
            (dest, None) => dest.map(|dest| self.keep(dest, node)).transpose(),
            (Some(_), Some(Value::Null)) => Ok(None),
            (Some(Value::Object(dest)), Some(Value::Object(patch))) => self.maps(dest, patch, node),
            (Some(Value::Array(dest)), Some(Value::Array(patch))) => self.lists(dest, patch, node),
            (Some(dest), Some(patch)) if is_plain(&dest) && is_plain(&patch) => Ok(Some(over(&dest, patch))),
            (Some(dest), Some(patch)) => Err(MergeError::Shape {
                path: self.pointer(),
                found: type_name(&dest),
                wanted: type_name(&patch),
            }),
        }
    }

    /// A value that only the patch has: nulls and directives in it mean the same as over an existing value.
    pub(crate) fn adopt(
        &mut self,
        added: Value,
        node: Option<&'static Node>,
    ) -> Result<Option<Value>, MergeError> {
        match added {
            Value::Null => Ok(None),
            Value::Object(mut fields) => {
                if directive::take_from_map(&mut fields) == Some(Directive::Delete) {
                    return Ok(None);
                }
                let node = schema_at(node, &fields);
                let mut kept = Map::new();
                for (name, value) in fields {
                    if let Some(value) = self.within(&name, |walk| walk.adopt(value, child(node, &name)))? {
                        kept.insert(name, value);
                    }
                }
                Ok(Some(Value::Object(kept)))
            }
            Value::Array(mut elements) => {
                let Some(keys) = node.and_then(Node::merge_keys) else {
                    self.refuse_directives(&elements)?;
                    return Ok(Some(Value::Array(elements)));
                };
                if directive::take_from_list(&mut elements) == Some(Directive::Delete) {
                    return Ok(None);
                }
                self.merged(elements, Patched::Itself, (keys, node))
            }
            plain => Ok(Some(plain)),
        }
    }

    /// A value that the patch does not mention. Lists merged by key still lose duplicates, as in kustomize.
    fn keep(&mut self, dest: Value, node: Option<&'static Node>) -> Result<Value, MergeError> {
        match dest {
            Value::Object(fields) => {
                let node = schema_at(node, &fields);
                let mut kept = Map::new();
                for (name, value) in fields {
                    let value = match child(node, &name) {
                        None => value,
                        node => self.within(&name, |walk| walk.keep(value, node))?,
                    };
                    kept.insert(name, value);
                }
                Ok(Value::Object(kept))
            }
            Value::Array(elements) => {
                let keys = node.and_then(Node::merge_keys).filter(|keys| {
                    elements.len() <= MAX_MERGED_ELEMENTS && merge_list::all_have_keys(&elements, keys)
                });
                let Some(keys) = keys else { return Ok(Value::Array(elements)) };
                Ok(self.merged(elements, Patched::Not, (keys, node))?.unwrap_or(Value::Array(Vec::new())))
            }
            plain => Ok(plain),
        }
    }

    fn maps(
        &mut self,
        dest: Map<String, Value>,
        mut patch: Map<String, Value>,
        node: Option<&'static Node>,
    ) -> Result<Option<Value>, MergeError> {
        match directive::take_from_map(&mut patch) {
            Some(Directive::Delete) => return Ok(None),
            Some(Directive::Replace) => return self.adopt(Value::Object(patch), node),
            Some(Directive::Merge) | None => {}
        }
        let node = schema_at(schema_at(node, &dest), &patch);
        let mut merged = Map::new();
        for (name, value) in dest {
            let patched = patch.remove(&name);
            let value = self.within(&name, |walk| walk.pair(Some(value), patched, child(node, &name)))?;
            if let Some(value) = value {
                merged.insert(name, value);
            }
        }
        for (name, value) in patch {
            if let Some(value) = self.within(&name, |walk| walk.adopt(value, child(node, &name)))? {
                merged.insert(name, value);
            }
        }
        Ok(Some(Value::Object(merged)))
    }

    fn lists(
        &mut self,
        dest: Vec<Value>,
        mut patch: Vec<Value>,
        node: Option<&'static Node>,
    ) -> Result<Option<Value>, MergeError> {
        let Some(keys) = node.and_then(Node::merge_keys) else {
            self.refuse_directives(&patch)?;
            return Ok(Some(Value::Array(patch)));
        };
        match directive::take_from_list(&mut patch) {
            Some(Directive::Delete) => Ok(None),
            Some(Directive::Replace) => self.merged(patch, Patched::Itself, (keys, node)),
            Some(Directive::Merge) | None => self.merged(dest, Patched::By(patch), (keys, node)),
        }
    }

    fn merged(
        &mut self,
        dest: Vec<Value>,
        patch: Patched,
        (keys, node): (&'static [&'static str], Option<&'static Node>),
    ) -> Result<Option<Value>, MergeError> {
        let elements = dest.len() + patch.len();
        if elements > MAX_MERGED_ELEMENTS {
            return Err(MergeError::ListTooLong { path: self.pointer(), elements });
        }
        if keys.is_empty() {
            return Ok(Some(Value::Array(merge_list::plain_values(dest, patch))));
        }
        let merged = merge_list::by_key(self, dest, patch, keys, node.and_then(Node::elements))?;
        if merged.iter().any(|element| directive::of_map(element).is_some()) {
            return Err(MergeError::ElementTwice { path: self.pointer() });
        }
        Ok(Some(Value::Array(merged)))
    }

    fn refuse_directives(&self, elements: &[Value]) -> Result<(), MergeError> {
        if elements.iter().any(directive::occurs_in) {
            return Err(MergeError::DirectiveInPlainList { path: self.pointer() });
        }
        Ok(())
    }

    /// Runs `walk` one level down.
    pub(crate) fn within<T>(&mut self, name: &str, walk: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(name.replace('~', "~0").replace('/', "~1"));
        let result = walk(self);
        self.path.pop();
        result
    }

    /// Where the walk is, as a JSON pointer.
    pub(crate) fn pointer(&self) -> String {
        self.path.iter().fold(String::new(), |path, segment| path + "/" + segment)
    }
}

/// The node given, or that of an object which stands inside another one.
fn schema_at(node: Option<&'static Node>, fields: &Map<String, Value>) -> Option<&'static Node> {
    if node.is_some() || !fields.contains_key("apiVersion") {
        return node;
    }
    schema::of_fields(fields)
}

fn child(node: Option<&'static Node>, name: &str) -> Option<&'static Node> {
    node.and_then(|node| node.field(name))
}

/// A plain value over another one. A text that stands in quotes in YAML, for example `"1"`, keeps them in kustomize, and
/// so stays a text.
fn over(dest: &Value, patch: Value) -> Value {
    if dest.is_string()
        && !patch.is_string()
        && manifests_yaml::to_string(dest).starts_with(['"', '\'', '|', '>'])
    {
        return Value::String(patch.to_string());
    }
    patch
}

fn is_plain(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}
