//! One version: lenient parsing and Go's order.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::scan::{is_digit, leading_version};

/// Longest version text in bytes; it bounds what a registry's tag list can make us compare.
pub const MAX_VERSION_BYTES: usize = 256;

/// A version, read leniently: `v2.6`, `2` and `02.6.0` are versions too.
///
/// Order and equality are those of precedence: metadata and spelling do not count, so `v1.2` equals `1.2.0+a`.
/// `Display` gives the original text.
#[derive(Debug, Clone)]
pub struct Version {
    major: u64,
    minor: u64,
    patch: u64,
    prerelease: String,
    metadata: String,
    original: String,
}

/// Why a text is not a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// The text is longer than [`MAX_VERSION_BYTES`].
    #[error(
        "the version is {bytes} bytes long, at most {MAX_VERSION_BYTES} are allowed; shorten it, for example `2.6.0`"
    )]
    TooLong {
        /// Length of the text.
        bytes: usize,
    },
    /// The text does not have the shape of a version.
    #[error(
        "{version:?} is not a version; write one to three numbers and an optional prerelease, for example `2.6.0` or `v2.6.0-rc.1`"
    )]
    Malformed {
        /// The whole text.
        version: String,
    },
    /// One of the three numbers does not fit into 64 bits.
    #[error(
        "the number `{number}` of the version {version:?} is larger than {}; write a smaller one, for example `2.6.0`",
        u64::MAX
    )]
    NumberTooLarge {
        /// The whole text.
        version: String,
        /// The number as written.
        number: String,
    },
    /// A numeric part of the prerelease starts with a zero.
    #[error(
        "the prerelease part `{identifier}` of the version {version:?} starts with a zero; write for example `2.6.0-rc.1`"
    )]
    LeadingZero {
        /// The whole text.
        version: String,
        /// The part as written.
        identifier: String,
    },
}

impl Version {
    /// Reads `[v]N[.N[.N]][-prerelease][+metadata]`; missing numbers are 0, leading zeros of numbers are dropped.
    ///
    /// # Errors
    /// The text is too long, has another shape (blanks around it included), a number above 64 bits, or a numeric
    /// prerelease part with a leading zero.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        if text.len() > MAX_VERSION_BYTES {
            return Err(VersionError::TooLong { bytes: text.len() });
        }
        let Some((parts, "")) = leading_version(text, is_digit) else {
            return Err(VersionError::Malformed { version: text.to_owned() });
        };
        let number = |digits: Option<&str>| {
            let digits = digits.unwrap_or("0");
            digits.parse().map_err(|_| VersionError::NumberTooLarge {
                version: text.to_owned(),
                number: digits.to_owned(),
            })
        };
        let version = Self {
            major: number(Some(parts.major))?,
            minor: number(parts.minor)?,
            patch: number(parts.patch)?,
            prerelease: parts.prerelease.unwrap_or_default().to_owned(),
            metadata: parts.metadata.unwrap_or_default().to_owned(),
            original: text.to_owned(),
        };
        match version.prerelease.split('.').find(|identifier| has_leading_zero(identifier)) {
            Some(identifier) => {
                Err(VersionError::LeadingZero { version: text.to_owned(), identifier: identifier.to_owned() })
            }
            None => Ok(version),
        }
    }

    /// The first number.
    #[must_use]
    pub fn major(&self) -> u64 {
        self.major
    }

    /// The second number, 0 if it was not written.
    #[must_use]
    pub fn minor(&self) -> u64 {
        self.minor
    }

    /// The third number, 0 if it was not written.
    #[must_use]
    pub fn patch(&self) -> u64 {
        self.patch
    }

    /// What follows `-`, empty for a release.
    #[must_use]
    pub fn prerelease(&self) -> &str {
        &self.prerelease
    }

    /// What follows `+`, empty if there is none.
    #[must_use]
    pub fn metadata(&self) -> &str {
        &self.metadata
    }

    /// The text that was parsed.
    #[must_use]
    pub fn original(&self) -> &str {
        &self.original
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.major, self.minor, self.patch)
            .cmp(&(other.major, other.minor, other.patch))
            .then_with(|| compare_prereleases(&self.prerelease, &other.prerelease))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.original)
    }
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

/// A release is higher than its prereleases; these compare part by part, and a longer one is higher.
fn compare_prereleases(left: &str, right: &str) -> Ordering {
    if left.is_empty() || right.is_empty() {
        return left.is_empty().cmp(&right.is_empty());
    }
    left.split('.').map(Identifier::new).cmp(right.split('.').map(Identifier::new))
}

/// One dotted part of a prerelease. The derived order is the wanted one: numbers by value, then texts by bytes.
///
/// A number above 64 bits is a text here, as it is in Go; `semver::Version` orders it by value.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Identifier<'t> {
    Number(u64),
    Text(&'t str),
}

impl<'t> Identifier<'t> {
    fn new(text: &'t str) -> Self {
        text.parse().map_or(Self::Text(text), Self::Number)
    }
}

fn has_leading_zero(identifier: &str) -> bool {
    identifier.len() > 1
        && identifier.starts_with('0')
        && identifier.bytes().all(|byte| byte.is_ascii_digit())
}
