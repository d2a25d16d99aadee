//! What the probes of kubelet are told.

use std::sync::{Arc, Mutex, PoisonError};

/// Where the process is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// It connects to the cluster.
    #[default]
    Starting,
    /// Another process leads; this one waits for the lease.
    Waiting,
    /// It holds the lease, or needs none, and reconciles.
    Leading,
    /// It was told to stop.
    Stopping,
}

impl Phase {
    /// Whether the process does what it is there for. To wait for the lease is part of that: a rollout
    /// starts the new process before it stops the old one, and would wait forever for one that is not ready.
    #[must_use]
    pub fn is_ready(self) -> bool {
        matches!(self, Self::Waiting | Self::Leading)
    }

    /// The word that `/readyz` answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Waiting => "waiting for the lease",
            Self::Leading => "leading",
            Self::Stopping => "stopping",
        }
    }
}

/// A handle to tell the probes of the process; clones speak of the same process.
#[derive(Clone, Debug, Default)]
pub struct Health {
    phase: Arc<Mutex<Phase>>,
}

impl Health {
    /// The phase is another one from now on.
    pub fn set(&self, phase: Phase) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
    }

    /// The phase that was set last; `Starting` before any was.
    #[must_use]
    pub fn phase(&self) -> Phase {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{Health, Phase};

    #[test]
    fn a_process_is_ready_while_it_leads_or_waits_for_the_lease() {
        let health = Health::default();
        let clone = health.clone();
        assert!(!clone.phase().is_ready());
        for (phase, ready) in [
            (Phase::Waiting, true),
            (Phase::Leading, true),
            (Phase::Stopping, false),
            (Phase::Starting, false),
        ] {
            health.set(phase);
            assert_eq!((clone.phase(), clone.phase().is_ready()), (phase, ready));
        }
    }
}
