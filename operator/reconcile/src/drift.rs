//! When objects that drifted are put right: at once, and more and more slowly where somebody takes the same
//! fields again and again. Each object has a pace of its own.

use std::{collections::BTreeMap, time::Duration};

use crds::ObjectId;
use tokio::time::Instant;

use crate::backoff::{Backoff, RetryDelays};

/// How long putting an object right waits: long enough to gather what comes together, and at most a minute.
pub(crate) const DRIFT_DELAYS: RetryDelays =
    RetryDelays { shortest: Duration::from_millis(100), longest: Duration::from_mins(1) };

/// The pace of each object that drifted lately.
#[derive(Debug, Default)]
pub(crate) struct DriftPace(BTreeMap<ObjectId, Pace>);

#[derive(Debug)]
struct Pace {
    backoff: Backoff,
    /// When it is to be put right; none while it has not drifted again.
    due: Option<Instant>,
    /// When it was last tried to put it right.
    tried: Option<Instant>,
}

impl Default for Pace {
    fn default() -> Self {
        Self { backoff: Backoff::new(DRIFT_DELAYS), due: None, tried: None }
    }
}

impl DriftPace {
    /// When the first of all objects that have drifted is to be put right. What has not drifted for a while is
    /// forgotten, and so is what is right again by itself.
    pub(crate) fn first_due(&mut self, drifted: &[ObjectId], now: Instant) -> Option<Instant> {
        self.0.retain(|id, pace| {
            let is_recent = pace.tried.is_some_and(|tried| now.duration_since(tried) <= DRIFT_DELAYS.longest);
            drifted.contains(id) || is_recent
        });
        for (id, pace) in &mut self.0 {
            if !drifted.contains(id) {
                pace.due = None;
            }
        }
        drifted.iter().map(|id| self.0.entry(id.clone()).or_default().due(now)).min()
    }

    /// Whether an object may be put right now. One that has not drifted lately always may.
    pub(crate) fn is_due(&self, id: &ObjectId, now: Instant) -> bool {
        self.0.get(id).and_then(|pace| pace.due).is_none_or(|due| due <= now)
    }

    /// Takes note that an object was put right, or that it was tried in vain.
    pub(crate) fn note_tried(&mut self, id: &ObjectId, now: Instant) {
        if let Some(pace) = self.0.get_mut(id) {
            (pace.due, pace.tried) = (None, Some(now));
        }
    }
}

impl Pace {
    fn due(&mut self, now: Instant) -> Instant {
        if let Some(due) = self.due {
            return due;
        }
        if self.tried.is_some_and(|tried| now.duration_since(tried) > DRIFT_DELAYS.longest) {
            self.backoff.reset();
        }
        let due = now + self.backoff.next_delay();
        self.due = Some(due);
        due
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crds::ObjectId;
    use tokio::time::Instant;

    use super::{DRIFT_DELAYS, DriftPace};

    fn id(name: &str) -> ObjectId {
        ObjectId {
            group: String::new(),
            kind: "Service".to_owned(),
            namespace: "n".to_owned(),
            name: name.to_owned(),
        }
    }

    #[test]
    fn who_takes_the_same_fields_again_and_again_does_not_slow_down_other_objects() {
        let (mut pace, mut now) = (DriftPace::default(), Instant::now());
        let mut waits = Vec::new();
        for _ in 0..5 {
            let due = pace.first_due(&[id("a")], now).unwrap();
            assert_eq!(pace.first_due(&[id("a")], now), Some(due), "looking again does not move it");
            assert!(!pace.is_due(&id("a"), now) && pace.is_due(&id("a"), due));
            waits.push((due - now).as_millis());
            now = due;
            pace.note_tried(&id("a"), now);
        }
        assert_eq!(waits, [100, 200, 400, 800, 1_600]);
        let first = pace.first_due(&[id("a"), id("b")], now).unwrap();
        assert_eq!(first - now, DRIFT_DELAYS.shortest, "of the other object");
        assert!(pace.is_due(&id("b"), first) && !pace.is_due(&id("a"), first));
    }

    #[test]
    fn waits_have_a_longest_one_and_end_with_the_quarrel() {
        let (mut pace, mut now) = (DriftPace::default(), Instant::now());
        let mut last = Duration::ZERO;
        for _ in 0..20 {
            let due = pace.first_due(&[id("a")], now).unwrap();
            last = due - now;
            now = due;
            pace.note_tried(&id("a"), now);
        }
        assert_eq!(last, DRIFT_DELAYS.longest);
        now += DRIFT_DELAYS.longest * 2;
        assert_eq!(pace.first_due(&[], now), None);
        assert!(pace.0.is_empty(), "what did not drift for long is forgotten");
        assert_eq!(pace.first_due(&[id("a")], now), Some(now + DRIFT_DELAYS.shortest));
    }

    #[test]
    fn what_is_right_again_by_itself_is_not_due() {
        let (mut pace, now) = (DriftPace::default(), Instant::now());
        let due = pace.first_due(&[id("a")], now).unwrap();
        pace.note_tried(&id("a"), due);
        pace.first_due(&[id("a")], due);
        assert_eq!(pace.first_due(&[], due), None);
        let later = due + Duration::from_secs(1);
        assert_eq!(pace.first_due(&[id("a")], later), Some(later + Duration::from_millis(400)));
    }
}
