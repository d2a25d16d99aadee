//! Size and depth of values, to keep patches from exploding.

use serde_json::Value;

/// Bytes of the compact JSON of a value, without the escapes of strings.
pub(crate) fn size(value: &Value) -> usize {
    let mut bytes = 0_usize;
    let mut open = vec![value];
    while let Some(next) = open.pop() {
        bytes = bytes.saturating_add(match next {
            Value::Null | Value::Bool(true) => 4,
            Value::Bool(false) => 5,
            Value::Number(number) => number.to_string().len(),
            Value::String(text) => text.len() + 2,
            Value::Array(elements) => {
                open.extend(elements);
                elements.len() + 2
            }
            Value::Object(fields) => {
                open.extend(fields.values());
                fields.keys().map(|key| key.len() + 4).sum::<usize>() + 2
            }
        });
    }
    bytes
}

/// Levels of nesting: 1 for a plain value or an empty map.
pub(crate) fn depth(value: &Value) -> usize {
    let mut deepest = 0;
    let mut open = vec![(value, 1)];
    while let Some((next, level)) = open.pop() {
        deepest = deepest.max(level);
        match next {
            Value::Array(elements) => open.extend(elements.iter().map(|element| (element, level + 1))),
            Value::Object(fields) => open.extend(fields.values().map(|field| (field, level + 1))),
            _ => {}
        }
    }
    deepest
}

/// The name of a value's type, as an error says it.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}
