use std::fmt;

use jiff::Timestamp;

use super::excerpt::Excerpt;
use crate::digest::Digest;

/// That an artifact was signed by whom it should be. Nobody but [`verify`](super::verify) makes one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Proof {
    subject: Digest,
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

impl Proof {
    pub(super) fn new(subject: Digest, signer: Signer, signed_at: Option<Timestamp>) -> Self {
        Self { subject, signer, signed_at }
    }

    /// What was signed.
    #[must_use]
    pub fn subject(&self) -> Digest {
        self.subject
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

impl fmt::Display for Proof {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "signed by {}", self.signer)?;
        match self.signed_at {
            Some(time) => write!(formatter, " at {time}"),
            None => Ok(()),
        }
    }
}
