//! Reading objects of unknown shape.
//!
//! What decides for every kind is read strictly: a field of a wrong type is an error. What a rule of one kind
//! reads besides is as good as absent then. Both are how kstatus reads it, and so is that only integers that
//! fit 64 bits are integers: `1.0` is not.

use serde_json::{Map, Value};
use thiserror::Error;

/// A field that has another type than its place in the API asks for.
#[derive(Debug, Error)]
#[error("Status is not readable: {path} is {found} and must be {expected}")]
pub(super) struct Malformed {
    path: String,
    found: &'static str,
    expected: &'static str,
}

impl Malformed {
    pub(super) fn new(path: impl Into<String>, found: &Value, expected: &'static str) -> Self {
        let found = match found {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(number) if number.is_i64() => "an integer",
            Value::Number(_) => "a number that is no 64-bit integer",
            Value::String(_) => "a string",
            Value::Array(_) => "a list",
            Value::Object(_) => "a map",
        };
        Self { path: path.into(), found, expected }
    }
}

/// An object with its conditions.
pub(super) struct Observed<'a> {
    object: &'a Value,
    conditions: Vec<Condition<'a>>,
}

/// One of `status.conditions`; what is absent is empty.
#[derive(Default)]
pub(super) struct Condition<'a> {
    pub(super) kind: &'a str,
    pub(super) status: &'a str,
    pub(super) reason: &'a str,
    pub(super) message: &'a str,
}

impl<'a> Observed<'a> {
    pub(super) fn read(object: &'a Value) -> Result<Self, Malformed> {
        const PATH: &str = "status.conditions";
        let conditions = match field(object, PATH)? {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(list)) => list.iter().map(Condition::read).collect::<Result<_, _>>()?,
            Some(other) => return Err(Malformed::new(PATH, other, "a list")),
        };
        Ok(Self { object, conditions })
    }

    pub(super) fn conditions(&self) -> &[Condition<'a>] {
        &self.conditions
    }

    /// The first condition of this type that has this status.
    pub(super) fn condition(&self, kind: &str, status: &str) -> Option<&Condition<'a>> {
        self.conditions.iter().find(|condition| condition.kind == kind && condition.status == status)
    }

    /// The value at a dotted path, if there is one.
    pub(super) fn value(&self, path: &str) -> Option<&'a Value> {
        field(self.object, path).ok().flatten()
    }

    pub(super) fn text(&self, path: &str) -> Option<&'a str> {
        self.value(path)?.as_str()
    }

    pub(super) fn integer(&self, path: &str) -> Option<i64> {
        self.value(path)?.as_i64()
    }

    /// A counter of the status; controllers leave it out when it is zero.
    pub(super) fn count(&self, path: &str) -> i64 {
        self.integer(path).unwrap_or(0)
    }
}

impl<'a> Condition<'a> {
    fn read(item: &'a Value) -> Result<Self, Malformed> {
        match item {
            Value::Null => Ok(Self::default()),
            Value::Object(fields) => Ok(Self {
                kind: condition_text(fields, "type")?,
                status: condition_text(fields, "status")?,
                reason: condition_text(fields, "reason")?,
                message: condition_text(fields, "message")?,
            }),
            other => Err(Malformed::new("an item of status.conditions", other, "a map")),
        }
    }

    /// What a person is told: the reason and the message, or what there is of them.
    pub(super) fn explain(&self) -> String {
        match (self.reason.trim(), self.message.trim()) {
            ("", "") => format!("{} is {}", self.kind, self.status),
            (text, "") | ("", text) => text.to_owned(),
            (reason, message) => format!("{reason}: {message}"),
        }
    }
}

fn condition_text<'a>(fields: &'a Map<String, Value>, key: &str) -> Result<&'a str, Malformed> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(Malformed::new(format!("{key} of a condition"), other, "a string")),
    }
}

/// The value at a dotted path: none when it or a parent is absent, or a parent is null.
pub(super) fn field<'a>(object: &'a Value, path: &str) -> Result<Option<&'a Value>, Malformed> {
    let Value::Object(root) = object else {
        return Err(Malformed::new("the object", object, "a map"));
    };
    let mut keys = path.split('.');
    let mut value = keys.next().and_then(|key| root.get(key));
    for key in keys {
        value = match value {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Object(fields)) => fields.get(key),
            Some(other) => return Err(Malformed::new(format!("the parent of {key}"), other, "a map")),
        };
    }
    Ok(value)
}

/// The integer at a dotted path: none when [`field`] is none.
pub(super) fn integer(object: &Value, path: &str) -> Result<Option<i64>, Malformed> {
    let Some(value) = field(object, path)? else { return Ok(None) };
    value.as_i64().map(Some).ok_or_else(|| Malformed::new(path, value, "an integer"))
}
