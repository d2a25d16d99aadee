use regex::{Regex, RegexBuilder};
use thiserror::Error;

use super::{
    look_alike::{beginning, skeleton},
    re2::{self, Difference},
};

/// Longest pattern, in bytes: several times an identity, and short enough to be shown in a message.
const MAX_PATTERN_BYTES: usize = 1024;
/// Memory of a compiled pattern, in bytes: `(a{1000}){1000}` is refused instead of taking the process down.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// A regular expression in RE2 syntax that a whole value has to match.
///
/// `https://github.com/org/.*` says nothing about `https://github.com/org-evil/`, and a value with a line break
/// is matched by no `.*`.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    whole: Regex,
    similar: Regex,
    beginning: Option<String>,
}

/// Why a text is no pattern.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum PatternError {
    #[error("it is empty; write what has to be there, the pattern that anything matches is .+")]
    Empty,
    #[error("it has {bytes} bytes, {MAX_PATTERN_BYTES} are allowed")]
    TooLong { bytes: usize },
    #[error("{text:?} is no regular expression: {problem}")]
    Syntax { text: String, problem: String },
    #[error("{text:?} uses {what}, which RE2 does not have or reads in another way")]
    NotRe2 { text: String, what: &'static str },
    #[error("{text:?} takes more than {MAX_COMPILED_BYTES} bytes of memory")]
    TooLarge { text: String },
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// When it is empty, too long or too large, and when RE2 would not read it in the same way.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        if text.is_empty() {
            return Err(PatternError::Empty);
        }
        if text.len() > MAX_PATTERN_BYTES {
            return Err(PatternError::TooLong { bytes: text.len() });
        }
        // What comes back is complete in itself, so it cannot leave the group that is put around it.
        let pattern = re2::rewrite(text).map_err(|difference| match difference {
            Difference::Syntax(problem) => PatternError::Syntax { text: text.to_owned(), problem },
            Difference::Feature(what) => PatternError::NotRe2 { text: text.to_owned(), what },
        })?;
        let compile = |builder: &mut RegexBuilder| {
            builder
                .size_limit(MAX_COMPILED_BYTES)
                .build()
                .map_err(|_| PatternError::TooLarge { text: text.to_owned() })
        };
        Ok(Self {
            text: text.to_owned(),
            whole: compile(&mut RegexBuilder::new(&format!("\\A(?:{pattern})\\z")))?,
            similar: compile(RegexBuilder::new(&pattern).case_insensitive(true))?,
            beginning: beginning(text),
        })
    }

    /// Whether the whole of `value` matches.
    #[must_use]
    pub fn matches(&self, value: &str) -> bool {
        self.whole.is_match(value)
    }

    /// Whether `value` matches or could be mistaken for one that does: the pattern is found somewhere in it, whatever
    /// the case, or it begins in a way that looks alike.
    pub(super) fn resembles(&self, value: &str) -> bool {
        let begins_alike = |beginning: &String| skeleton(value).starts_with(beginning.as_str());
        self.similar.is_match(value) || self.beginning.as_ref().is_some_and(begins_alike)
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}
