//! The text of a version, cut into its parts: the same shape serves versions and the operands of ranges.

/// What counts as blank between the words of a range: Go's `\s`, which is ASCII and without vertical tab.
pub(super) const BLANK: [char; 5] = [' ', '\t', '\n', '\u{c}', '\r'];

/// The parts of `[v]N[.N[.N]][-prerelease][+metadata]`, as written and without their punctuation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts<'t> {
    pub major: &'t str,
    pub minor: Option<&'t str>,
    pub patch: Option<&'t str>,
    pub prerelease: Option<&'t str>,
    pub metadata: Option<&'t str>,
}

/// A number of a version: decimal digits.
pub(super) fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// A number in a range. `|` is one of them in Go's expression, which lets `1||2 - 3` read `1||2` as the lower
/// end of a hyphen range; numbers with a `|` that survive the split into alternatives are refused later.
pub(super) fn is_digit_or_wildcard(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, 'x' | 'X' | '*' | '|')
}

/// Reads the longest version at the start of the text; returns it with what follows it.
pub(super) fn leading_version(text: &str, number: fn(char) -> bool) -> Option<(Parts<'_>, &str)> {
    let (major, mut rest) = run(text.strip_prefix('v').unwrap_or(text), number)?;
    let mut numbers = [None, None];
    for slot in &mut numbers {
        let Some((value, after)) = rest.strip_prefix('.').and_then(|after| run(after, number)) else { break };
        *slot = Some(value);
        rest = after;
    }
    let [minor, patch] = numbers;
    let (prerelease, rest) = suffix(rest, '-');
    let (metadata, rest) = suffix(rest, '+');
    Some((Parts { major, minor, patch, prerelease, metadata }, rest))
}

/// Reads `<mark>identifier(.identifier)*`, if it is there.
fn suffix(text: &str, mark: char) -> (Option<&str>, &str) {
    let Some(body) = text.strip_prefix(mark) else { return (None, text) };
    let Some((_, mut rest)) = run(body, is_identifier) else { return (None, text) };
    while let Some((_, after)) = rest.strip_prefix('.').and_then(|after| run(after, is_identifier)) {
        rest = after;
    }
    (body.strip_suffix(rest), rest)
}

fn is_identifier(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}

/// Splits off the longest non-empty start of the text whose characters are all accepted.
fn run(text: &str, accepted: fn(char) -> bool) -> Option<(&str, &str)> {
    let end = text.find(|c| !accepted(c)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}
