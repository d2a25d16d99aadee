//! Broken rules of a definition, found without an API server.

use std::fmt;

/// The language of durations in the API: numbers with units, such as `1m30s` or `1.5h`.
pub(crate) const DURATION: &str = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$";

/// What [`DURATION`] asks for.
pub(crate) const NO_DURATION: &str =
    "must be a duration of numbers with the units ms, s, m and h, such as 1m30s";

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Path of the field, from the root of the object. Example: `spec.steps[1].name`.
    pub field: String,
    /// What the rule asks for; for CEL rules the very message of the API server.
    pub message: &'static str,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.field, self.message)
    }
}

/// Whether a rule is broken, the field below the object that the rules are for, and what the rule asks for.
pub(crate) type Check = (bool, &'static str, &'static str);

/// The broken ones of the rules for the object at a path.
pub(crate) fn broken(path: &str, checks: impl IntoIterator<Item = Check>) -> Vec<Violation> {
    let broken = checks.into_iter().filter(|(is_broken, ..)| *is_broken);
    broken.map(|(_, field, message)| Violation { field: format!("{path}{field}"), message }).collect()
}

/// The language of [`DURATION`].
pub(crate) fn is_duration(text: &str) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        let Some(after_number) = skip_number(rest) else { return false };
        let unit = ["ms", "s", "m", "h"].into_iter().find_map(|unit| after_number.strip_prefix(unit));
        let Some(after_unit) = unit else { return false };
        rest = after_unit;
    }
    !text.is_empty()
}

/// Whether a text is one of the schemes, `://`, and the rest of one line: the dot of a pattern ends at a line
/// break.
pub(crate) fn is_url_of(text: &str, schemes: &[&str]) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| schemes.contains(&scheme)) && !text.contains('\n')
}

/// Whether a text has more than so many characters, which is what `maxLength` counts.
pub(crate) fn is_longer_than(characters: usize, text: &str) -> bool {
    text.chars().nth(characters).is_some()
}

fn skip_number(text: &str) -> Option<&str> {
    let after_digits = skip_digits(text)?;
    match after_digits.strip_prefix('.') {
        Some(fraction) => skip_digits(fraction),
        None => Some(after_digits),
    }
}

fn skip_digits(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|character: char| character.is_ascii_digit());
    (rest.len() < text.len()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::{is_duration, is_longer_than, is_url_of};

    #[test]
    fn durations_are_numbers_with_units() {
        for good in ["1m", "30s", "1h30m", "1.5h", "250ms", "1m30.5s", "0s"] {
            assert!(is_duration(good), "{good}");
        }
        for bad in ["", "1", "m", "1d", "-1m", "1.m", ".5s", "1m ", " 1m", "1m30", "1us", "1,5h", "1m\n"] {
            assert!(!is_duration(bad), "{bad}");
        }
    }

    #[test]
    fn urls_have_a_known_scheme_and_one_line() {
        for good in ["oci://a/b", "http://", "http://a://b"] {
            assert!(is_url_of(good, &["http", "oci"]), "{good}");
        }
        for bad in ["", "oci:/a", "OCI://a", "https://a", " oci://a", "oci://a\n", "://a"] {
            assert!(!is_url_of(bad, &["http", "oci"]), "{bad:?}");
        }
    }

    #[test]
    fn lengths_count_characters() {
        assert!(!is_longer_than(2, "äö"));
        assert!(is_longer_than(2, "abc"));
    }
}
