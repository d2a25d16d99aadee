//! One operator's part in the election: reading, deciding and writing, once.

use k8s_openapi::api::coordination::v1::Lease;
use kube::core::ObjectMeta;
use tokio::time::Instant;

use super::{
    record::{Claim, Sighting, Step, decide, held, released},
    server::{LeaseError, Server},
    settings::LeaseSettings,
};

/// How often a record is looked at in one attempt: with what is remembered of it, and after a conflict as it
/// is. After a second conflict somebody else is at work, and the next attempt will see who.
const LOOKS: usize = 2;

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// The lease is ours, from before the record was sent.
    Held { since: Instant },
    /// Somebody else has it.
    Other { holder: String },
}

/// An operator that wants the lease or has it.
#[derive(Debug)]
pub(super) struct Candidate<S> {
    server: S,
    settings: LeaseSettings,
    sighting: Option<Sighting>,
    /// The lease as we wrote it last, if nobody is known to have changed it: a renewal needs no read before.
    written: Option<Lease>,
}

impl<S: Server> Candidate<S> {
    pub(super) fn new(server: S, settings: LeaseSettings) -> Self {
        Self { server, settings, sighting: None, written: None }
    }

    pub(super) fn settings(&self) -> &LeaseSettings {
        &self.settings
    }

    /// Takes or renews the lease, if that may be done.
    pub(super) async fn try_to_hold(&mut self) -> Result<Standing, LeaseError> {
        let mut looks = LOOKS;
        loop {
            looks -= 1;
            let lease = self.look().await?;
            let since = self.server.now();
            let seen = self.see(lease.as_ref(), since);
            let step = decide(&seen, since, &self.settings);
            self.sighting = Some(seen);
            let claim = match step {
                Step::Claim(claim) => claim,
                Step::Wait { holder } => return Ok(Standing::Other { holder }),
            };
            match self.write(claim, lease).await {
                Ok(lease) => {
                    self.sighting = Some(self.see(Some(&lease), self.server.now()));
                    self.written = Some(lease);
                    return Ok(Standing::Held { since });
                }
                Err(error) if error.is_outdated() && looks > 0 => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Empties the record, if it is ours.
    pub(super) async fn release(&mut self) -> Result<(), LeaseError> {
        let mut looks = LOOKS;
        loop {
            looks -= 1;
            let Some(mut lease) = self.look().await? else { return Ok(()) };
            let old = lease.spec.take().unwrap_or_default();
            let Some(spec) = released(&old, &self.settings, self.server.wall_clock()) else { return Ok(()) };
            lease.spec = Some(spec);
            match self.server.replace(&lease).await {
                Err(error) if error.is_outdated() && looks > 0 => {}
                outcome => return outcome.map(drop),
            }
        }
    }

    /// The lease as we wrote it, or else as it is. What is remembered is used once: if the attempt ends in any
    /// way but success, also by being dropped, the next one reads.
    async fn look(&mut self) -> Result<Option<Lease>, LeaseError> {
        match self.written.take() {
            Some(lease) => Ok(Some(lease)),
            None => self.server.read().await,
        }
    }

    fn see(&self, lease: Option<&Lease>, now: Instant) -> Sighting {
        let spec = lease.map(|lease| lease.spec.clone().unwrap_or_default());
        Sighting::after(self.sighting.clone(), spec, now)
    }

    async fn write(&self, claim: Claim, lease: Option<Lease>) -> Result<Lease, LeaseError> {
        let old = lease.as_ref().and_then(|lease| lease.spec.as_ref());
        let spec = held(claim, old, &self.settings, self.server.wall_clock());
        if let Some(lease) = lease {
            // Its metadata says which version is replaced.
            return self.server.replace(&Lease { spec: Some(spec), ..lease }).await;
        }
        let metadata = ObjectMeta { name: Some(self.settings.name.clone()), ..ObjectMeta::default() };
        self.server.create(&Lease { metadata, spec: Some(spec) }).await
    }
}
