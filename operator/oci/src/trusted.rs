use std::{error::Error, path::Path, sync::Arc};

use futures::future::BoxFuture;
use operator_net::Move;
use thiserror::Error;

use crate::{
    artifacts::FetchError,
    cache::{CacheError, Entry},
    digest::Digest,
    folder::{Folder, FolderError},
    reference::Reference,
    repository::Repository,
    verify::Proof,
};

/// Files of an artifact, unpacked. They stay where they are as long as this or a clone of it lives.
#[derive(Clone, Debug)]
pub struct Artifact {
    pub(crate) reference: Reference,
    pub(crate) digest: Digest,
    pub(crate) entry: Arc<Entry>,
}

/// An artifact whose signature was proven.
#[derive(Clone, Debug)]
pub struct VerifiedArtifact {
    artifact: Artifact,
    proof: Proof,
}

/// Files of an artifact, and whether they may be trusted.
///
/// `Verified` can be built with a [`Proof`] alone, and a proof by `verify` alone.
#[derive(Clone, Debug)]
pub enum TrustedArtifact {
    /// A signature was asked for, and proven.
    Verified(VerifiedArtifact),
    /// No signature was asked for.
    Unverified(Artifact),
}

/// Proves that an artifact was signed by whom it should be.
pub trait Verifier: Send + Sync {
    /// What is asked for, as a text that differs when anything of it does: keys, identities, trusted root. It is
    /// compared and never shown.
    fn fingerprint(&self) -> String;

    /// Proves that `subject`, which is what the tag resolves to, was signed. Nothing of it has been unpacked yet.
    ///
    /// # Errors
    /// When there is no proof.
    fn verify<'a>(
        &'a self,
        repository: &'a dyn Repository,
        subject: &'a Digest,
    ) -> BoxFuture<'a, Result<Proof, NotProven>>;
}

/// Why an artifact is not proven to be signed.
#[derive(Debug, Error)]
#[error("{cause}")]
pub struct NotProven {
    /// Who can make it succeed: the user where signature and policy differ, nobody where a server had trouble.
    pub next_move: Move,
    /// What was looked for and what was found.
    pub cause: Box<dyn Error + Send + Sync>,
}

impl Artifact {
    /// What was asked for.
    #[must_use]
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// What the reference resolved to: the digest of an image, or of an index.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The digest of the image, which for an index is another: `status.lastArtifactRevision`.
    #[must_use]
    pub fn image_digest(&self) -> Digest {
        self.entry.image_digest()
    }

    /// Where the files are.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.entry.files()
    }

    /// The files as those of a Flux distribution, under the name of the artifact.
    ///
    /// # Errors
    /// When they have no folder `flux/`.
    pub fn distribution(&self) -> Result<Folder, FetchError> {
        let name = self.reference.pinned(self.digest).to_string();
        match Folder::open_distribution(self.path()) {
            Ok(folder) => Ok(folder.named(name)),
            Err(FolderError::NoReleases { .. }) => {
                Err(FetchError::NoReleases { reference: self.reference.clone(), digest: self.digest })
            }
            Err(FolderError::Unreadable { root, source }) => {
                Err(CacheError::Disk { verb: "read", path: root, source }.into())
            }
        }
    }
}

impl VerifiedArtifact {
    /// Joins an artifact with the proof of its signature; none when the proof is about another.
    pub(crate) fn new(artifact: Artifact, proof: Proof) -> Option<Self> {
        (proof.subject() == artifact.digest).then_some(Self { artifact, proof })
    }

    /// The files.
    #[must_use]
    pub fn artifact(&self) -> &Artifact {
        &self.artifact
    }

    /// Who signed.
    #[must_use]
    pub fn proof(&self) -> &Proof {
        &self.proof
    }
}

impl TrustedArtifact {
    /// The files.
    #[must_use]
    pub fn artifact(&self) -> &Artifact {
        match self {
            Self::Verified(verified) => verified.artifact(),
            Self::Unverified(artifact) => artifact,
        }
    }
}
