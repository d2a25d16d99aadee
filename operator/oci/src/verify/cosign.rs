use std::sync::Arc;

use data_encoding::HEXLOWER;
use futures::future::BoxFuture;
use jiff::Timestamp;
use operator_net::Move;
use sha2::{Digest as _, Sha256};

use super::{
    Request, gather::Gatherer, policy::Policy, proof::Proof, refusal::Refusal, signature::Found,
    trusted_root::TrustRoot, verify,
};
use crate::{
    digest::Digest,
    registry::RegistryError,
    repository::Repository,
    trusted::{NotProven, Verifier},
};

/// Looks for signatures of cosign in a registry and checks them: first for bundles that refer to the artifact, then
/// under the tag that is made of its digest.
#[derive(Clone, Debug)]
pub struct Cosign {
    policy: Arc<Policy>,
    root: Arc<TrustRoot>,
    clock: fn() -> Timestamp,
}

impl Cosign {
    /// `clock` tells the time of a check.
    #[must_use]
    pub fn new(policy: Policy, root: Arc<TrustRoot>, clock: fn() -> Timestamp) -> Self {
        Self { policy: Arc::new(policy), root, clock }
    }

    async fn prove(&self, repository: &dyn Repository, artifact: Digest) -> Result<Proof, NotProven> {
        let mut gatherer = Gatherer::new(repository, artifact);
        let bundles = gatherer.bundles().await.map_err(unanswered)?;
        if !bundles.signatures.is_empty()
            && let Ok(proof) = self.judge(artifact, bundles.clone()).await?
        {
            return Ok(proof);
        }
        let tagged = gatherer.tagged().await.map_err(unanswered)?;
        self.judge(artifact, bundles.and(tagged))
            .await?
            .map_err(|refusal| NotProven { next_move: refusal.next_move(), cause: Box::new(refusal) })
    }

    /// On a thread of its own, since it may take a while.
    async fn judge(&self, artifact: Digest, found: Found) -> Result<Result<Proof, Refusal>, NotProven> {
        let Self { policy, root, clock } = self.clone();
        tokio::task::spawn_blocking(move || {
            verify(&Request { artifact, policy: &policy, root: &root, now: clock() }, &found)
        })
        .await
        .map_err(|error| NotProven { next_move: Move::Operator, cause: Box::new(error) })
    }
}

impl Verifier for Cosign {
    fn fingerprint(&self) -> String {
        let mut hasher = Sha256::new();
        self.policy.identify(&mut hasher);
        hasher.update(self.root.digest().bytes());
        HEXLOWER.encode(&hasher.finalize())
    }

    fn verify<'a>(
        &'a self,
        repository: &'a dyn Repository,
        subject: &'a Digest,
    ) -> BoxFuture<'a, Result<Proof, NotProven>> {
        Box::pin(self.prove(repository, *subject))
    }
}

fn unanswered(error: RegistryError) -> NotProven {
    NotProven { next_move: error.next_move(), cause: Box::new(error) }
}
