//! `$patch` and its relatives: instructions inside a strategic merge patch.

use serde_json::{Map, Value};

const KEY: &str = "$patch";

/// Directives that kubectl knows and kustomize ignores: they would end up in the object.
const UNSUPPORTED: [&str; 3] = ["$setElementOrder", "$deleteFromPrimitiveList", "$retainKeys"];

/// What `$patch` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Directive {
    Delete,
    Replace,
    Merge,
}

impl Directive {
    fn read(value: &Value) -> Option<Self> {
        match value.as_str()? {
            "delete" => Some(Self::Delete),
            "replace" => Some(Self::Replace),
            "merge" => Some(Self::Merge),
            _ => None,
        }
    }
}

/// Why a patch holds an instruction that cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DirectiveError {
    /// A directive that this implementation does not follow.
    #[error("{path}: `{name}` is not supported; use a JSON 6902 patch with a target instead")]
    Unsupported {
        /// Where, as a JSON pointer.
        path: String,
        /// The key as the patch has it.
        name: String,
    },
    /// `$patch` with an unknown value.
    #[error("{path}: `$patch: {value}` is unknown; use delete, replace or merge")]
    Unknown {
        /// Where, as a JSON pointer.
        path: String,
        /// The value as the patch has it.
        value: String,
    },
}

/// Refuses directives that cannot be followed, anywhere in a patch.
pub(crate) fn check(patch: &Value) -> Result<(), DirectiveError> {
    let mut open = vec![(String::new(), patch)];
    while let Some((path, value)) = open.pop() {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    let place = format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
                    let family = name.split_once('/').map_or(name.as_str(), |(family, _)| family);
                    if UNSUPPORTED.contains(&family) {
                        return Err(DirectiveError::Unsupported { path: place, name: name.clone() });
                    }
                    if name == KEY && Directive::read(field).is_none() {
                        let value = field.as_str().map_or_else(|| field.to_string(), str::to_owned);
                        return Err(DirectiveError::Unknown { path: place, value });
                    }
                    open.push((place, field));
                }
            }
            Value::Array(elements) => {
                open.extend(elements.iter().enumerate().map(|(i, element)| (format!("{path}/{i}"), element)));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Reads the directive of a map and removes it.
pub(crate) fn take_from_map(fields: &mut Map<String, Value>) -> Option<Directive> {
    Directive::read(&fields.remove(KEY)?)
}

/// Reads the directive of a list and removes it: the first element that has one, if it has nothing else.
pub(crate) fn take_from_list(elements: &mut Vec<Value>) -> Option<Directive> {
    let first = elements.iter().filter_map(Value::as_object).find(|fields| fields.contains_key(KEY))?;
    if first.len() > 1 {
        return None;
    }
    let directive = Directive::read(first.get(KEY)?)?;
    elements.retain(|element| of_map(element) != Some(directive));
    Some(directive)
}

/// The directive of a map, which stays in it.
pub(crate) fn of_map(map: &Value) -> Option<Directive> {
    Directive::read(map.get(KEY)?)
}

/// True when a directive stands anywhere in `value`.
pub(crate) fn occurs_in(value: &Value) -> bool {
    let mut open = vec![value];
    while let Some(next) = open.pop() {
        match next {
            Value::Object(fields) if fields.contains_key(KEY) => return true,
            Value::Object(fields) => open.extend(fields.values()),
            Value::Array(elements) => open.extend(elements),
            _ => {}
        }
    }
    false
}
