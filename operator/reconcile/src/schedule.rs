//! When the next pass is due, and how long one may take.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    time::Duration,
};

use crds::GoDuration;

/// How often an unchanged object is reconciled, unless an annotation says otherwise.
pub(crate) const DEFAULT_INTERVAL: Duration = Duration::from_hours(1);

/// How long a pass may wait for readiness, unless an annotation says otherwise.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_mins(5);

/// The duration that an annotation holds. None when it is absent, and an error text when it is no duration.
pub(crate) fn annotation(
    annotations: Option<&BTreeMap<String, String>>,
    key: &str,
) -> Result<Option<GoDuration>, String> {
    let Some(text) = annotations.and_then(|annotations| annotations.get(key)) else { return Ok(None) };
    match text.parse() {
        Ok(duration) => Ok(Some(duration)),
        Err(_) => Err(format!("annotation {key}: '{text}' is not a duration such as 10m or 1h30m")),
    }
}

/// The interval until the next pass; none for zero and negative ones, which ask for no further pass.
pub(crate) fn interval(annotated: Option<GoDuration>) -> Option<Duration> {
    match annotated {
        None => Some(DEFAULT_INTERVAL),
        Some(duration) => duration.unsigned().filter(|interval| !interval.is_zero()),
    }
}

/// Moves an interval by up to so many percent either way, always the same way for the same object, so that many clusters
/// that were set up together do not ask their registry and repository together.
pub(crate) fn spread(interval: Duration, percent: u8, object_uid: &str) -> Duration {
    let percent = u64::from(percent.min(99));
    let mut hash = DefaultHasher::new();
    object_uid.hash(&mut hash);
    let hundredths = u32::try_from(100 - percent + hash.finish() % (2 * percent + 1)).unwrap_or(100);
    interval.saturating_mul(hundredths) / 100
}

/// The readiness timeout; zero and negative ones mean the default.
pub(crate) fn timeout(annotated: Option<GoDuration>) -> Duration {
    interval(annotated).filter(|_| annotated.is_some()).unwrap_or(DEFAULT_TIMEOUT)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, time::Duration};

    use crds::GoDuration;

    use super::{DEFAULT_INTERVAL, DEFAULT_TIMEOUT, annotation, interval, spread, timeout};

    fn parsed(text: Option<&str>) -> Result<Option<GoDuration>, String> {
        let annotations = text.map(|text| BTreeMap::from([("k".to_owned(), text.to_owned())]));
        annotation(annotations.as_ref(), "k")
    }

    #[test]
    fn intervals_come_from_the_annotation() {
        assert_eq!(interval(parsed(None).unwrap()), Some(DEFAULT_INTERVAL));
        assert_eq!(interval(parsed(Some("90s")).unwrap()), Some(Duration::from_secs(90)));
        assert_eq!(interval(parsed(Some("1h30m")).unwrap()), Some(Duration::from_mins(90)));
        assert_eq!(interval(parsed(Some("0s")).unwrap()), None);
        assert_eq!(interval(parsed(Some("-1m")).unwrap()), None);
    }

    #[test]
    fn objects_are_spread_over_a_tenth_of_the_interval() {
        let interval = Duration::from_secs(1_000);
        let spreads: Vec<u64> = (0..200).map(|uid| spread(interval, 5, &uid.to_string()).as_secs()).collect();
        assert!(spreads.iter().all(|seconds| (950..=1_050).contains(seconds)), "{spreads:?}");
        assert!(
            spreads.iter().any(|seconds| *seconds < 1_000) && spreads.iter().any(|seconds| *seconds > 1_000)
        );
        assert_eq!(spread(interval, 5, "a"), spread(interval, 5, "a"));
        assert_eq!(spread(interval, 0, "a"), interval);
    }

    #[test]
    fn timeouts_are_never_zero() {
        assert_eq!(timeout(parsed(None).unwrap()), DEFAULT_TIMEOUT);
        assert_eq!(timeout(parsed(Some("10s")).unwrap()), Duration::from_secs(10));
        assert_eq!(timeout(parsed(Some("0s")).unwrap()), DEFAULT_TIMEOUT);
        assert_eq!(timeout(parsed(Some("-1m")).unwrap()), DEFAULT_TIMEOUT);
    }

    #[test]
    fn what_is_no_duration_is_named() {
        assert!(parsed(Some("")).is_err() && parsed(Some("1h-5m")).is_err());
        let error = parsed(Some("soon")).unwrap_err();
        assert_eq!(error, "annotation k: 'soon' is not a duration such as 10m or 1h30m");
    }
}
