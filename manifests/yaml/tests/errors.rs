//! What errors say, and where they point.

use manifests_yaml::{ReadError, documents, from_str, from_str_strict};

fn place(error: &ReadError) -> (usize, usize) {
    (error.line, error.column)
}

#[test]
fn errors_name_line_column_problem_and_fix() {
    for (text, message) in [
        ("a: 1\nb: `x", "line 2, column 4: '`' cannot start a value; put the value in quotes"),
        (
            "a: b: c",
            "line 1, column 5: a mapping value is not allowed here; check the indentation, or put a text with ': ' in quotes",
        ),
        (
            "a: 1\nb\nc: 2",
            "line 2, column 1: expected ':' after this key; a key is one line of at most 1024 characters, followed by ': '",
        ),
        ("a:\n\tb: 1", "line 2, column 1: a tab is not allowed as indentation; use spaces"),
        ("a: [1\nb: 2", "line 2, column 2: expected ',' or ']' in the list that starts in line 1"),
        (
            "a: 1\nb: \"x",
            "line 2, column 4: the quoted text that starts in line 2 has no end; close the quote",
        ),
        (
            "a: *b",
            "line 1, column 4: there is no anchor '&b' before this alias; define it, or put the text in quotes",
        ),
        ("a:\n  b: .inf", "line 2, column 6: .inf has no JSON form; put it in quotes if it is a text"),
        ("null: 1", "line 1, column 1: a key must be a text, a number or a boolean, not a null"),
        ("? [a]\n: 1", "line 1, column 3: a key must be a text, a number or a boolean, not a list"),
        ("a: !!int x", "line 1, column 4: the value is a text, not an integer, as its tag says"),
        ("<<: 1", "line 1, column 5: '<<' needs a mapping, or a list of mappings"),
        (
            "a: é\u{1}",
            "line 1, column 5: control character U+0001 is not allowed; remove it, or write it as an escape in double quotes",
        ),
        ("a: \"\\q\"", "line 1, column 5: unknown escape in double quotes; write '\\\\' for a backslash"),
        ("%YAML 1.2\n---\na", "line 1, column 1: YAML 1.2 is not supported; remove the %YAML line"),
    ] {
        assert_eq!(from_str(text).unwrap_err().to_string(), message, "{text:?}");
    }
}

#[test]
fn equal_keys_are_named_where_the_second_one_stands() {
    let error = from_str_strict("a: 1\nb:\n  c: 1\n  c: 2\n").unwrap_err();
    assert_eq!(error.to_string(), "line 4, column 3: key \"c\" is already set in this mapping");
}

#[test]
fn lines_of_errors_count_from_the_start_of_the_stream() {
    assert_eq!(place(&documents("a: 1\n---\nb: 2\nc: `\n").unwrap_err()), (4, 4));
    assert_eq!(place(&documents("---\na: 1\n---\n# c\n\nb: ]\n").unwrap_err()), (6, 4));
    assert_eq!(place(&documents("{\"a\": 1}\n\n---\nb: ]\n").unwrap_err()), (4, 4));
    assert_eq!(place(&documents("a: 1\n--- b\n").unwrap_err()), (2, 4));
    assert_eq!(place(&documents("{\"a\": 1}\n{\"b\": 1}\n{\"c\" 1}\n").unwrap_err()), (3, 6));
}

#[test]
fn documents_know_the_line_they_start_in() {
    let lines = |text| documents(text).unwrap().iter().map(|document| document.line).collect::<Vec<_>>();
    assert_eq!(lines("# c\n\na: 1\n---\n\n# d\n--- # e\n\nb: 2\n"), [3, 9]);
    assert_eq!(lines("{\"a\": 1}\n\n{\"b\": 1} {\"c\": 1}\n"), [1, 3, 3]);
    assert_eq!(lines("{\"a\": 1}\n---\nb: 1\n"), [1, 3]);
}
