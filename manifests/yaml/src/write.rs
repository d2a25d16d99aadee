//! Values to text, in the layout of Go's `yaml.Marshal`.

mod page;
mod scalar;

use std::slice;
use std::vec;

use serde_json::{Number, Value};

use crate::number;
use crate::order::sort_keys;
use page::{Gap, Page};
use scalar::{Context, Text};

/// Longer keys, in bytes, are written behind `? `.
const MAX_SIMPLE_KEY_BYTES: usize = 128;

/// Prints a value as Go's `yaml.JSONToYAML` prints its JSON, with a line break at the end.
///
/// Keys are sorted (numbers within them by value), lists in mappings are not indented, texts with line breaks are
/// literal blocks, other long texts fold behind column 80, and a text that would read as something else is
/// quoted. Floats print in Go's format `g`: 100000000.0 is `1e+08`.
#[must_use]
pub fn to_string(value: &Value) -> String {
    let mut writer = Writer { page: Page::new(), open: Vec::new() };
    writer.node(value, Place::Root);
    while let Some(mut collection) = writer.open.pop() {
        if let Some((child, place)) = writer.step(&mut collection) {
            writer.open.push(collection);
            writer.node(child, place);
        } else {
            writer.page.indent = collection.outer_indent();
        }
    }
    writer.page.finish()
}

/// Where a value stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Item,
    Value,
}

/// A collection that is written in part.
enum Collection<'a> {
    List { items: slice::Iter<'a, Value>, outer_indent: Option<usize> },
    Mapping { entries: vec::IntoIter<(&'a str, &'a Value)>, outer_indent: Option<usize> },
}

impl Collection<'_> {
    fn outer_indent(&self) -> Option<usize> {
        match self {
            Self::List { outer_indent, .. } | Self::Mapping { outer_indent, .. } => *outer_indent,
        }
    }
}

/// Keeps the open collections itself, so that depth costs no stack.
struct Writer<'a> {
    page: Page,
    open: Vec<Collection<'a>>,
}

impl<'a> Writer<'a> {
    /// Writes a scalar or an empty collection, or opens a collection.
    fn node(&mut self, value: &'a Value, place: Place) {
        match value {
            Value::Null => self.plain("null"),
            Value::Bool(value) => self.plain(if *value { "true" } else { "false" }),
            Value::Number(number) => self.plain(&number_text(number)),
            Value::String(text) => scalar::write(&mut self.page, &Text::new(text), Context::Value),
            Value::Array(items) if items.is_empty() => self.empty("[", "]"),
            Value::Object(entries) if entries.is_empty() => self.empty("{", "}"),
            Value::Array(items) => {
                let outer_indent = self.page.indent;
                // The dashes of a list stand below the key it belongs to.
                if place != Place::Value || self.page.is_at_indent {
                    self.page.indent_block();
                }
                self.open.push(Collection::List { items: items.iter(), outer_indent });
            }
            Value::Object(entries) => {
                let outer_indent = self.page.indent;
                self.page.indent_block();
                let mut entries: Vec<_> = entries.iter().map(|(key, value)| (key.as_str(), value)).collect();
                sort_keys(&mut entries, |(key, _)| key);
                self.open.push(Collection::Mapping { entries: entries.into_iter(), outer_indent });
            }
        }
    }

    /// Writes what stands in front of the next child, or says that there is none.
    fn step(&mut self, collection: &mut Collection<'a>) -> Option<(&'a Value, Place)> {
        match collection {
            Collection::List { items, .. } => {
                let item = items.next()?;
                self.page.start_line();
                self.page.block_indicator("-");
                Some((item, Place::Item))
            }
            Collection::Mapping { entries, .. } => {
                let (key, value) = entries.next()?;
                self.key(key);
                Some((value, Place::Value))
            }
        }
    }

    fn key(&mut self, key: &str) {
        let text = Text::new(key);
        self.page.start_line();
        if !text.has_breaks() && key.len() <= MAX_SIMPLE_KEY_BYTES {
            scalar::write(&mut self.page, &text, Context::SimpleKey);
            self.page.indicator(":", Gap::None);
        } else {
            self.page.block_indicator("?");
            scalar::write(&mut self.page, &text, Context::Value);
            self.page.start_line();
            self.page.block_indicator(":");
        }
    }

    fn plain(&mut self, text: &str) {
        self.page.indicator(text, Gap::Space);
    }

    fn empty(&mut self, open: &str, close: &str) {
        self.page.indicator(open, Gap::Space);
        self.page.indicator(close, Gap::None);
    }
}

fn number_text(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => number::print(float),
        _ => number.to_string(),
    }
}
