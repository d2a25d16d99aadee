//! Versions and ranges against the answers of Go's Masterminds/semver (`e2e/oracles/semver` makes them).
#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a test stops at the first surprise")]

use manifests::semver::{Range, RangeError, Version, VersionError, highest};
use proptest::prelude::*;
use serde_json::Value;

fn vectors() -> Value {
    serde_json::from_str(include_str!("vectors/semver.json")).unwrap()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).expect(key)
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).expect(key)
}

/// The answer in the oracle's letters.
fn answer(range: &str, version: &str) -> char {
    match (Range::parse(range), Version::parse(version)) {
        (Err(_), _) => 'r',
        (Ok(_), Err(_)) => 'v',
        (Ok(range), Ok(version)) if range.matches(&version) => '+',
        (Ok(_), Ok(_)) => '-',
    }
}

fn range(text: &str) -> Range {
    Range::parse(text).unwrap()
}

fn version(text: &str) -> Version {
    Version::parse(text).unwrap()
}

fn range_message(text: &str) -> String {
    Range::parse(text).unwrap_err().to_string()
}

#[test]
fn ranges_answer_as_go_does() {
    let vectors = vectors();
    let mut pairs = 0;
    let mut differences = Vec::new();
    for table in list(&vectors, "tables") {
        let versions = list(table, "versions");
        for row in list(table, "rows") {
            let answers = text(row, "answers");
            assert_eq!(answers.len(), versions.len(), "an answer for each version");
            for (version, want) in versions.iter().zip(answers.chars()) {
                let (range, version) = (text(row, "range"), version.as_str().unwrap());
                pairs += 1;
                let got = answer(range, version);
                if got != want {
                    differences.push(format!("{range:?} {version:?}: want {want}, got {got}"));
                }
            }
        }
    }
    assert!(pairs >= 9_000, "only {pairs} pairs");
    assert!(differences.is_empty(), "{} of {pairs}:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn random_ranges_answer_as_go_does() {
    let vectors = vectors();
    let pairs = list(&vectors, "random");
    assert!(pairs.len() >= 1_000, "only {} pairs", pairs.len());
    for pair in pairs {
        let (range, version) = (text(pair, "range"), text(pair, "version"));
        assert_eq!(answer(range, version).to_string(), text(pair, "answer"), "{range:?} {version:?}");
    }
}

#[test]
fn versions_have_the_parts_that_go_reads() {
    let vectors = vectors();
    for row in list(&vectors, "versions") {
        let written = text(row, "text");
        let valid = row.get("valid").and_then(Value::as_bool).unwrap();
        let Ok(version) = Version::parse(written) else {
            assert!(!valid, "{written:?} is a version");
            continue;
        };
        assert!(valid, "{written:?} is no version");
        let number = |key: &str| row.get(key).and_then(Value::as_u64).unwrap();
        let numbers = (version.major(), version.minor(), version.patch());
        assert_eq!(numbers, (number("major"), number("minor"), number("patch")), "{written:?}");
        assert_eq!(version.prerelease(), text(row, "prerelease"), "{written:?}");
        assert_eq!(version.metadata(), text(row, "metadata"), "{written:?}");
        assert_eq!((version.original(), version.to_string().as_str()), (written, written));
    }
}

#[test]
fn versions_are_ordered_as_go_orders_them() {
    let vectors = vectors();
    let ranked: Vec<(usize, Version)> = list(&vectors, "ascending")
        .iter()
        .enumerate()
        .flat_map(|(rank, group)| {
            group.as_array().unwrap().iter().map(move |text| (rank, version(text.as_str().unwrap())))
        })
        .collect();
    assert!(ranked.len() >= 70, "only {} versions", ranked.len());
    for (left_rank, left) in &ranked {
        for (right_rank, right) in &ranked {
            assert_eq!(left.cmp(right), left_rank.cmp(right_rank), "{left} and {right}");
            assert_eq!(left == right, left_rank == right_rank, "{left} and {right}");
        }
    }
}

#[test]
fn the_highest_version_in_the_range_is_selected() {
    let versions = ["v2.6.0", "2.8.1", "v2.7.5", "3.0.0-rc.1", "2.9.0-rc.1"].map(version);
    let selected = |text: &str| highest(&range(text), versions.iter()).map(Version::original);
    assert_eq!(selected("2.x"), Some("2.8.1"));
    assert_eq!(selected("2.7.x"), Some("v2.7.5"));
    assert_eq!(selected(">=2.0.0-0"), Some("3.0.0-rc.1"));
    assert_eq!(selected("3.x"), None);
}

#[test]
fn of_equal_versions_the_first_is_selected() {
    let versions = ["1.0.0", "1.2.0+b", "v1.2", "1.2.0+a"].map(version);
    assert_eq!(highest(&range("*"), versions.iter()).map(Version::original), Some("1.2.0+b"));
    assert_eq!(highest(&range("*"), versions.iter().rev()).map(Version::original), Some("1.2.0+a"));
}

#[test]
fn a_range_error_names_the_wrong_part_and_shows_a_right_one() {
    let message = range_message("2.x || latest");
    assert!(message.contains("\"latest\"") && message.contains("`2.x`"), "{message}");
    let message = range_message(">=2.6.0, <2.8.0.1");
    assert!(message.contains("\"<2.8.0.1\""), "{message}");
    let message = range_message(">=1 > =2");
    assert!(message.contains("\"> =2\""), "{message}");
    let message = range_message("");
    assert!(message.contains("missing") && message.contains("`*`"), "{message}");
}

#[test]
fn a_missing_comparison_shows_the_whole_range() {
    for text in ["2.x ||", "|| 2.x", "2.x,", ",2.x", "2.x,,3.x", " "] {
        assert_eq!(Range::parse(text).unwrap_err(), RangeError::Missing { range: text.to_owned() });
    }
}

#[test]
fn a_wrong_version_in_a_range_is_the_cause_of_the_error() {
    let error = Range::parse("2.x >=2.6.0-01").unwrap_err();
    let RangeError::BadVersion { part, source } = &error else { panic!("{error:?}") };
    assert_eq!(part, ">=2.6.0-01");
    assert!(source.to_string().contains("`01`"), "{source}");
    let cause = std::error::Error::source(&error).expect("the cause is kept");
    assert_eq!(cause.to_string(), source.to_string());
}

#[test]
fn a_hyphen_range_without_a_comma_is_told_in_the_words_of_the_user() {
    let error = Range::parse("!=1.3.0 1 - 2").unwrap_err();
    assert_eq!(error, RangeError::HyphenRange { range: "!=1.3.0 1 - 2".to_owned() });
    assert!(error.to_string().contains("comma"), "{error}");
}

#[test]
fn ranges_above_their_bounds_are_refused_with_the_bound() {
    assert_eq!(Range::parse(&" ".repeat(513)).unwrap_err(), RangeError::TooLong { bytes: 513 });
    let error = Range::parse(&["1"; 33].join("||")).unwrap_err();
    assert_eq!(error, RangeError::TooManyAlternatives { alternatives: 33 });
    assert!(error.to_string().contains("at most 32"), "{error}");
}

#[test]
fn a_version_error_says_what_is_wrong() {
    let error = |text: &str| Version::parse(text).unwrap_err();
    assert_eq!(error(&"1".repeat(257)), VersionError::TooLong { bytes: 257 });
    assert_eq!(error("main"), VersionError::Malformed { version: "main".to_owned() });
    assert!(error("main").to_string().contains("`2.6.0`"));
    let large = error("1.18446744073709551616");
    assert!(large.to_string().contains("`18446744073709551616`"), "{large}");
    let zero = error("1.0.0-rc.01");
    assert!(zero.to_string().contains("`01`"), "{zero}");
}

/// Texts that are near to ranges and versions, and arbitrary ones.
fn near_range() -> impl Strategy<Value = String> {
    prop_oneof![
        "(([=!<>~^]{0,2} ?v?[0-9xX*|]{0,2}(\\.[0-9xX*]{1,2}){0,3}(-[a-z0-9.-]{0,4})?(\\+[a-z]{1,2})?)( - | |,|, | \\|\\| |\\|\\|)){0,5}[0-9x]{0,2}",
        ".{0,60}",
        "[ \\t\\x0b0-9a-z.,|<>=~^!*xX+v-]{0,40}",
    ]
}

fn any_version() -> impl Strategy<Value = Version> {
    let text = "v?[0-3](\\.[0-3]){0,2}(-(0|1|10|a|b-|18446744073709551616)(\\.(0|2|rc|-)){0,2})?(\\+[ab])?";
    text.prop_map(|text| version(&text))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_is_too_odd_to_be_answered(range in near_range(), version in near_range()) {
        prop_assert!("+-rv".contains(answer(&range, &version)));
    }

    #[test]
    fn displayed_ranges_are_read_as_the_same_ranges(text in near_range(), version in any_version()) {
        if let Ok(range) = Range::parse(&text) {
            let shown = range.to_string();
            prop_assert_eq!(&shown, &text);
            prop_assert_eq!(Range::parse(&shown).unwrap().matches(&version), range.matches(&version));
        }
    }

    #[test]
    fn displayed_versions_are_read_as_the_same_versions(version in any_version()) {
        let again = Version::parse(&version.to_string()).unwrap();
        prop_assert_eq!(again.original(), version.original());
        prop_assert_eq!(again, version);
    }

    #[test]
    fn order_is_total(a in any_version(), b in any_version(), c in any_version()) {
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        prop_assert_eq!(a == b, a.cmp(&b).is_eq());
        prop_assert!(!(a <= b && b <= c) || a <= c);
        prop_assert!(a != b || a.cmp(&c) == b.cmp(&c));
    }

    #[test]
    fn metadata_and_spelling_do_not_count(version in any_version()) {
        let plain = version.original().split('+').next().unwrap().trim_start_matches('v').to_owned();
        prop_assert_eq!(Version::parse(&format!("v{plain}+other")).unwrap(), version);
    }

    #[test]
    fn an_alternative_never_takes_versions_away(left in near_range(), right in near_range(), version in any_version()) {
        // `1||2 - 3` reads the bars as part of a number, so only texts without hyphen ranges are joined.
        prop_assume!(!left.contains('-') && !right.contains('-'));
        if let (Ok(one), Ok(two), Ok(both)) =
            (Range::parse(&left), Range::parse(&right), Range::parse(&format!("{left} || {right}")))
        {
            prop_assert_eq!(both.matches(&version), one.matches(&version) || two.matches(&version));
        }
    }
}
