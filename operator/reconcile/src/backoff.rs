//! How long to wait after a failure.

use std::time::Duration;

/// The shortest and the longest wait between two tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryDelays {
    /// The wait after the first failure. Defaults to 750 ms.
    pub shortest: Duration,
    /// The longest wait. Defaults to 15 min.
    pub longest: Duration,
}

impl Default for RetryDelays {
    fn default() -> Self {
        Self { shortest: Duration::from_millis(750), longest: Duration::from_mins(15) }
    }
}

/// Doubles from the shortest to the longest delay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backoff {
    delays: RetryDelays,
    next: Duration,
}

impl Backoff {
    /// Starts at the shortest delay.
    pub(crate) fn new(delays: RetryDelays) -> Self {
        Self { delays, next: delays.shortest }
    }

    /// The delay before the next try.
    pub(crate) fn next_delay(&mut self) -> Duration {
        let delay = self.next;
        self.next = delay.saturating_mul(2).min(self.delays.longest);
        delay
    }

    /// Starts anew.
    pub(crate) fn reset(&mut self) {
        self.next = self.delays.shortest;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Backoff, RetryDelays};

    #[test]
    fn delays_double_up_to_a_limit() {
        let delays = RetryDelays::default();
        let mut backoff = Backoff::new(delays);
        let taken: Vec<Duration> = (0..4).map(|_| backoff.next_delay()).collect();
        assert_eq!(taken, [750, 1_500, 3_000, 6_000].map(Duration::from_millis));
        let last = (0..20).map(|_| backoff.next_delay()).last();
        assert_eq!(last, Some(delays.longest));
        backoff.reset();
        assert_eq!(backoff.next_delay(), delays.shortest);
    }
}
