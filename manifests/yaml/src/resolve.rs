//! What a scalar means: `goyaml.v2`'s rules, which are those of YAML 1.1 without base 60.

use crate::compose::{CORE_TAG_PREFIX, Scalar};
use crate::error::Problem;
use crate::number::{self, Number};
use crate::timestamp::is_timestamp;

/// A scalar that has its meaning.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Resolved {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
}

/// The meaning of a scalar, by its tag if it has one, or else by its look if it is plain.
pub(crate) fn resolve(scalar: &Scalar) -> Result<Resolved, Problem> {
    let text = scalar.value.as_str();
    let Some(tag) = scalar.tag.as_deref() else {
        return Ok(if scalar.is_implicit {
            by_look(text).meaning(text)
        } else {
            Resolved::Text(text.to_owned())
        });
    };
    match tag.strip_prefix(CORE_TAG_PREFIX) {
        Some("bool") => by_tag(text, Look::is_bool, "a boolean"),
        Some("int") => by_tag(text, Look::is_integer, "an integer"),
        Some("null") => by_tag(text, |look| *look == Look::Null, "null"),
        Some("timestamp") => by_tag(text, |look| *look == Look::Timestamp, "a timestamp"),
        Some("float") => float_by_tag(text),
        Some("binary") => base64(text).map(Resolved::Text).ok_or(Problem::InvalidBase64),
        _ => Ok(Resolved::Text(text.to_owned())),
    }
}

/// Whether a plain scalar of this text would be a text.
pub(crate) fn is_text(text: &str) -> bool {
    by_look(text) == Look::Text
}

/// What a plain scalar looks like.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Look {
    Null,
    Bool(bool),
    Number(Number),
    Timestamp,
    Text,
}

impl Look {
    fn meaning(self, text: &str) -> Resolved {
        match self {
            Self::Null => Resolved::Null,
            Self::Bool(value) => Resolved::Bool(value),
            Self::Number(number) => Resolved::Number(number),
            Self::Timestamp | Self::Text => Resolved::Text(text.to_owned()),
        }
    }

    fn is_bool(&self) -> bool {
        matches!(self, Self::Bool(_))
    }

    fn is_integer(&self) -> bool {
        matches!(self, Self::Number(Number::Integer(_) | Number::Unsigned(_)))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(Number::Float(_)) => "a float",
            Self::Number(_) => "an integer",
            Self::Timestamp => "a timestamp",
            Self::Text => "a text",
        }
    }
}

fn by_look(text: &str) -> Look {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Look::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Look::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Look::Bool(false)
        }
        ".nan" | ".NaN" | ".NAN" => Look::Number(Number::Float(f64::NAN)),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Look::Number(Number::Float(f64::INFINITY)),
        "-.inf" | "-.Inf" | "-.INF" => Look::Number(Number::Float(f64::NEG_INFINITY)),
        _ => match text.as_bytes().first() {
            Some(b'.') => {
                number::parse_fraction(text).map_or(Look::Text, |float| Look::Number(Number::Float(float)))
            }
            Some(b'0'..=b'9' | b'+' | b'-') if is_timestamp(text) => Look::Timestamp,
            Some(b'0'..=b'9' | b'+' | b'-') => number::parse(text).map_or(Look::Text, Look::Number),
            _ => Look::Text,
        },
    }
}

fn by_tag(text: &str, fits: fn(&Look) -> bool, wanted: &'static str) -> Result<Resolved, Problem> {
    let look = by_look(text);
    if fits(&look) {
        Ok(look.meaning(text))
    } else {
        Err(Problem::TagMismatch { found: look.name(), wanted })
    }
}

fn float_by_tag(text: &str) -> Result<Resolved, Problem> {
    match by_look(text) {
        Look::Number(Number::Float(float)) => Ok(Resolved::Number(Number::Float(float))),
        #[expect(clippy::cast_precision_loss, reason = "the nearest float is what is asked for")]
        Look::Number(Number::Integer(integer)) => Ok(Resolved::Number(Number::Float(integer as f64))),
        look => Err(Problem::TagMismatch { found: look.name(), wanted: "a float" }),
    }
}

/// Decodes standard base64, line breaks anywhere. Bytes that are no UTF-8 become U+FFFD one by one, as in Go's
/// JSON.
fn base64(text: &str) -> Option<String> {
    let symbols: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\n' | b'\r')).collect();
    if !symbols.len().is_multiple_of(4) {
        return None;
    }
    let groups = symbols.len() / 4;
    let mut bytes = Vec::with_capacity(groups * 3);
    for (index, group) in symbols.chunks(4).enumerate() {
        let padding = if index + 1 == groups {
            group.iter().rev().take_while(|byte| **byte == b'=').count()
        } else {
            0
        };
        if padding > 2 {
            return None;
        }
        let mut bits: u32 = 0;
        for symbol in group.iter().take(4 - padding) {
            bits = (bits << 6) | sextet(*symbol)?;
        }
        bits <<= 6 * padding;
        let [_, decoded @ ..] = bits.to_be_bytes();
        bytes.extend(decoded.iter().take(3 - padding));
    }
    Some(bytes.utf8_chunks().fold(String::new(), |mut text, chunk| {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
        text
    }))
}

fn sextet(symbol: u8) -> Option<u32> {
    let value = match symbol {
        b'A'..=b'Z' => symbol - b'A',
        b'a'..=b'z' => symbol - b'a' + 26,
        b'0'..=b'9' => symbol - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}
