//! One operator with its operand, and which versions it accepts.

use std::cmp::Ordering;

use super::range::RangeError;
use super::scan::{BLANK, Parts, is_digit_or_wildcard, leading_version};
use super::version::Version;

/// An operator with its operand, such as `>=2.6`.
#[derive(Debug, Clone)]
pub(super) struct Comparison {
    operator: Operator,
    operand: Version,
    precision: Precision,
}

#[derive(Debug, Clone, Copy)]
enum Operator {
    /// `=` or nothing: the version itself, or all that start with the written numbers.
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    /// `~`, `~>`: the last written of major and minor stays.
    Tilde,
    /// `^`: the first number that is not zero stays.
    Caret,
}

/// How many numbers of the operand count; the others are missing or a wildcard, and zero in the operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Precision {
    Nothing,
    Major,
    Minor,
    Patch,
}

/// Spellings, each before those that it starts with.
const OPERATORS: [(&str, Operator); 11] = [
    ("!=", Operator::NotEqual),
    (">=", Operator::GreaterOrEqual),
    ("=>", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    ("=<", Operator::LessOrEqual),
    ("~>", Operator::Tilde),
    ("=", Operator::Equal),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("~", Operator::Tilde),
    ("^", Operator::Caret),
];

impl Comparison {
    /// Reads one comparison at the start of the text; returns it with what follows it.
    pub(super) fn leading(text: &str) -> Result<(Self, &str), RangeError> {
        let (operator, after) = OPERATORS
            .iter()
            .find_map(|(spelling, operator)| Some((*operator, text.strip_prefix(spelling)?)))
            .unwrap_or((Operator::Equal, text));
        let operand = after.trim_start_matches(BLANK);
        let (parts, rest) = leading_version(operand, is_digit_or_wildcard)
            .ok_or_else(|| RangeError::NotAComparison { part: first_word(text, operand).to_owned() })?;
        if !rest.is_empty() && !rest.starts_with(',') && !rest.starts_with(BLANK) {
            return Err(RangeError::NotAComparison { part: first_word(text, operand).to_owned() });
        }
        let (precision, version) = known_numbers(&parts, operand.strip_suffix(rest).unwrap_or(operand));
        let operand = Version::parse(&version).map_err(|source| RangeError::BadVersion {
            part: text.strip_suffix(rest).unwrap_or(text).to_owned(),
            source,
        })?;
        Ok((Self { operator, operand, precision }, rest))
    }

    /// Whether the operand is a prerelease: then the whole alternative accepts prereleases.
    pub(super) fn names_prerelease(&self) -> bool {
        !self.operand.prerelease().is_empty()
    }

    /// Whether the version is accepted; the caller has sorted out unwanted prereleases.
    pub(super) fn accepts(&self, version: &Version) -> bool {
        match self.operator {
            Operator::Equal if self.precision == Precision::Patch => *version == self.operand,
            Operator::Equal | Operator::Tilde => self.tilde_accepts(version),
            Operator::NotEqual => self.not_equal_accepts(version),
            Operator::Greater => self.greater_accepts(version),
            Operator::GreaterOrEqual => *version >= self.operand,
            Operator::Less => *version < self.operand,
            Operator::LessOrEqual => self.less_or_equal_accepts(version),
            Operator::Caret => self.caret_accepts(version),
        }
    }

    fn tilde_accepts(&self, version: &Version) -> bool {
        if *version < self.operand {
            return false;
        }
        // `~0.0.0` is `~*` to Go: both operands are 0.0.0 with nothing left open after major or minor.
        let is_zero = self.operand.major() == 0 && self.operand.minor() == 0 && self.operand.patch() == 0;
        match self.precision {
            Precision::Nothing => true,
            Precision::Patch if is_zero => true,
            Precision::Major => self.compare_major(version).is_eq(),
            Precision::Minor | Precision::Patch => self.compare_minor(version).is_eq(),
        }
    }

    fn not_equal_accepts(&self, version: &Version) -> bool {
        match self.precision {
            Precision::Major => self.compare_major(version).is_ne(),
            Precision::Minor => {
                self.compare_minor(version).is_ne() || version.prerelease() != self.operand.prerelease()
            }
            // `!=*` only refuses 0.0.0: Go compares with the operand that stands for the wildcard.
            Precision::Nothing | Precision::Patch => *version != self.operand,
        }
    }

    fn greater_accepts(&self, version: &Version) -> bool {
        match self.precision {
            Precision::Major => self.compare_major(version).is_gt(),
            Precision::Minor => self.compare_minor(version).is_gt(),
            Precision::Nothing | Precision::Patch => *version > self.operand,
        }
    }

    fn less_or_equal_accepts(&self, version: &Version) -> bool {
        match self.precision {
            Precision::Patch => *version <= self.operand,
            Precision::Major => self.compare_major(version).is_le(),
            // `<=*` is `<=0.0` to Go.
            Precision::Nothing | Precision::Minor => self.compare_minor(version).is_le(),
        }
    }

    fn caret_accepts(&self, version: &Version) -> bool {
        if *version < self.operand {
            return false;
        }
        if self.operand.major() > 0 || self.precision == Precision::Major {
            return self.compare_major(version).is_eq();
        }
        // Below 1.0.0 the next number takes the place of the major one. `^*` is `^0.0.0` to Go.
        if self.operand.minor() > 0 || self.precision == Precision::Minor {
            return self.compare_minor(version).is_eq();
        }
        self.compare_minor(version).is_eq() && version.patch() == self.operand.patch()
    }

    fn compare_major(&self, version: &Version) -> Ordering {
        version.major().cmp(&self.operand.major())
    }

    fn compare_minor(&self, version: &Version) -> Ordering {
        (version.major(), version.minor()).cmp(&(self.operand.major(), self.operand.minor()))
    }
}

/// The operand as a plain version. What stands behind a wildcard is not looked at (`1.x.7x` is `1.x`), and with
/// a number left open the metadata is dropped before the length is checked; both as Go does it.
fn known_numbers(parts: &Parts<'_>, written: &str) -> (Precision, String) {
    let is_open = |number: Option<&str>| number.is_none_or(|text| matches!(text, "x" | "X" | "*"));
    let (precision, numbers) = if is_open(Some(parts.major)) {
        (Precision::Nothing, "0.0.0".to_owned())
    } else if is_open(parts.minor) {
        (Precision::Major, format!("{}.0.0", parts.major))
    } else if is_open(parts.patch) {
        (Precision::Minor, format!("{}.{}.0", parts.major, parts.minor.unwrap_or_default()))
    } else {
        return (Precision::Patch, written.to_owned());
    };
    match parts.prerelease {
        Some(prerelease) => (precision, format!("{numbers}-{prerelease}")),
        None => (precision, numbers),
    }
}

/// The start of the text up to the blank or comma that ends its operand.
fn first_word<'t>(text: &'t str, operand: &str) -> &'t str {
    let word_bytes = operand.find(|c| c == ',' || BLANK.contains(&c)).unwrap_or(operand.len());
    let end = text.len() - operand.len() + word_bytes;
    text.get(..end).unwrap_or(text)
}
