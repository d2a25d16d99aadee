//! The answers of Go's library, case by case.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

use manifests_yaml::{documents, from_str, from_str_strict, to_string};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Cases<T> {
    cases: Vec<T>,
}

#[derive(Deserialize)]
struct ReadCase {
    input: String,
    result: String,
    strict: String,
    #[serde(default)]
    output: Value,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
struct StreamCase {
    input: String,
    result: String,
    output: Vec<StreamDocument>,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
struct StreamDocument {
    value: Value,
    line: Option<usize>,
}

#[derive(Deserialize)]
struct WriteCase {
    input: Value,
    output: String,
}

/// Reads a vector file; `YAML_VECTORS` names the folder of a larger set, made with another seed.
fn cases<T: for<'a> Deserialize<'a>>(name: &str, at_least: usize) -> Vec<T> {
    let folder = std::env::var("YAML_VECTORS")
        .unwrap_or_else(|_| format!("{}/tests/vectors", env!("CARGO_MANIFEST_DIR")));
    let path = format!("{folder}/{name}");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let cases = serde_json::from_str::<Cases<T>>(&text).unwrap().cases;
    assert!(cases.len() >= at_least, "{path} has {} cases", cases.len());
    cases
}

fn report(failures: &[String]) {
    let shown: Vec<_> = failures.iter().take(30).map(String::as_str).collect();
    assert!(failures.is_empty(), "{} cases differ:\n{}", failures.len(), shown.join("\n"));
}

#[test]
fn go_and_this_reader_agree_on_every_text() {
    let mut failures = Vec::new();
    for case in cases::<ReadCase>("read.json", 9000) {
        match (from_str(&case.input), case.result.as_str()) {
            (Ok(value), "OK") if value == case.output => {}
            (Err(_), "ERR") => {}
            (Ok(value), _) => {
                failures.push(format!("{:?}: {value}, Go: {} {}", case.input, case.output, case.message));
            }
            (Err(error), _) => failures.push(format!("{:?}: {error}, Go: {}", case.input, case.output)),
        }
    }
    report(&failures);
}

#[test]
fn go_and_this_reader_agree_on_equal_keys() {
    let mut failures = Vec::new();
    for case in cases::<ReadCase>("read.json", 9000) {
        let result = from_str_strict(&case.input);
        if result.is_ok() != (case.strict == "OK") {
            failures.push(format!("{:?}: {result:?}, Go: {}", case.input, case.strict));
        }
    }
    report(&failures);
}

#[test]
fn go_and_this_reader_agree_on_every_stream() {
    let mut failures = Vec::new();
    for case in cases::<StreamCase>("stream.json", 400) {
        match (documents(&case.input), case.result.as_str()) {
            (Err(_), "ERR") => {}
            (Ok(found), "OK")
                if found.len() == case.output.len()
                    && found.iter().zip(&case.output).all(|(ours, go)| {
                        ours.value == go.value && go.line.is_none_or(|line| line == ours.line)
                    }) => {}
            (found, _) => {
                let go: Vec<_> =
                    case.output.iter().map(|document| (document.line, document.value.to_string())).collect();
                failures.push(format!("{:?}: {found:?}, Go: {go:?} {}", case.input, case.message));
            }
        }
    }
    report(&failures);
}

#[test]
fn go_and_this_writer_print_the_same_bytes() {
    let mut failures = Vec::new();
    for case in cases::<WriteCase>("write.json", 5000) {
        let text = to_string(&case.input);
        if text != case.output {
            failures.push(format!("{}\n  ours {text:?}\n  Go   {:?}", case.input, case.output));
        }
    }
    report(&failures);
}
