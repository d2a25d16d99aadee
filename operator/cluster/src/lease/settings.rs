//! Who wants the lease, and how long everything takes.

use std::{fmt, time::Duration};

use thiserror::Error;

/// How long others wait for a holder that does not renew.
pub const DEFAULT_LEASE_DURATION: Duration = Duration::from_secs(35);
/// How long a leader tries to renew before it gives up.
pub const DEFAULT_RENEW_DEADLINE: Duration = Duration::from_secs(30);
/// How long everybody waits between two looks.
pub const DEFAULT_RETRY_PERIOD: Duration = Duration::from_secs(5);
/// The longest lease duration: a record that names a longer one is believed for this long. A holder that died
/// with a longer one would leave Flux without an operator.
pub const MAX_LEASE_DURATION: Duration = Duration::from_hours(1);

/// How much longer than the retry period a wait can be, in thousandths of it.
pub(super) const MAX_JITTER_PERMILLE: u32 = 200;
/// How many requests without an answer fit into the renew deadline: one lost connection must not cost the
/// leadership.
const REQUESTS_BEFORE_LOSS: u32 = 3;

/// Who wants which lease, and the times of the election.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseSettings {
    /// Namespace of the Lease: the one of the operator.
    pub namespace: String,
    /// Name of the Lease. Defaults to `flux-operator`.
    pub name: String,
    /// Who is asking: the name of the pod. Two operators with one identity are taken for one.
    pub identity: String,
    /// How long others wait for a holder that does not renew; longer than `renew_deadline`, at most 1 h.
    /// Written to the record in whole seconds, rounded up. Defaults to 35 s.
    pub lease_duration: Duration,
    /// How long a leader tries to renew before it gives up; longer than `retry_period` with its jitter of a
    /// fifth. Defaults to 30 s.
    pub renew_deadline: Duration,
    /// How long everybody waits between two looks, and a leader between two renewals. Defaults to 5 s.
    pub retry_period: Duration,
}

/// Settings with which no election works.
#[derive(Debug, Error, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum LeaseSettingsError {
    #[error("the {field} of the leader election is empty: name one")]
    Empty { field: &'static str },
    #[error("the retry period of the leader election is 0: use 1 s or more")]
    NoRetryPeriod,
    #[error(
        "the renew deadline of the leader election ({} s) is too short for one renewal: use more than 1.2 times \
         the retry period ({} s)", renew_deadline.as_secs_f32(), retry_period.as_secs_f32()
    )]
    RenewDeadlineTooShort { renew_deadline: Duration, retry_period: Duration },
    #[error(
        "the lease duration of the leader election ({} s) is not longer than the renew deadline ({} s): two \
         operators would lead at once", lease_duration.as_secs_f32(), renew_deadline.as_secs_f32()
    )]
    LeaseTooShort { lease_duration: Duration, renew_deadline: Duration },
    #[error(
        "the lease duration of the leader election ({} s) is longer than {} s",
        lease_duration.as_secs(), MAX_LEASE_DURATION.as_secs()
    )]
    LeaseTooLong { lease_duration: Duration },
}

impl LeaseSettings {
    /// The operator's lease in a namespace, with the default times.
    #[must_use]
    pub fn new(namespace: impl Into<String>, identity: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            name: crds::FIELD_MANAGER.to_owned(),
            identity: identity.into(),
            lease_duration: DEFAULT_LEASE_DURATION,
            renew_deadline: DEFAULT_RENEW_DEADLINE,
            retry_period: DEFAULT_RETRY_PERIOD,
        }
    }

    /// Says whether an election can work with these settings.
    ///
    /// # Errors
    /// Names the first setting that is missing or does not go with the others.
    pub fn check(&self) -> Result<(), LeaseSettingsError> {
        let &Self { lease_duration, renew_deadline, retry_period, .. } = self;
        let texts = [("namespace", &self.namespace), ("name", &self.name), ("identity", &self.identity)];
        if let Some((field, _)) = texts.into_iter().find(|(_, text)| text.is_empty()) {
            return Err(LeaseSettingsError::Empty { field });
        }
        if retry_period.is_zero() {
            return Err(LeaseSettingsError::NoRetryPeriod);
        }
        if lease_duration > MAX_LEASE_DURATION {
            return Err(LeaseSettingsError::LeaseTooLong { lease_duration });
        }
        if lease_duration <= renew_deadline {
            return Err(LeaseSettingsError::LeaseTooShort { lease_duration, renew_deadline });
        }
        if renew_deadline <= retry_period.saturating_mul(1000 + MAX_JITTER_PERMILLE) / 1000 {
            return Err(LeaseSettingsError::RenewDeadlineTooShort { renew_deadline, retry_period });
        }
        Ok(())
    }

    /// How long one request may take.
    pub(super) fn request_deadline(&self) -> Duration {
        self.renew_deadline / REQUESTS_BEFORE_LOSS
    }
}

/// The lease as messages call it: namespace and name.
impl fmt::Display for LeaseSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.namespace, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(change: impl FnOnce(&mut LeaseSettings)) -> Result<(), String> {
        let mut settings = LeaseSettings::new("flux-system", "pod-1");
        change(&mut settings);
        settings.check().map_err(|error| error.to_string())
    }

    fn refusal(change: impl FnOnce(&mut LeaseSettings)) -> String {
        with(change).unwrap_err()
    }

    #[test]
    fn the_defaults_work_and_name_the_lease() {
        assert_eq!(with(|_| {}), Ok(()));
        assert_eq!(LeaseSettings::new("flux-system", "pod-1").to_string(), "flux-system/flux-operator");
    }

    #[test]
    fn what_is_empty_is_named() {
        assert!(refusal(|settings| settings.namespace.clear()).starts_with("the namespace of"));
        assert!(refusal(|settings| settings.name.clear()).starts_with("the name of"));
        assert!(refusal(|settings| settings.identity.clear()).starts_with("the identity of"));
    }

    #[test]
    fn the_leader_has_to_give_up_before_others_take_over() {
        let message = refusal(|settings| settings.lease_duration = settings.renew_deadline);
        assert_eq!(
            message,
            "the lease duration of the leader election (30 s) is not longer than the renew deadline (30 s): two \
             operators would lead at once"
        );
    }

    #[test]
    fn one_renewal_with_the_longest_jitter_has_to_fit_into_the_deadline() {
        let message = refusal(|settings| settings.retry_period = Duration::from_secs(25));
        assert!(message.contains("(30 s) is too short for one renewal"), "{message}");
        assert_eq!(with(|settings| settings.retry_period = Duration::from_secs(24)), Ok(()));
        assert!(refusal(|settings| settings.retry_period = Duration::ZERO).contains("is 0"));
        assert!(refusal(|settings| settings.retry_period = Duration::MAX).contains("too short"));
    }

    #[test]
    fn a_dead_holder_blocks_others_for_an_hour_at_most() {
        assert_eq!(with(|settings| settings.lease_duration = MAX_LEASE_DURATION), Ok(()));
        let message = refusal(|settings| settings.lease_duration = Duration::MAX);
        assert!(message.ends_with("is longer than 3600 s"), "{message}");
    }
}
