//! Versions and version ranges, answered exactly as Go's `Masterminds/semver` v3.5.0 answers them.
//!
//! The operator takes ranges where its users wrote them for a Go program: `spec.distribution.version`, tag
//! filters, chart versions. A range that selects another version than before is an upgrade that nobody asked
//! for, so the odd answers are kept too: `1 2 - 3` is refused (the hyphen range swallows the blank before it)
//! while `1, 2 - 3` is not; `^*` selects 0.0.0 alone; a numeric prerelease above 64 bits sorts as text.
//!
//! | range | means |
//! |---|---|
//! | `=1.2.3`, `1.2.3` | that version |
//! | `1.2`, `1.2.x`, `=1.2`, `~1.2`, `~>1.2` | `>=1.2.0 <1.3.0` |
//! | `~1.2.3` | `>=1.2.3 <1.3.0` |
//! | `^1.2.3`, `^1.2` | `>=1.2.3 <2.0.0`, `>=1.2.0 <2.0.0` |
//! | `^0.2.3`, `^0.0.3` | `>=0.2.3 <0.3.0`, `=0.0.3` |
//! | `>1.2`, `<=1.2` | `>=1.3.0`, `<1.3.0` |
//! | `!=1.2` | every release outside 1.2 |
//! | `1.2 - 1.4` | `>=1.2.0 <1.5.0` |
//! | `>=1.2 <2`, `>=1.2, <2` | both |
//! | `1.x \|\| >=3` | either |
//! | `*`, `x` | every release |
//!
//! A prerelease is only selected by an alternative (the text between two `||`) in which some version carries a
//! prerelease too: `>=2.0.0-0` selects `2.1.0-rc.1`, `>=2.0.0` does not.

mod comparison;
mod range;
mod scan;
mod version;

pub use range::{MAX_ALTERNATIVES, MAX_RANGE_BYTES, Range, RangeError};
pub use version::{MAX_VERSION_BYTES, Version, VersionError};

/// The highest version that the range selects; of equal ones (they differ in metadata) the first.
pub fn highest<'a>(range: &Range, versions: impl Iterator<Item = &'a Version>) -> Option<&'a Version> {
    versions
        .filter(|version| range.matches(version))
        .reduce(|best, next| if next > best { next } else { best })
}
