//! The fields of events and spans.

use std::{
    error::Error,
    fmt::{self, Write as _},
};

use tracing::field::{Field, Visit};

use crate::text::CutText;

/// The most bytes that a value takes in a line, its quotes and the sign for a cut left aside.
pub(super) const MAX_VALUE_BYTES: usize = 4 * 1024;

/// The most causes of an error that are told; more are a loop.
const MAX_CAUSES: usize = 16;

/// What stands where text was cut.
const CUT: char = '…';

/// The value of a field.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// Text, of at most [`MAX_VALUE_BYTES`].
    Text(CutText),
    /// A number, `true` or `false`.
    Bare(String),
}

impl Value {
    /// The value in JSON.
    pub(super) fn to_json(&self) -> String {
        match self {
            Self::Text(text) => {
                format!("\"{}\"", escaped(&text.without_userinfo(), text.is_cut(), json_escape))
            }
            Self::Bare(value) => value.clone(),
        }
    }

    /// The value as a JSON text, whatever it is.
    pub(super) fn to_json_text(&self) -> String {
        match self {
            Self::Text(_) => self.to_json(),
            Self::Bare(value) => format!("\"{value}\""),
        }
    }

    /// The value on one line, for people: what no terminal should act on is escaped.
    pub(super) fn to_plain(&self) -> String {
        match self {
            Self::Text(text) => escaped(&text.without_userinfo(), text.is_cut(), control_escape),
            Self::Bare(value) => value.clone(),
        }
    }
}

/// A JSON text.
pub(super) fn quote(text: &str) -> String {
    format!("\"{}\"", escaped(text, false, json_escape))
}

/// Text with some characters escaped, of at most [`MAX_VALUE_BYTES`] and the sign for a cut.
fn escaped(text: &str, mut cut: bool, escape: fn(char) -> Option<String>) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        let before = line.len();
        match escape(character) {
            Some(escape) => line.push_str(&escape),
            None => line.push(character),
        }
        if line.len() > MAX_VALUE_BYTES {
            line.truncate(before);
            cut = true;
            break;
        }
    }
    if cut {
        line.push(CUT);
    }
    line
}

/// What JSON must not hold as it is, and what is escaped everywhere.
fn json_escape(character: char) -> Option<String> {
    match character {
        '"' => Some("\\\"".to_owned()),
        '\\' => Some("\\\\".to_owned()),
        _ => control_escape(character),
    }
}

/// What ends a line, moves a cursor or turns the direction of writing.
fn control_escape(character: char) -> Option<String> {
    match character {
        '\n' => Some("\\n".to_owned()),
        '\r' => Some("\\r".to_owned()),
        '\t' => Some("\\t".to_owned()),
        '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some(unicode(character))
        }
        _ if character.is_control() => Some(unicode(character)),
        _ => None,
    }
}

fn unicode(character: char) -> String {
    format!("\\u{:04x}", u32::from(character))
}

/// Fields in the order in which they were named first; a later value takes the place of an earlier one.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields(Vec<(&'static str, Value)>);

impl Fields {
    /// The fields, as they were set.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }

    /// Takes a field out.
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        let place = self.0.iter().position(|(other, _)| *other == name)?;
        Some(self.0.remove(place).1)
    }

    /// Adds fields that stand closer to the event.
    pub(super) fn extend(&mut self, fields: Self) {
        for (name, value) in fields.0 {
            self.set(name, value);
        }
    }

    fn set(&mut self, name: &'static str, value: Value) {
        match self.0.iter_mut().find(|(other, _)| *other == name) {
            Some((_, place)) => *place = value,
            None => self.0.push((name, value)),
        }
    }

    fn record(&mut self, field: &Field, value: Value) {
        let name = field.name();
        self.set(name.strip_prefix("r#").unwrap_or(name), value);
    }

    fn record_text(&mut self, field: &Field, value: &dyn fmt::Display) {
        self.record(field, Value::Text(CutText::of(value, MAX_VALUE_BYTES)));
    }

    fn record_bare(&mut self, field: &Field, value: &dyn ToString) {
        self.record(field, Value::Bare(value.to_string()));
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_text(field, &format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_text(field, &value);
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.record(field, Value::Text(causes(value)));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        // JSON has no word for the others.
        if value.is_finite() { self.record_bare(field, &value) } else { self.record_text(field, &value) }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.record_bare(field, &value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.record_bare(field, &value);
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        self.record_bare(field, &value);
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        self.record_bare(field, &value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.record_bare(field, &value);
    }
}

/// An error and its causes, those left out that the one before tells already.
fn causes(error: &(dyn Error + 'static)) -> CutText {
    let mut told = CutText::of(&error, MAX_VALUE_BYTES);
    let mut cause = error.source();
    for _ in 0..MAX_CAUSES {
        let Some(error) = cause else { break };
        let text = CutText::of(&error, MAX_VALUE_BYTES);
        if !told.as_written().ends_with(text.as_written()) && write!(told, ": {}", text.as_written()).is_err()
        {
            break;
        }
        cause = error.source();
    }
    told
}
