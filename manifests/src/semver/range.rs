//! A range: alternatives of comparisons that must all hold.

use std::fmt;
use std::str::FromStr;

use super::comparison::Comparison;
use super::scan::{BLANK, is_digit_or_wildcard, leading_version};
use super::version::{Version, VersionError};

/// Longest range text in bytes; it bounds the work of parsing and matching.
pub const MAX_RANGE_BYTES: usize = 512;

/// Most alternatives (texts between `||`) of a range.
pub const MAX_ALTERNATIVES: usize = 32;

/// Which versions are wanted. `Display` gives the original text.
#[derive(Debug, Clone)]
pub struct Range {
    alternatives: Vec<Alternative>,
    original: String,
}

/// Comparisons that must all hold.
#[derive(Debug, Clone)]
struct Alternative {
    comparisons: Vec<Comparison>,
    accepts_prereleases: bool,
}

/// Why a text is not a range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// The text is longer than [`MAX_RANGE_BYTES`].
    #[error(
        "the version range is {bytes} bytes long, at most {MAX_RANGE_BYTES} are allowed; shorten it, for example `>=2.6.0 <3.0.0`"
    )]
    TooLong {
        /// Length of the text.
        bytes: usize,
    },
    /// There are more than [`MAX_ALTERNATIVES`] alternatives.
    #[error(
        "the version range has {alternatives} alternatives, at most {MAX_ALTERNATIVES} are allowed; join some, for example `>=2.6.0 <3.0.0`"
    )]
    TooManyAlternatives {
        /// How many there are.
        alternatives: usize,
    },
    /// Nothing is written where a comparison must be: an empty range, or one that ends in `||` or a comma.
    #[error(
        "a comparison is missing in the version range {range:?}; write `*` for every release, or for example `2.x || 3.x`"
    )]
    Missing {
        /// The whole range.
        range: String,
    },
    /// A word of the range is not an operator with a version.
    #[error(
        "{part:?} is not a version comparison; write an operator and a version, for example `>=2.6.0`, `^2.6` or `2.x`"
    )]
    NotAComparison {
        /// The word, with its operator.
        part: String,
    },
    /// The version of a comparison has the shape of one, but is not valid.
    #[error("the version in {part:?} is not valid; write for example `>=2.6.0-rc.1`")]
    BadVersion {
        /// The comparison.
        part: String,
        /// What is wrong with its version.
        #[source]
        source: VersionError,
    },
    /// A hyphen range stands next to something that needs a comma or `||` between.
    #[error(
        "the hyphen range in {range:?} cannot be read together with what stands next to it; put a comma between, for example `1.2 - 1.4, !=1.3.1`"
    )]
    HyphenRange {
        /// The whole range.
        range: String,
    },
}

impl Range {
    /// Reads a range.
    ///
    /// # Errors
    /// The text or the number of alternatives is above its bound, a comparison is missing or wrong, or a version
    /// in it is not valid.
    pub fn parse(text: &str) -> Result<Self, RangeError> {
        if text.len() > MAX_RANGE_BYTES {
            return Err(RangeError::TooLong { bytes: text.len() });
        }
        let plain = without_hyphen_ranges(text);
        let alternatives = plain.split("||").count();
        if alternatives > MAX_ALTERNATIVES {
            return Err(RangeError::TooManyAlternatives { alternatives });
        }
        let alternatives = plain
            .split("||")
            .map(Alternative::parse)
            .collect::<Result<_, _>>()
            .map_err(|error| in_the_words_of(text, error))?;
        Ok(Self { alternatives, original: text.to_owned() })
    }

    /// Whether the version is in the range.
    #[must_use]
    pub fn matches(&self, version: &Version) -> bool {
        self.alternatives.iter().any(|alternative| alternative.matches(version))
    }

    /// The text that was parsed.
    #[must_use]
    pub fn original(&self) -> &str {
        &self.original
    }
}

impl Alternative {
    /// Reads comparisons with blanks or one comma between.
    fn parse(text: &str) -> Result<Self, RangeError> {
        let mut comparisons = Vec::new();
        let mut rest = text.trim_start_matches(BLANK);
        loop {
            if rest.is_empty() || rest.starts_with(',') {
                return Err(RangeError::Missing { range: text.to_owned() });
            }
            let (comparison, after) = Comparison::leading(rest)?;
            comparisons.push(comparison);
            let after = after.trim_start_matches(BLANK);
            if after.is_empty() {
                break;
            }
            rest = after.strip_prefix(',').unwrap_or(after).trim_start_matches(BLANK);
        }
        let accepts_prereleases = comparisons.iter().any(Comparison::names_prerelease);
        Ok(Self { comparisons, accepts_prereleases })
    }

    fn matches(&self, version: &Version) -> bool {
        (self.accepts_prereleases || version.prerelease().is_empty())
            && self.comparisons.iter().all(|comparison| comparison.accepts(version))
    }
}

impl fmt::Display for Range {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.original)
    }
}

impl FromStr for Range {
    type Err = RangeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

/// A hyphen range as it stands in the text, with the blanks around it, and its ends.
struct HyphenRange<'t> {
    written: &'t str,
    lowest: &'t str,
    highest: &'t str,
}

/// Writes `a - b` as `>= a, <= b `.
///
/// This is textual and comes before the split into alternatives, as in Go; replacing the first occurrence of the
/// same text, not the place where it was found, is Go's too.
fn without_hyphen_ranges(text: &str) -> String {
    let mut plain = text.to_owned();
    let mut rest = text;
    while let Some((range, after)) = next_hyphen_range(rest) {
        let comparisons = format!(">= {}, <= {} ", range.lowest, range.highest);
        plain = plain.replacen(range.written, &comparisons, 1);
        rest = after;
    }
    plain
}

/// Finds the first hyphen range; returns it with what follows it. The lower end may start within a word.
fn next_hyphen_range(text: &str) -> Option<(HyphenRange<'_>, &str)> {
    text.char_indices().find_map(|(start, _)| hyphen_range_at(text.get(start..)?))
}

fn hyphen_range_at(text: &str) -> Option<(HyphenRange<'_>, &str)> {
    let from_lowest = text.trim_start_matches(BLANK);
    let (_, after_lowest) = leading_version(from_lowest, is_digit_or_wildcard)?;
    let from_highest = after_blanks(after_blanks(after_lowest)?.strip_prefix('-')?)?;
    let (_, after_highest) = leading_version(from_highest, is_digit_or_wildcard)?;
    let rest = after_highest.trim_start_matches(BLANK);
    let range = HyphenRange {
        written: text.strip_suffix(rest)?,
        lowest: from_lowest.strip_suffix(after_lowest)?,
        highest: from_highest.strip_suffix(after_highest)?,
    };
    Some((range, rest))
}

/// The text after its blanks, of which there must be one.
fn after_blanks(text: &str) -> Option<&str> {
    text.strip_prefix(BLANK).map(|rest| rest.trim_start_matches(BLANK))
}

/// Replaces what only our rewriting of hyphen ranges wrote by what the user wrote.
fn in_the_words_of(text: &str, error: RangeError) -> RangeError {
    match error {
        RangeError::Missing { .. } => RangeError::Missing { range: text.to_owned() },
        RangeError::NotAComparison { part } | RangeError::BadVersion { part, .. }
            if !text.contains(&part) =>
        {
            RangeError::HyphenRange { range: text.to_owned() }
        }
        error => error,
    }
}
