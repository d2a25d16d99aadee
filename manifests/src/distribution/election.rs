//! Which release of a distribution an instance gets.

use std::ops::RangeInclusive;

use thiserror::Error;

use super::{Distribution, DistributionError};
use crate::{
    semver::{Range, RangeError, Version},
    text::shortened,
};

/// The (major, minor) pairs of Flux that this operator knows how to build; every patch of them is fine.
pub const SUPPORTED_MINORS: RangeInclusive<(u64, u64)> = (2, 6)..=(2, 9);

/// The release that was chosen.
#[derive(Clone, Debug)]
pub struct Election {
    /// The release, spelled as the distribution spells it.
    pub version: Version,
    /// The highest supported release of the distribution, when the range excludes it.
    pub newer: Option<Version>,
    /// Higher releases that match the range, of minors that this operator does not know; highest first.
    pub skipped: Vec<Version>,
}

/// Why no release could be chosen. All of these are the user's move.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum ElectionError {
    #[error("spec.distribution.version '{}' is not a version range", shortened(range))]
    InvalidRange { range: String, source: RangeError },
    #[error(transparent)]
    Distribution(#[from] DistributionError),
    #[error(
        "no version matches spec.distribution.version '{}' ({origin}: {}{}): choose a range that matches one of them, or a distribution that holds the version: spec.distribution.artifact, or a folder of manifests by --distribution-path (build) or --storage-path (serve)",
        shortened(range),
        list(available),
        passed_over(skipped)
    )]
    NoMatch { range: String, origin: String, available: Vec<Version>, skipped: Vec<Version> },
    #[error(
        "spec.distribution.version '{}' elects Flux {target}, which is older than the installed {applied}: Flux cannot be downgraded across minor versions; raise the range, or delete the instance and install anew",
        shortened(range)
    )]
    Downgrade { range: String, target: Version, applied: Version },
}

/// Elects the highest supported release that matches the range.
///
/// `applied` is the installed version, as in the status of an instance; a lower minor or major than that is
/// refused, a lower patch is not.
///
/// # Errors
/// When the range is none, matches nothing, or would go back by a minor or major version.
pub fn elect(
    range_text: &str,
    distribution: &dyn Distribution,
    applied: Option<&Version>,
) -> Result<Election, ElectionError> {
    let range = Range::parse(range_text)
        .map_err(|source| ElectionError::InvalidRange { range: range_text.to_owned(), source })?;
    let (supported, unsupported): (Vec<Version>, Vec<Version>) =
        releases(distribution)?.into_iter().partition(is_supported);
    let mut skipped: Vec<Version> =
        unsupported.into_iter().filter(|version| range.matches(version)).collect();
    let Some(version) = supported.iter().find(|version| range.matches(version)) else {
        return Err(ElectionError::NoMatch {
            range: range_text.to_owned(),
            origin: distribution.origin().to_owned(),
            available: supported.into_iter().rev().collect(),
            skipped,
        });
    };
    if let Some(applied) = applied.filter(|applied| minor(version) < minor(applied)) {
        return Err(ElectionError::Downgrade {
            range: range_text.to_owned(),
            target: version.clone(),
            applied: applied.clone(),
        });
    }
    skipped.retain(|skipped| skipped > version);
    let newest = supported.iter().find(|version| version.prerelease().is_empty());
    let newer = newest.filter(|newest| *newest > version).cloned();
    Ok(Election { version: version.clone(), newer, skipped })
}

/// The releases of a distribution, highest first. What does not look like a version is no release.
fn releases(distribution: &dyn Distribution) -> Result<Vec<Version>, DistributionError> {
    let names = distribution.versions()?;
    let mut versions: Vec<Version> = names.iter().filter_map(|name| Version::parse(name).ok()).collect();
    versions.sort_by(|left, right| right.cmp(left));
    Ok(versions)
}

fn is_supported(version: &Version) -> bool {
    SUPPORTED_MINORS.contains(&minor(version))
}

fn minor(version: &Version) -> (u64, u64) {
    (version.major(), version.minor())
}

fn list(versions: &[Version]) -> String {
    if versions.is_empty() {
        return "none".to_owned();
    }
    versions.iter().map(plain).collect::<Vec<_>>().join(", ")
}

fn passed_over(versions: &[Version]) -> String {
    if versions.is_empty() {
        return String::new();
    }
    let ((first_major, first_minor), (last_major, last_minor)) = SUPPORTED_MINORS.into_inner();
    format!(
        "; {} match, but this operator supports Flux {first_major}.{first_minor} to {last_major}.{last_minor}",
        list(versions)
    )
}

/// The version without the `v` that directories carry.
fn plain(version: &Version) -> &str {
    version.original().trim_start_matches('v')
}
