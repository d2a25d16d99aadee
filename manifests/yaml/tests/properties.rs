//! What holds for any text and any value.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use manifests_yaml::{documents, from_str, from_str_strict, to_string};
use proptest::prelude::*;
use serde_json::{Map, Number, Value};

/// Fragments that mean something to YAML, so that random texts reach more than the first error.
const PIECES: &[&str] = &[
    "a",
    "b: ",
    "- ",
    "\n",
    "\n  ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    ": ",
    "? ",
    "&x ",
    "*x",
    "!t ",
    "!!int ",
    "|\n",
    ">-\n",
    "'",
    "\"",
    "#",
    "\t",
    "---\n",
    "...\n",
    "%YAML 1.1\n",
    "<<: ",
    "\\",
    "1",
    "~",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "\r\n",
];

fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![prop::sample::select(PIECES).prop_map(str::to_owned), ".{0,3}"];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

fn numbers() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<i64>().prop_map(Number::from),
        any::<u64>().prop_map(Number::from),
        any::<f64>().prop_filter_map("infinity is no JSON", Number::from_f64),
        (-1000.0..1000.0_f64).prop_filter_map("infinity is no JSON", Number::from_f64),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        numbers().prop_map(Value::Number),
        texts().prop_map(Value::String),
        any::<String>().prop_map(Value::String),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec((texts(), inner), 0..5)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Reading makes an integer of every number that prints without fraction and exponent, so numbers are compared
/// by value.
fn by_value(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() => Value::from(format!("{:e}", float + 0.0)),
            _ => Value::from(format!("{:e}", number.as_f64().unwrap())),
        },
        Value::Array(items) => items.into_iter().map(by_value).collect(),
        Value::Object(entries) => {
            entries.into_iter().map(|(key, value)| (key, by_value(value))).collect::<Map<_, _>>().into()
        }
        other => other,
    }
}

/// Go prints such a key without quotes, and then reads it as something else.
fn has_merge_key(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_merge_key),
        Value::Object(entries) => entries.iter().any(|(key, value)| key == "<<" || has_merge_key(value)),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_reads_back(value in values()) {
        prop_assume!(!has_merge_key(&value));
        let text = to_string(&value);
        let read = from_str_strict(&text);
        prop_assert!(read.is_ok(), "{:?} for {:?}", read, text);
        prop_assert_eq!(by_value(read.unwrap()), by_value(value), "{:?}", text);
    }

    #[test]
    fn what_is_read_is_written_to_the_same_value(text in texts()) {
        if let Ok(value) = from_str(&text) && !has_merge_key(&value) {
            prop_assert_eq!(from_str(&to_string(&value)).map(by_value), Ok(by_value(value)));
        }
    }

    #[test]
    fn no_text_stops_the_reader(text in any::<String>()) {
        let _ = from_str(&text);
        let _ = documents(&text);
    }

    #[test]
    fn errors_point_into_the_text(text in texts()) {
        for error in [from_str(&text).err(), documents(&text).err()].into_iter().flatten() {
            let lines = text.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']).count();
            prop_assert!(error.line >= 1 && error.line <= lines + 1, "{} in {:?}", error, text);
            prop_assert!(error.column >= 1 && error.column <= text.chars().count() + 4, "{} in {:?}", error, text);
        }
    }

    #[test]
    fn strict_reading_only_refuses_more(text in texts()) {
        if let Ok(value) = from_str_strict(&text) {
            prop_assert_eq!(from_str(&text), Ok(value));
        }
    }
}
