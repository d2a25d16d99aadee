//! Patterns match what they match in Go, from end to end. The answers come from `e2e/oracles/sigstore`.

use operator_oci::verify::Pattern;
use serde::Deserialize;

#[derive(Deserialize)]
struct Vectors {
    values: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    pattern: String,
    #[serde(default)]
    invalid: bool,
    #[serde(default)]
    matches: Vec<String>,
}

/// What RE2 reads and we refuse: each can be written in another way.
const REFUSED: [&str; 5] = [r".*\B.*", "a{,2}", "[a&&b]+", "[[a]b]+", r"\Qa.c\E"];

#[test]
fn a_pattern_matches_what_it_matches_in_go() {
    let vectors: Vectors = serde_json::from_str(include_str!("../vectors/patterns.json")).expect("vectors");
    let mut wrong = Vec::new();
    for row in &vectors.rows {
        let refused = row.invalid || REFUSED.contains(&row.pattern.as_str());
        let pattern = match Pattern::parse(&row.pattern) {
            Ok(pattern) if !refused => pattern,
            Err(_) if refused => continue,
            other => {
                wrong.push(format!("{}: {other:?}", row.pattern));
                continue;
            }
        };
        for value in &vectors.values {
            if pattern.matches(value) != row.matches.contains(value) {
                wrong.push(format!("{} and {value:?}: {}", row.pattern, pattern.matches(value)));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
