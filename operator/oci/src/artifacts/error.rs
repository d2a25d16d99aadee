use std::{error::Error, time::Duration};

use operator_net::{HttpError, Move};
use thiserror::Error;

use crate::{
    cache::CacheError, digest::Digest, manifest::ManifestError, reference::Reference,
    registry::RegistryError, trusted::NotProven, unpack::UnpackError,
};

/// Why there is no artifact.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum FetchError {
    #[error("certificates for {reference} cannot be used")]
    Certificates { reference: Reference, source: HttpError },
    #[error("failed to resolve {reference}")]
    Resolve { reference: Reference, source: RegistryError },
    #[error("failed to pull {reference}")]
    Pull { reference: Reference, source: RegistryError },
    #[error("{reference} cannot be used: the manifest {digest} is none of files for Flux")]
    Manifest { reference: Reference, digest: Digest, source: ManifestError },
    #[error(
        "{reference} cannot be used: {digest} has no folder flux/ with a folder for each version of Flux, such as \
         flux/v2.9.5/"
    )]
    NoReleases { reference: Reference, digest: Digest },
    #[error("{reference} was moved from {from} to {to} while it was pulled")]
    Moved { reference: Reference, from: Digest, to: Digest },
    #[error("{reference} cannot be used: failed to unpack {digest}")]
    Unpack { reference: Reference, digest: Digest, source: UnpackError },
    #[error("{reference} is refused: the signature of {digest} is not proven")]
    NotVerified { reference: Reference, digest: Digest, source: NotProven },
    #[error("{reference} is refused: the proof of a signature is about something else than {digest}")]
    OtherProof { reference: Reference, digest: Digest },
    #[error("{reference} could not be fetched within {limit:?}")]
    Late { reference: Reference, limit: Duration },
    #[error(transparent)]
    Cache(#[from] CacheError),
    #[error("unpacking an artifact was stopped")]
    Stopped { source: tokio::task::JoinError },
}

impl FetchError {
    /// Who can make it succeed: the user by changing the instance or the artifact, whoever runs the operator, or
    /// nobody, and then it is tried again.
    #[must_use]
    pub fn next_move(&self) -> Move {
        match self {
            Self::Certificates { source, .. } => source.next_move(),
            Self::Resolve { source, .. } | Self::Pull { source, .. } => source.next_move(),
            Self::NotVerified { source, .. } => source.next_move,
            Self::Unpack { source, .. } if source.is_of_the_disk() => Move::Operator,
            Self::Manifest { .. }
            | Self::NoReleases { .. }
            | Self::Unpack { .. }
            | Self::OtherProof { .. } => Move::User,
            Self::Moved { .. } | Self::Late { .. } | Self::Stopped { .. } => Move::Nobody,
            Self::Cache(source) => source.next_move(),
        }
    }

    /// How long the registry wants to be left alone.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Resolve { source, .. } | Self::Pull { source, .. } => source.retry_after(),
            _ => None,
        }
    }

    /// The message of the condition: what failed with its causes, and what to do. Nothing in it is secret, and it is
    /// the same each time.
    #[must_use]
    pub fn message(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            let said = error.to_string();
            // Some errors show the cause that they also name.
            if !text.ends_with(&said) {
                text.push_str(": ");
                text.push_str(&said);
            }
            cause = error.source();
        }
        match self.advice() {
            Some(advice) => format!("{text}; {advice}"),
            None => text,
        }
    }

    fn advice(&self) -> Option<&'static str> {
        let (Self::Resolve { source, .. } | Self::Pull { source, .. }) = self else { return None };
        match source {
            RegistryError::Http(HttpError::Stranger { .. }) => Some(
                "name its authority in the Secret of artifactCertSecretRef, as ca.crt, or renew the certificate",
            ),
            RegistryError::Http(HttpError::NoTls { .. }) => {
                Some("if it is meant to speak plain HTTP, set artifactInsecure")
            }
            _ => None,
        }
    }
}
