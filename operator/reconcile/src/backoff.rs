//! How long to wait after a failure.

use std::time::Duration;

/// The wait after the first failure.
pub(crate) const MIN_RETRY_DELAY: Duration = Duration::from_millis(750);

/// The longest wait between two tries.
pub(crate) const MAX_RETRY_DELAY: Duration = Duration::from_mins(15);

/// Doubles from the shortest to the longest delay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backoff {
    next: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { next: MIN_RETRY_DELAY }
    }
}

impl Backoff {
    /// The delay before the next try.
    pub(crate) fn next_delay(&mut self) -> Duration {
        let delay = self.next;
        self.next = delay.saturating_mul(2).min(MAX_RETRY_DELAY);
        delay
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Backoff, MAX_RETRY_DELAY};

    #[test]
    fn delays_double_up_to_a_limit() {
        let mut backoff = Backoff::default();
        let delays: Vec<Duration> = (0..4).map(|_| backoff.next_delay()).collect();
        assert_eq!(delays, [750, 1_500, 3_000, 6_000].map(Duration::from_millis));
        let last = (0..20).map(|_| backoff.next_delay()).last();
        assert_eq!(last, Some(MAX_RETRY_DELAY));
    }
}
