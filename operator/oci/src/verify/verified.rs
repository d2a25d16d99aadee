use std::fmt;

use jiff::Timestamp;

use super::{digest::ArtifactDigest, excerpt::Excerpt};

/// An artifact that may be used, and why.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TrustedArtifact {
    /// Somebody who is trusted has signed it.
    Verified(Verified),
    /// Nobody asked for a signature.
    Unverified(ArtifactDigest),
}

/// The proof that an artifact was signed by somebody who is trusted. Only [`verify`](super::verify) makes it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Verified {
    artifact: ArtifactDigest,
    signer: Signer,
    signed_at: Option<Timestamp>,
}

/// Who signed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Signer {
    /// Whoever has the private part of this key.
    Key {
        /// SHA-256 of the public key, in hexadecimal.
        fingerprint: String,
    },
    /// The holder of an identity.
    Identity {
        /// Who vouches for the identity.
        issuer: String,
        /// The identity: an address, or a URL of a workflow.
        subject: String,
    },
}

impl Verified {
    pub(super) fn new(artifact: ArtifactDigest, signer: Signer, signed_at: Option<Timestamp>) -> Self {
        Self { artifact, signer, signed_at }
    }

    /// What was signed.
    #[must_use]
    pub fn artifact(&self) -> ArtifactDigest {
        self.artifact
    }

    /// Who signed it.
    #[must_use]
    pub fn signer(&self) -> &Signer {
        &self.signer
    }

    /// When it was signed at the latest, where a log or a timestamp authority vouches for it.
    #[must_use]
    pub fn signed_at(&self) -> Option<Timestamp> {
        self.signed_at
    }
}

impl TrustedArtifact {
    /// The digest of the manifest.
    #[must_use]
    pub fn digest(&self) -> ArtifactDigest {
        match self {
            Self::Verified(verified) => verified.artifact,
            Self::Unverified(digest) => *digest,
        }
    }
}

impl fmt::Display for Signer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key { fingerprint } => write!(formatter, "key sha256:{fingerprint}"),
            Self::Identity { issuer, subject } => {
                write!(formatter, "{} of {}", Excerpt::of(subject), Excerpt::of(issuer))
            }
        }
    }
}

impl fmt::Display for Verified {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "signed by {}", self.signer)?;
        match self.signed_at {
            Some(time) => write!(formatter, " at {time}"),
            None => Ok(()),
        }
    }
}
