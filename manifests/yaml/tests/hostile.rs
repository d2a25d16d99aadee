//! Texts that attack the reader, and values that attack the writer.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::fmt::Write as _;

use manifests_yaml::{MAX_ALIAS_TEXT_BYTES, MAX_DEPTH, Problem, documents, from_str, to_string};
use serde_json::{Value, json};

/// Deep enough to overflow any stack that recursion without bound would use.
const VERY_DEEP: usize = 100_000;

fn problem(text: &str) -> Problem {
    from_str(text).unwrap_err().problem
}

fn too_deep() -> Problem {
    Problem::TooDeep { limit: MAX_DEPTH }
}

#[test]
fn collections_nest_up_to_the_limit_and_no_deeper() {
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", ""), ("[a: ", "]")] {
        let text = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
        let levels = if open == "[a: " { MAX_DEPTH / 2 } else { MAX_DEPTH };
        if open != "? " {
            assert!(from_str(&text(levels)).is_ok(), "{open}");
        }
        assert_eq!(problem(&text(levels + 1)), too_deep(), "{open}");
        assert_eq!(problem(&text(VERY_DEEP)), too_deep(), "{open}");
    }
}

#[test]
fn brackets_that_never_close_are_refused_at_the_limit() {
    for open in ["[", "{", "[\n", "{\n", "[[a]: ", "{{a: 1}: "] {
        assert!(from_str(&open.repeat(VERY_DEEP)).is_err(), "{open}");
    }
    for close in ["]", "}", "],", "]: "] {
        assert!(from_str(&close.repeat(VERY_DEEP)).is_err(), "{close}");
    }
}

#[test]
fn indentation_without_end_is_refused_at_the_limit() {
    let mut text = String::new();
    for level in 0..1000 {
        writeln!(text, "{}a:", " ".repeat(level)).unwrap();
    }
    assert_eq!(problem(&text), too_deep());
}

#[test]
fn aliases_that_nest_are_refused_at_the_limit() {
    let mut text = "a0: &a0 [x]\n".to_owned();
    for level in 1..=MAX_DEPTH {
        writeln!(text, "a{level}: &a{level} [*a{}]", level - 1).unwrap();
    }
    assert_eq!(problem(&text), too_deep());
}

#[test]
fn aliases_that_multiply_are_refused() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        writeln!(text, "a{level}: &a{level} [{aliases}]").unwrap();
    }
    assert_eq!(problem(&text), Problem::ExcessiveAliasing);
}

#[test]
fn merge_keys_that_multiply_are_refused() {
    let mut text = "a0: &a0 {k: v}\n".to_owned();
    for level in 1..30 {
        let below = level - 1;
        writeln!(text, "a{level}: &a{level} {{<<: [*a{below}, *a{below}, *a{below}]}}").unwrap();
    }
    assert_eq!(problem(&text), Problem::ExcessiveAliasing);
}

#[test]
fn a_long_text_is_not_repeated_without_end() {
    let long = "x".repeat(1024 * 1024);
    let uses = |count: usize| format!("a: &a {long}\nb: [{}]", vec!["*a"; count].join(", "));
    let allowed = MAX_ALIAS_TEXT_BYTES / long.len();
    assert!(from_str(&uses(allowed)).is_ok());
    assert_eq!(problem(&uses(allowed + 1)), Problem::ExcessiveAliasing);
}

#[test]
fn an_anchor_within_itself_is_refused() {
    for text in ["&a [*a]", "&a {b: *a}", "&a {b: [{c: *a}]}", "&a {<<: *a}", "a: &a\n  <<: [*a]"] {
        assert_eq!(problem(text), Problem::RecursiveAnchor { name: "a".to_owned() }, "{text}");
    }
}

#[test]
fn numbers_of_any_length_are_read() {
    let nines = "9".repeat(100_000);
    assert_eq!(from_str(&nines).unwrap(), json!(nines), "too large for a float: a text");
    assert_eq!(from_str(&format!("0.{nines}")).unwrap(), json!(1));
    assert_eq!(from_str(&format!("1e-{nines}")).unwrap(), json!(0));
    assert_eq!(from_str(&format!("0x{nines}")).unwrap(), json!(format!("0x{nines}")));
    assert_eq!(from_str(&format!("{}1", "0".repeat(100_000))).unwrap(), json!(1));
    assert_eq!(from_str(&"1_".repeat(100)).unwrap().as_f64(), "1".repeat(100).parse().ok());
}

#[test]
fn long_texts_are_read_in_time_that_grows_with_their_length() {
    let megabyte = 1 << 20;
    for piece in [
        "a",
        "a ",
        "a\n",
        "a: 1\n",
        "- a\n",
        ",",
        ": ",
        "'' ",
        "\"\\x41",
        "# c\n",
        "&a ",
        "!a ",
        "*a ",
        "\t",
        "\u{2028}",
        "- [a, b]\n",
        "- {a: b}\n",
        "? a\n",
        "---\n",
        "{}\n",
        "%A\n",
        "  ",
    ] {
        let text = piece.repeat(megabyte / piece.len());
        let _ = from_str(&text);
        let _ = documents(&text);
        let _ = from_str(&format!("a: [{text}]"));
        let _ = from_str(&format!("a: |\n {text}"));
        let _ = from_str(&format!("a: \"{text}\""));
    }
}

#[test]
fn control_characters_are_refused_wherever_they_stand() {
    for text in [
        "\0",
        "a: \0",
        "a: 'x\u{1}'",
        "# \u{7f}",
        "a: |\n  \u{80}\n",
        "a: 1\n\u{ffff}",
        "\"\u{fffe}\"",
        "a: 1\0b: 2",
    ] {
        assert!(matches!(problem(text), Problem::ControlCharacter { .. }), "{text:?}");
    }
}

#[test]
fn values_of_any_depth_are_written() {
    let mut value = json!("x");
    for level in 0..1000 {
        value = if level % 2 == 0 { json!([value]) } else { json!({ "a": value }) };
    }
    assert_eq!(to_string(&value).lines().count(), 501);
}

#[test]
fn keys_without_a_transitive_order_are_written_in_one_order() {
    let keys = [
        "x10",
        "x1y",
        "x9",
        "1a",
        "9",
        "09",
        "10",
        "99999999999999999999",
        "9999999999999999999",
        "x99999999999999999999",
    ];
    let object =
        |keys: &[&str]| Value::Object(keys.iter().map(|key| ((*key).to_owned(), Value::Null)).collect());
    let expected = to_string(&object(&keys));
    for rotation in 1..keys.len() {
        let mut rotated = keys;
        rotated.rotate_left(rotation);
        assert_eq!(to_string(&object(&rotated)), expected);
    }
}

#[test]
fn texts_that_go_loses_are_kept() {
    for text in ["a\u{85}b", "a\u{7f}", "\u{80}", "\u{fffe}\u{ffff}", "\u{85}\n\u{85}"] {
        for value in
            [json!(text), json!({ "a": [text] }), json!({ text: 1 }), json!({ "k".repeat(2000): text })]
        {
            assert_eq!(from_str(&to_string(&value)), Ok(value), "{text:?}");
        }
    }
}
