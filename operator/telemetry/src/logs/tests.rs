//! Lines of events.

use std::{
    error::Error,
    fmt,
    io::Error as IoError,
    sync::{Arc, Mutex},
};

use proptest::prelude::*;
use serde_json::{Value, json};
use tracing::{Level, event, info, info_span, subscriber::with_default, warn};
use tracing_subscriber::{layer::SubscriberExt as _, registry};

use super::{
    LogEncoding::{self, Console, Json},
    LogLevel,
    fields::MAX_VALUE_BYTES,
    filter,
    lines::{Lines, MAX_LINE_BYTES},
};

/// What was logged meanwhile: one text a write.
fn logged(encoding: LogEncoding, log: impl FnOnce()) -> Vec<String> {
    let written = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&written);
    let lines = Lines::new(encoding, move |line: &[u8]| {
        sink.lock().unwrap().push(String::from_utf8(line.to_vec()).unwrap());
    });
    with_default(registry().with(lines), log);
    let written = written.lock().unwrap();
    written.clone()
}

/// The one line that was logged.
fn line(encoding: LogEncoding, log: impl FnOnce()) -> String {
    let written = logged(encoding, log);
    assert_eq!(written.len(), 1, "one write an event: {written:?}");
    let line = written[0].strip_suffix('\n').expect("a line has an end");
    assert!(!line.contains(char::is_control) || encoding == Console, "{line:?}");
    assert!(!line.contains(['\n', '\r', '\u{1b}', '\u{85}', '\u{2028}', '\u{2029}', '\u{202e}']), "{line:?}");
    assert!(line.len() < MAX_LINE_BYTES, "{}", line.len());
    line.to_owned()
}

/// The one line, without its time.
fn object(log: impl FnOnce()) -> Value {
    let mut object: Value = serde_json::from_str(&line(Json, log)).unwrap();
    object.as_object_mut().unwrap().remove("ts").expect("every line has a time");
    object
}

#[test]
fn a_line_is_the_one_that_zap_writes() {
    let oracle = include_str!("../../tests/data/lines.jsonl");
    for vector in oracle.lines() {
        let vector: Value = serde_json::from_str(vector).unwrap();
        let text = vector["text"].as_str().unwrap();
        let expected = vector["line"].as_str().unwrap();
        let actual = line(Json, || {
            info_span!("reconcile", controller = "fluxinstance", namespace = "flux-system", name = text)
                .in_scope(|| {
                    tracing::error!(
                        target: "flux_operator",
                        count = -3,
                        size = u64::MAX,
                        ratio = 0.25,
                        forced = true,
                        error = text,
                        "{text}"
                    );
                });
        });
        assert_eq!(members(&actual), members(expected));
    }
    assert_eq!(oracle.lines().count(), 12);
}

/// The keys in their order, with their values; of times, only their form.
fn members(line: &str) -> Vec<(String, Value)> {
    let object: serde_json::Map<String, Value> = serde_json::from_str(line).unwrap();
    let place = |key: &str| line.find(&format!("\"{key}\":")).unwrap();
    let mut members: Vec<_> = object.into_iter().collect();
    members.sort_by_key(|(key, _)| place(key));
    for (key, value) in &mut members {
        if key == "ts" {
            let digits = |text: &str| text.replace(|character: char| character.is_ascii_digit(), "0");
            *value = json!(digits(value.as_str().unwrap()));
        }
    }
    members
}

#[test]
fn every_level_has_its_name() {
    for (log, name) in [
        ((|| event!(target: "t", Level::TRACE, "m")) as fn(), "trace"),
        (|| event!(target: "t", Level::DEBUG, "m"), "debug"),
        (|| event!(target: "t", Level::INFO, "m"), "info"),
        (|| event!(target: "t", Level::WARN, "m"), "warn"),
        (|| event!(target: "t", Level::ERROR, "m"), "error"),
    ] {
        assert_eq!(object(log), json!({"level": name, "logger": "t", "msg": "m"}));
    }
}

#[test]
fn the_value_that_is_closest_to_the_event_wins() {
    let line = object(|| {
        let outer = info_span!("outer", name = "outer", kind = "a", late = tracing::field::Empty);
        outer.record("late", "recorded");
        outer.in_scope(|| {
            info_span!("inner", name = "inner").in_scope(|| info!(target: "t", kind = "b", "m"));
        });
    });
    let expected =
        json!({"level": "info", "logger": "t", "msg": "m", "name": "inner", "kind": "b", "late": "recorded"});
    assert_eq!(line, expected);
}

#[test]
fn a_field_with_the_name_of_a_key_does_not_hide_the_key() {
    let line = object(|| info!(target: "t", level = 1, ts = 2, logger = 3, msg = 4, r#type = 5, "m"));
    let expected = json!({
        "level": "info", "logger": "t", "msg": "m",
        "level_": 1, "ts_": 2, "logger_": 3, "msg_": 4, "type": 5,
    });
    assert_eq!(line, expected);
}

#[test]
fn odd_names_and_missing_messages_are_json_too() {
    let line = object(|| event!(target: "a\"b", Level::INFO, { "x\"y" = 1 }));
    assert_eq!(line, json!({"level": "info", "logger": "a\"b", "msg": "", "x\"y": 1}));
    let line = object(|| info!(target: "t", message = 7));
    assert_eq!(line["msg"], json!("7"));
}

#[test]
fn numbers_are_numbers_where_json_has_them() {
    let numbers = object(|| {
        info!(
            target: "t", small = i64::MIN, none = None::<u8>, nan = f64::NAN, infinite = f64::NEG_INFINITY,
            one = 1.0, huge = f64::MAX, list = ?[1, 2], "m"
        );
    });
    let expected = json!({
        "level": "info", "logger": "t", "msg": "m", "small": i64::MIN, "nan": "NaN", "infinite": "-inf",
        "one": 1, "huge": f64::MAX, "list": "[1, 2]",
    });
    assert_eq!(numbers, expected);
    let wide = line(Json, || info!(target: "t", wide = u128::MAX, "m"));
    assert!(wide.contains(&format!("\"wide\":{}", u128::MAX)), "{wide}");
}

/// An error whose cause is the same again, for ever.
#[derive(Debug)]
struct Endless;

impl fmt::Display for Endless {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("round")
    }
}

impl Error for Endless {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&Endless)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("failed to {step}")]
struct Failed {
    step: &'static str,
    source: IoError,
}

#[test]
fn an_error_tells_its_causes_once() {
    let error = |error: &(dyn Error + 'static)| object(|| warn!(target: "t", error, "m"))["error"].clone();
    let failed = Failed { step: "read", source: IoError::other("disk is full") };
    assert_eq!(error(&failed), json!("failed to read: disk is full"));
    assert_eq!(error(&Endless), json!("round"), "and ends");
}

#[test]
fn long_values_are_cut_and_never_end_in_half_a_character() {
    for text in ["a", "ü", "🦀", "\"", "\n", "\u{1}"] {
        let long = text.repeat(10 * MAX_VALUE_BYTES);
        let line = object(|| info!(target: "t", value = long, "{long}"));
        for key in ["value", "msg"] {
            let value = line[key].as_str().unwrap();
            let kept = value.strip_suffix('…').expect("the cut is shown");
            assert!(long.starts_with(kept));
            let encoded = serde_json::to_string(kept).unwrap().len() - 2;
            assert!((MAX_VALUE_BYTES - 6..=MAX_VALUE_BYTES).contains(&encoded), "{text:?}: {encoded}");
        }
    }
}

#[test]
fn fields_that_have_no_place_are_counted() {
    let long = "x".repeat(MAX_VALUE_BYTES);
    let line = object(|| info!(target: "t", a = long, b = long, c = long, d = long, short = 1, "{long}"));
    assert_eq!((line["b"].as_str().unwrap(), &line["short"]), (long.as_str(), &json!(1)));
    assert_eq!((line.get("c"), line.get("d"), &line["fieldsLeftOut"]), (None, None, &json!(2)));
}

/// A value that never stops printing unless it is told to.
struct Infinite;

impl fmt::Debug for Infinite {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        loop {
            formatter.write_str("again ")?;
        }
    }
}

#[test]
fn a_value_is_printed_no_further_than_it_is_shown() {
    let line = object(|| info!(target: "t", value = ?Infinite, "m"));
    assert!(line["value"].as_str().unwrap().ends_with('…'));
}

#[test]
fn passwords_in_urls_are_not_logged() {
    let url = "https://bob:secret@host/x";
    for encoding in [Json, Console] {
        let line = line(encoding, || {
            info_span!("s", around = url).in_scope(|| {
                let error: &(dyn Error + 'static) = &IoError::other(format!("GET {url}"));
                info!(target: "t", url, debug = ?url, error, "failed to get {url}");
            });
        });
        assert!(!line.contains("secret") && !line.contains("bob"), "{line}");
        assert_eq!(line.matches("https://host/x").count(), 5, "{line}");
    }
}

#[test]
fn the_console_shows_time_level_module_message_and_fields() {
    let line = line(
        Console,
        || info!(target: "flux_operator::serve", name = "a\"b", count = 2, "say \"hi\"\n\u{1b}[31m"),
    );
    let (time, rest) = line.split_once('\t').unwrap();
    assert_eq!(time.len(), "2026-12-01T00:00:00.000Z".len());
    let expected =
        "INFO\tflux_operator::serve\tsay \"hi\"\\n\\u001b[31m\t{\"name\": \"a\\\"b\", \"count\": 2}";
    assert_eq!(rest, expected);
    let bare = logged(Console, || info!(target: "t", "m"));
    assert!(bare[0].ends_with("\tINFO\tt\tm\n"), "{bare:?}");
}

#[test]
fn a_level_is_how_much_of_the_operator_and_of_its_libraries_is_logged() {
    for (level, own, others) in [
        (LogLevel::Trace, Level::TRACE, Level::TRACE),
        (LogLevel::Debug, Level::DEBUG, Level::WARN),
        (LogLevel::Info, Level::INFO, Level::WARN),
        (LogLevel::Error, Level::ERROR, Level::ERROR),
    ] {
        let filter = filter(level);
        for shown in [Level::TRACE, Level::DEBUG, Level::INFO, Level::WARN, Level::ERROR] {
            for target in ["flux_operator::serve", "operator_reconcile::flux_instance", "manifests"] {
                assert_eq!(filter.would_enable(target, &shown), shown <= own, "{level:?} {target} {shown}");
            }
            for target in ["kube_client::client", "hyper", "tower::buffer"] {
                assert_eq!(
                    filter.would_enable(target, &shown),
                    shown <= others,
                    "{level:?} {target} {shown}"
                );
            }
        }
    }
}

proptest! {
    #[test]
    fn any_text_comes_back_from_a_line(text in "\\PC*|[\\x00-\\x{2fff}]*") {
        prop_assume!(!text.contains("://"));
        let line = object(|| info!(target: "t", value = text, "{text}"));
        prop_assert_eq!(&line["value"], &json!(text));
        prop_assert_eq!(&line["msg"], &json!(text));
        let written = logged(Console, || info!(target: "t", value = text, "{text}"));
        prop_assert_eq!(written[0].matches('\n').count(), 1);
    }
}
