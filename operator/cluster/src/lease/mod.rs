//! Leader election: of all operators of a cluster, one works and the others wait.
//!
//! # Expected flow
//! [`Leadership::acquire`] reads the Lease at every retry period until it can take it: because there is none,
//! nobody holds it, its holder has the same identity, or its holder has not renewed it for its lease duration.
//! From then on a task of its own renews it at every retry period, beside the work of the caller, who stops
//! that work when [`Leadership::lost`] ends, and calls [`Leadership::release`] after the work has stopped.
//!
//! # Guarantees
//! - A write never overwrites a record that was not read before: it names the version that it replaces, and
//!   the API server refuses it if there is a newer one.
//! - The lost leader knows first: it gives up one renew deadline after it *sent* its last successful renewal;
//!   others wait the longer lease duration from the moment they *saw* that renewal.
//! - No clock is compared with another machine's: times in the record are for people. Durations are
//!   measured here, by a clock that cannot be set.
//! - A released lease is taken at the next look of another operator, a retry period away at most.
//! - Every request and the release have a deadline. A record that is wrong in any way delays the election by
//!   one hour at most.
//!
//! # Assumptions
//! - The clocks of two machines run about equally fast: 30 s of one are no more than 35 s of another.
//! - The clock of a holder moves on between two renewals: a record that does not change is no sign of life.
//! - Identities differ. The name of the pod does, and lets a restarted container go on at once.
//!
//! # Caveats
//! - A lease is a hint, not a lock: a process that is stopped for longer than the lease duration, or whose
//!   machine sleeps, works on for a moment after it wakes, and a request that it sent may arrive later still.
//!   Whoever empties or deletes the record by hand makes two leaders for one retry period. Writes of two
//!   operators at once must do no harm.
//! - Dropped, a leadership is no longer renewed and not released: others wait the lease duration. The same
//!   holds for [`Leadership::acquire`] when it is dropped while it writes.

mod candidate;
mod record;
mod server;
mod settings;
#[cfg(test)]
mod simulation;

use std::{
    future::Future,
    hash::{BuildHasher as _, Hasher as _, RandomState},
    time::Duration,
};

use kube::Client;
use thiserror::Error;
use tokio::{
    select,
    sync::{oneshot, watch},
    task::JoinHandle,
    time::{Instant, sleep, timeout, timeout_at},
};
use tracing::{info, warn};

use crate::error::explain;
use candidate::{Candidate, Standing};
use server::ClusterServer;

pub use server::{LeaseError, LeaseVerb};
pub use settings::{
    DEFAULT_LEASE_DURATION, DEFAULT_RENEW_DEADLINE, DEFAULT_RETRY_PERIOD, LeaseSettings, LeaseSettingsError,
    MAX_LEASE_DURATION,
};

/// How long a release may take: it is half of the 10 s that an operator has to stop in.
const RELEASE_DEADLINE: Duration = Duration::from_secs(5);

/// Why an operator does not lead any more.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum Loss {
    #[error("the lease {lease} is held by {holder:?}, who took it from this operator")]
    Taken { lease: String, holder: String },
    #[error("the lease {lease} was not renewed for {} s: {last}", .after.as_secs_f32())]
    NotRenewed { lease: String, after: Duration, last: String },
    #[error("the task that renews the lease {lease} ended")]
    Ended { lease: String },
}

/// Why a lease was not released; others can take it when its duration is over.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum ReleaseError {
    #[error("failed to release the lease")]
    Request(#[source] LeaseError),
    #[error("failed to release the lease {lease} within {} s", RELEASE_DEADLINE.as_secs())]
    TooLong { lease: String },
    #[error("failed to release the lease {lease}: the task that renewed it had ended")]
    Ended { lease: String },
}

/// The lease is held and renewed for as long as this lives, unless it is [lost](Self::lost).
#[derive(Debug)]
pub struct Leadership {
    lease: String,
    loss: watch::Receiver<Option<Loss>>,
    stop: oneshot::Sender<()>,
    renewing: JoinHandle<Candidate<ClusterServer>>,
}

impl Leadership {
    /// Waits until this operator leads. Says in the log whom it waits for, once for each holder.
    ///
    /// # Errors
    /// When the settings contradict each other, or the API server forbids what has to be done with the lease.
    /// Every other failure is logged, and tried again after the retry period.
    pub async fn acquire(client: Client, settings: LeaseSettings) -> Result<Self, LeaseError> {
        settings.check()?;
        let lease = settings.to_string();
        let mut candidate = Candidate::new(ClusterServer::new(client, &settings), settings);
        let since = wait_until_held(&mut candidate).await?;
        info!(lease, identity = candidate.settings().identity, "became leader");
        let (tell, loss) = watch::channel(None);
        let (stop, stopped) = oneshot::channel();
        let renewing = tokio::spawn(renew_until(candidate, since, stopped, tell));
        Ok(Self { lease, loss, stop, renewing })
    }

    /// Ends when this operator leads no longer, and says why; at once if that has happened already. It is for
    /// the caller to tell people.
    pub fn lost(&self) -> impl Future<Output = Loss> + Send + use<> {
        let mut loss = self.loss.clone();
        let lease = self.lease.clone();
        async move {
            let told = loss.wait_for(Option::is_some).await.ok().and_then(|loss| loss.clone());
            told.unwrap_or(Loss::Ended { lease })
        }
    }

    /// Stops renewing and empties the record, so that others need not wait. The work has to be over. A lease
    /// that is no longer held is left alone.
    ///
    /// # Errors
    /// When that is not done within 5 s, or the API server refuses it.
    pub async fn release(self) -> Result<(), ReleaseError> {
        let Self { lease, loss: _, stop, renewing } = self;
        drop(stop);
        let release = async {
            match renewing.await {
                Ok(mut candidate) => candidate.release().await.map_err(ReleaseError::Request),
                Err(_) => Err(ReleaseError::Ended { lease: lease.clone() }),
            }
        };
        match timeout(RELEASE_DEADLINE, release).await {
            Ok(outcome) => outcome,
            Err(_) => Err(ReleaseError::TooLong { lease: lease.clone() }),
        }
    }
}

/// Tries until the lease is held; gives the moment from which it is.
async fn wait_until_held(candidate: &mut Candidate<ClusterServer>) -> Result<Instant, LeaseError> {
    let lease = candidate.settings().to_string();
    let mut told = String::new();
    loop {
        match candidate.try_to_hold().await {
            Ok(Standing::Held { since }) => return Ok(since),
            Ok(Standing::Other { holder }) if holder == told => {}
            Ok(Standing::Other { holder }) => {
                info!(lease, holder, "another operator leads, waiting for it to stop");
                told = holder;
            }
            Err(error @ LeaseError::Forbidden { .. }) => return Err(error),
            Err(error) => {
                let error = explain(&error);
                if error != told {
                    warn!(error, "failed to become leader, trying again");
                }
                told = error;
            }
        }
        sleep(jittered(candidate.settings().retry_period, random())).await;
    }
}

/// Renews the lease until the leadership is lost or the caller stops it, and gives the candidate back.
async fn renew_until(
    mut candidate: Candidate<ClusterServer>,
    mut since: Instant,
    mut stopped: oneshot::Receiver<()>,
    tell: watch::Sender<Option<Loss>>,
) -> Candidate<ClusterServer> {
    let after = candidate.settings().renew_deadline;
    let lease = candidate.settings().to_string();
    let mut last = String::new();
    let loss = loop {
        "no renewal was answered".clone_into(&mut last);
        let renewal = timeout_at(since + after, renew(&mut candidate, &mut last));
        let outcome = select! {
            biased;
            // Sent by nobody: the caller drops its end, on purpose or with the leadership.
            _ = &mut stopped => return candidate,
            outcome = renewal => outcome,
        };
        match outcome {
            Ok(Standing::Held { since: renewed }) => since = renewed,
            Ok(Standing::Other { holder }) => break Loss::Taken { lease, holder },
            Err(_) => break Loss::NotRenewed { lease, after, last },
        }
    };
    tell.send_replace(Some(loss));
    candidate
}

/// Renews the lease once, one retry period from now; tries again after failures, of which the last is noted.
async fn renew(candidate: &mut Candidate<ClusterServer>, last: &mut String) -> Standing {
    loop {
        sleep(jittered(candidate.settings().retry_period, random())).await;
        match candidate.try_to_hold().await {
            Ok(standing) => return standing,
            Err(error) => {
                *last = explain(&error);
                warn!(error = last, "failed to renew the lease, trying again");
            }
        }
    }
}

/// The period and up to a fifth of it, so that operators that started together do not ask together forever.
fn jittered(period: Duration, random: u64) -> Duration {
    let permille = random % u64::from(settings::MAX_JITTER_PERMILLE + 1);
    period + period * u32::try_from(permille).unwrap_or_default() / 1000
}

/// The standard library gives every hasher keys of its own, which start from the system's randomness.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, time::Duration};

    use proptest::prelude::{any, proptest};

    use super::{jittered, random};

    proptest! {
        #[test]
        fn jitter_adds_up_to_a_fifth(milliseconds in 1_u64..100_000, random in any::<u64>()) {
            let period = Duration::from_millis(milliseconds);
            let waited = jittered(period, random);
            assert!(waited >= period && waited <= period * 6 / 5, "{waited:?}");
        }
    }

    #[test]
    fn jitter_differs_from_call_to_call() {
        let waits: BTreeSet<_> = (0..20).map(|_| jittered(Duration::from_secs(5), random())).collect();
        assert!(waits.len() > 5, "{waits:?}");
    }
}
