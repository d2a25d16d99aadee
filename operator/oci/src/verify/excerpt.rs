use std::fmt;

use crate::excerpt::beginning;

/// Longest part of a foreign text that a message repeats, in characters: an identity of GitHub has 150.
const MAX_CHARACTERS: usize = 300;

/// Most alternatives that a message lists; the others are counted.
const MAX_ALTERNATIVES: usize = 3;

/// A text that somebody else wrote, made fit to be shown: bounded, on one line, without control characters.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Excerpt(String);

impl Excerpt {
    /// Cuts `text` where it gets too long, and writes `?` for what a terminal or a log would act on.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(beginning(text, MAX_CHARACTERS, '?'))
    }
}

/// A list of what was looked for, for a message.
pub(super) fn alternatives(all: impl ExactSizeIterator<Item = String>) -> String {
    let more = all.len().saturating_sub(MAX_ALTERNATIVES);
    let shown = all.take(MAX_ALTERNATIVES).collect::<Vec<_>>().join(" or ");
    if more == 0 { shown } else { format!("{shown} or {more} more") }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_text_is_bounded_and_on_one_line() {
        let long = "a".repeat(10_000);
        assert_eq!(Excerpt::of(&long).to_string().len(), MAX_CHARACTERS + 3);
        assert_eq!(Excerpt::of("a\nb\u{1b}[31m\u{202e}c").to_string(), "a?b?[31m?c");
    }
}
