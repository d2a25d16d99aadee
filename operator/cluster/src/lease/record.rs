//! What a record means and what to write next: no clock is read and no request is made here.

use std::time::Duration;

use k8s_openapi::{
    api::coordination::v1::LeaseSpec, apimachinery::pkg::apis::meta::v1::MicroTime, jiff::Timestamp,
};
use tokio::time::Instant;

use super::settings::{LeaseSettings, MAX_LEASE_DURATION};
use crate::events::shorten;

/// The duration in a released record, in seconds: the shortest that the API allows.
const RELEASED_SECONDS: i32 = 1;
/// How much of a holder's name is logged, in bytes; names of pods have at most 253.
const MAX_HOLDER_BYTES: usize = 256;

/// The record and when it was first seen like this.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sighting {
    /// None where there is no lease.
    pub(super) spec: Option<LeaseSpec>,
    /// Nothing in it changed since.
    pub(super) since: Instant,
}

impl Sighting {
    /// What is known after another look. Only a changed record is a sign of life: the lease's labels can be
    /// changed by anybody.
    pub(super) fn after(before: Option<Self>, spec: Option<LeaseSpec>, now: Instant) -> Self {
        match before {
            Some(before) if before.spec == spec => before,
            _ => Self { spec, since: now },
        }
    }
}

/// What to do about a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Write that we hold the lease.
    Claim(Claim),
    /// Another holds it.
    Wait { holder: String },
}

/// By which right the lease is ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// There is none.
    Create,
    /// Nobody holds it, or its holder shows no sign of life.
    Take,
    /// It is ours already.
    Renew,
}

/// Decides what to do about a record.
pub(super) fn decide(seen: &Sighting, now: Instant, settings: &LeaseSettings) -> Step {
    let Some(spec) = &seen.spec else { return Step::Claim(Claim::Create) };
    let holder = spec.holder_identity.as_deref().unwrap_or_default();
    if holder == settings.identity {
        return Step::Claim(Claim::Renew);
    }
    let silent = now.saturating_duration_since(seen.since);
    if holder.is_empty() || silent >= believed(spec, settings) {
        return Step::Claim(Claim::Take);
    }
    Step::Wait { holder: shorten(holder, MAX_HOLDER_BYTES) }
}

/// The record that claims the lease.
pub(super) fn held(
    claim: Claim,
    old: Option<&LeaseSpec>,
    settings: &LeaseSettings,
    now: Timestamp,
) -> LeaseSpec {
    let transitions = old.and_then(|spec| spec.lease_transitions).unwrap_or_default().max(0);
    let acquired = old.and_then(|spec| spec.acquire_time.clone());
    let now = MicroTime(now);
    let (acquire_time, lease_transitions) = match claim {
        Claim::Renew => (acquired.unwrap_or_else(|| now.clone()), transitions),
        Claim::Create => (now.clone(), transitions),
        Claim::Take => (now.clone(), transitions.saturating_add(1)),
    };
    LeaseSpec {
        holder_identity: Some(settings.identity.clone()),
        lease_duration_seconds: Some(whole_seconds(settings.lease_duration)),
        acquire_time: Some(acquire_time),
        renew_time: Some(now),
        lease_transitions: Some(lease_transitions),
        ..LeaseSpec::default()
    }
}

/// The record that lets others take the lease at once; none if it is not ours to give.
pub(super) fn released(old: &LeaseSpec, settings: &LeaseSettings, now: Timestamp) -> Option<LeaseSpec> {
    if old.holder_identity.as_deref() != Some(settings.identity.as_str()) {
        return None;
    }
    Some(LeaseSpec {
        holder_identity: Some(String::new()),
        lease_duration_seconds: Some(RELEASED_SECONDS),
        acquire_time: Some(MicroTime(now)),
        renew_time: Some(MicroTime(now)),
        ..old.clone()
    })
}

/// How long the holder is believed to live without a sign of life. A record that does not say so gets the
/// time that we would ask for.
fn believed(spec: &LeaseSpec, settings: &LeaseSettings) -> Duration {
    let seconds = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
    let duration = seconds.filter(|seconds| *seconds > 0).map(Duration::from_secs);
    duration.unwrap_or(settings.lease_duration).min(MAX_LEASE_DURATION)
}

/// Rounded up: others must not wait for less than was asked for.
fn whole_seconds(duration: Duration) -> i32 {
    let seconds = duration.as_secs() + u64::from(duration.subsec_nanos() > 0);
    i32::try_from(seconds).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn settings() -> LeaseSettings {
        LeaseSettings::new("flux-system", "pod-1")
    }

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn micro(text: &str) -> MicroTime {
        MicroTime(time(text))
    }

    /// The record of a holder that renews as it should.
    fn record(holder: &str) -> LeaseSpec {
        LeaseSpec {
            holder_identity: Some(holder.to_owned()),
            lease_duration_seconds: Some(15),
            acquire_time: Some(micro("2026-01-01T10:00:00Z")),
            renew_time: Some(micro("2026-01-01T11:00:00Z")),
            lease_transitions: Some(4),
            ..LeaseSpec::default()
        }
    }

    /// What is decided when a record was seen unchanged for so long.
    fn decided(spec: Option<LeaseSpec>, silent: Duration) -> Step {
        let since = Instant::now();
        decide(&Sighting { spec, since }, since + silent, &settings())
    }

    fn wait_for(holder: &str) -> Step {
        Step::Wait { holder: holder.to_owned() }
    }

    #[test]
    fn a_lease_that_is_not_there_is_created() {
        assert_eq!(decided(None, Duration::ZERO), Step::Claim(Claim::Create));
    }

    #[test]
    fn a_holder_is_believed_for_its_own_duration_and_not_longer() {
        assert_eq!(decided(Some(record("pod-2")), Duration::ZERO), wait_for("pod-2"));
        assert_eq!(decided(Some(record("pod-2")), Duration::from_millis(14_999)), wait_for("pod-2"));
        assert_eq!(decided(Some(record("pod-2")), SECOND * 15), Step::Claim(Claim::Take));
    }

    #[test]
    fn the_clock_of_the_holder_does_not_matter() {
        for renewed in ["1970-01-01T00:00:00Z", "2999-01-01T00:00:00Z"] {
            let skewed = LeaseSpec {
                renew_time: Some(micro(renewed)),
                acquire_time: Some(micro(renewed)),
                ..record("pod-2")
            };
            assert_eq!(decided(Some(skewed.clone()), SECOND * 14), wait_for("pod-2"), "{renewed}");
            assert_eq!(decided(Some(skewed), SECOND * 15), Step::Claim(Claim::Take), "{renewed}");
        }
    }

    #[test]
    fn a_lease_without_a_holder_is_taken_at_once() {
        assert_eq!(decided(Some(record("")), Duration::ZERO), Step::Claim(Claim::Take));
        let absent = LeaseSpec { holder_identity: None, ..record("") };
        assert_eq!(decided(Some(absent), Duration::ZERO), Step::Claim(Claim::Take));
        assert_eq!(decided(Some(LeaseSpec::default()), Duration::ZERO), Step::Claim(Claim::Take));
    }

    #[test]
    fn our_own_lease_is_renewed_however_old_it_is() {
        assert_eq!(decided(Some(record("pod-1")), Duration::ZERO), Step::Claim(Claim::Renew));
        assert_eq!(decided(Some(record("pod-1")), SECOND * 1_000), Step::Claim(Claim::Renew));
    }

    #[test]
    fn a_record_without_a_sensible_duration_gets_ours() {
        for seconds in [None, Some(0), Some(-1), Some(i32::MIN)] {
            let spec = LeaseSpec { lease_duration_seconds: seconds, ..record("pod-2") };
            assert_eq!(decided(Some(spec.clone()), SECOND * 34), wait_for("pod-2"), "{seconds:?}");
            assert_eq!(decided(Some(spec), SECOND * 35), Step::Claim(Claim::Take), "{seconds:?}");
        }
    }

    #[test]
    fn a_record_for_ages_is_believed_for_an_hour() {
        let spec = LeaseSpec { lease_duration_seconds: Some(i32::MAX), ..record("pod-2") };
        assert_eq!(decided(Some(spec.clone()), SECOND * 3_599), wait_for("pod-2"));
        assert_eq!(decided(Some(spec), SECOND * 3_600), Step::Claim(Claim::Take));
    }

    #[test]
    fn the_name_of_a_holder_is_shortened() {
        let Step::Wait { holder } = decided(Some(record(&"x".repeat(1_000_000))), Duration::ZERO) else {
            panic!("the holder is not believed")
        };
        assert_eq!(holder.len(), MAX_HOLDER_BYTES);
    }

    #[test]
    fn only_a_changed_record_is_a_sign_of_life() {
        let (first, later) = (Instant::now(), Instant::now() + SECOND);
        let seen = Sighting::after(None, Some(record("pod-2")), first);
        assert_eq!(seen.since, first);
        let seen = Sighting::after(Some(seen), Some(record("pod-2")), later);
        assert_eq!(seen.since, first);
        let renewed = LeaseSpec { renew_time: Some(micro("2026-01-01T11:00:05Z")), ..record("pod-2") };
        let seen = Sighting::after(Some(seen), Some(renewed), later);
        assert_eq!(seen.since, later);
        assert_eq!(Sighting::after(Some(seen), None, later + SECOND).since, later + SECOND);
    }

    #[test]
    fn the_first_record_counts_no_transition() {
        let now = "2026-02-01T00:00:00.123456Z";
        let expected = LeaseSpec {
            holder_identity: Some("pod-1".to_owned()),
            lease_duration_seconds: Some(35),
            acquire_time: Some(micro(now)),
            renew_time: Some(micro(now)),
            lease_transitions: Some(0),
            ..LeaseSpec::default()
        };
        assert_eq!(held(Claim::Create, None, &settings(), time(now)), expected);
    }

    #[test]
    fn a_renewal_changes_the_time_of_the_renewal_alone() {
        let now = "2026-02-01T00:00:00Z";
        let old = LeaseSpec { lease_duration_seconds: Some(35), ..record("pod-1") };
        let expected = LeaseSpec { renew_time: Some(micro(now)), ..old.clone() };
        assert_eq!(held(Claim::Renew, Some(&old), &settings(), time(now)), expected);
    }

    #[test]
    fn a_takeover_counts_a_transition_and_starts_anew() {
        let now = "2026-02-01T00:00:00Z";
        let old = LeaseSpec {
            strategy: Some("OldestEmulationVersion".to_owned()),
            preferred_holder: Some("pod-3".to_owned()),
            ..record("pod-2")
        };
        let expected = LeaseSpec {
            lease_duration_seconds: Some(35),
            acquire_time: Some(micro(now)),
            renew_time: Some(micro(now)),
            lease_transitions: Some(5),
            ..record("pod-1")
        };
        assert_eq!(held(Claim::Take, Some(&old), &settings(), time(now)), expected);
    }

    #[test]
    fn what_is_written_is_valid_whatever_was_there() {
        let now = time("2026-02-01T00:00:00Z");
        for (transitions, expected) in [(None, 1), (Some(-7), 1), (Some(i32::MAX), i32::MAX)] {
            let old = LeaseSpec { lease_transitions: transitions, ..record("pod-2") };
            assert_eq!(held(Claim::Take, Some(&old), &settings(), now).lease_transitions, Some(expected));
        }
        let empty = LeaseSpec { holder_identity: Some("pod-1".to_owned()), ..LeaseSpec::default() };
        let renewed = held(Claim::Renew, Some(&empty), &settings(), now);
        assert_eq!(renewed.acquire_time, Some(MicroTime(now)));
        let uneven = LeaseSettings { lease_duration: Duration::from_millis(2_001), ..settings() };
        assert_eq!(held(Claim::Create, None, &uneven, now).lease_duration_seconds, Some(3));
    }

    #[test]
    fn a_released_record_is_empty_and_keeps_the_count() {
        let now = "2026-02-01T00:00:00Z";
        let spec = released(&record("pod-1"), &settings(), time(now)).unwrap();
        let expected = LeaseSpec {
            lease_duration_seconds: Some(1),
            acquire_time: Some(micro(now)),
            renew_time: Some(micro(now)),
            ..record("")
        };
        assert_eq!(spec, expected);
        assert_eq!(decided(Some(spec), Duration::ZERO), Step::Claim(Claim::Take));
    }

    #[test]
    fn the_lease_of_another_is_not_released() {
        let now = time("2026-02-01T00:00:00Z");
        assert_eq!(released(&record("pod-2"), &settings(), now), None);
        assert_eq!(released(&record(""), &settings(), now), None);
        assert_eq!(released(&LeaseSpec::default(), &settings(), now), None);
    }
}
