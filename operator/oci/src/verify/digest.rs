use std::{fmt, str::FromStr};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use thiserror::Error;

/// The SHA-256 of an artifact's manifest: what a signature is about.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub struct ArtifactDigest([u8; 32]);

/// Why a text is no digest that signatures can be about.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("{text:?} is no digest of an artifact: sha256: and 64 lower-case hexadecimal digits are expected")]
pub struct ArtifactDigestError {
    text: String,
}

impl ArtifactDigest {
    /// The digest of `content`.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        Self(Sha256::digest(content).into())
    }

    /// The 32 bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// 64 lower-case hexadecimal digits, without the algorithm.
    #[must_use]
    pub fn hexadecimal(&self) -> String {
        HEXLOWER.encode(&self.0)
    }
}

impl FromStr for ArtifactDigest {
    type Err = ArtifactDigestError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix("sha256:")
            .and_then(|digits| HEXLOWER.decode(digits.as_bytes()).ok())
            .and_then(|bytes| bytes.try_into().ok())
            .map(Self)
            .ok_or_else(|| ArtifactDigestError { text: text.chars().take(100).collect() })
    }
}

impl fmt::Display for ArtifactDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "sha256:{}", self.hexadecimal())
    }
}

impl fmt::Debug for ArtifactDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
