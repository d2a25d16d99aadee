//! Which release of a distribution is elected.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use manifests::{
    distribution::{Distribution, DistributionError, Election, ElectionError, Embedded, elect},
    semver::Version,
};
use serde_json::Value;

/// A distribution that has nothing but names.
struct Names(&'static [&'static str]);

impl Distribution for Names {
    fn origin(&self) -> &'static str {
        "/data"
    }

    fn versions(&self) -> Result<Vec<String>, DistributionError> {
        Ok(self.0.iter().map(|&name| name.to_owned()).collect())
    }

    fn objects(&self, _: &str, _: &str) -> Result<Option<Vec<Value>>, DistributionError> {
        Ok(None)
    }

    fn images(&self, _: &str, _: &str) -> Result<Option<Value>, DistributionError> {
        Ok(None)
    }
}

const RELEASES: Names =
    Names(&["v2.6.0", "v2.10.0", "v2.9.4", "v2.9.10", "v2.8.8", "v2.5.1", "v2.9.11-rc.1", "VERSION"]);

fn election(range: &str, applied: Option<&str>) -> Result<Election, ElectionError> {
    let applied = applied.map(|applied| Version::parse(applied).unwrap());
    elect(range, &RELEASES, applied.as_ref())
}

fn elected(range: &str) -> String {
    election(range, None).unwrap().version.to_string()
}

#[test]
fn the_highest_match_is_elected_by_number() {
    assert_eq!(elected("2.x"), "v2.9.10");
    assert_eq!(elected("2.9.x"), "v2.9.10");
    assert_eq!(elected(">=2.8.0 <2.9.5"), "v2.9.4");
    assert_eq!(elected("=2.9.4"), "v2.9.4");
    assert_eq!(elected("2.8"), "v2.8.8");
}

#[test]
fn a_prerelease_is_elected_only_on_request() {
    assert_eq!(elected("2.9.x"), "v2.9.10");
    assert_eq!(elected(">=2.9.11-0 <2.10.0-0"), "v2.9.11-rc.1");
}

#[test]
fn minors_that_the_operator_does_not_know_are_passed_over_and_named() {
    let election = election(">=2.8", None).unwrap();
    assert_eq!(election.version.to_string(), "v2.9.10");
    let skipped: Vec<String> = election.skipped.iter().map(ToString::to_string).collect();
    assert_eq!(skipped, ["v2.10.0"]);
}

#[test]
fn an_older_minor_that_matches_is_not_news() {
    assert!(election("<2.9.0", None).unwrap().skipped.is_empty());
}

#[test]
fn a_release_that_the_range_excludes_is_named() {
    assert_eq!(election("2.8.x", None).unwrap().newer.unwrap().to_string(), "v2.9.10");
    assert!(election("2.x", None).unwrap().newer.is_none());
}

#[test]
fn a_range_that_matches_nothing_says_what_there_is_and_what_to_do() {
    let message = elect("3.x", &Embedded, None).unwrap_err().to_string();
    assert!(message.contains("no version matches spec.distribution.version '3.x'"), "{message}");
    assert!(message.contains("(embedded: 2.6.4, 2.9.5)"), "{message}");
    for way in ["choose a range", "spec.distribution.artifact", "--distribution-path", "--storage-path"] {
        assert!(message.contains(way), "{message}");
    }
}

#[test]
fn a_match_of_an_unknown_minor_says_which_minors_are_known() {
    let message = election("2.5.x || 2.10.x", None).unwrap_err().to_string();
    assert!(message.contains("2.10.0, 2.5.1 match, but this operator supports Flux 2.6 to 2.9"), "{message}");
}

#[test]
fn an_empty_distribution_is_named() {
    let message = elect("2.x", &Names(&[]), None).unwrap_err().to_string();
    assert!(message.contains("(/data: none)"), "{message}");
}

#[test]
fn what_is_no_range_is_refused_with_its_reason() {
    let error = election("two", None).unwrap_err();
    assert!(error.to_string().contains("spec.distribution.version 'two'"), "{error}");
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn going_back_by_a_patch_is_fine_and_by_a_minor_or_major_is_not() {
    assert_eq!(election("2.9.4", Some("v2.9.10")).unwrap().version.to_string(), "v2.9.4");
    for applied in ["v2.10.0", "v3.0.0"] {
        let message = election("2.9.x", Some(applied)).unwrap_err().to_string();
        assert!(message.contains(&format!("older than the installed {applied}")), "{message}");
    }
    election("2.8.x", Some("v2.9.4")).unwrap_err();
}

#[test]
fn going_on_to_a_higher_minor_after_a_lower_major_is_no_downgrade() {
    assert_eq!(election("2.x", Some("v1.20.0")).unwrap().version.to_string(), "v2.9.10");
}
