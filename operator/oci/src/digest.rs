use std::{fmt, str::FromStr};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use thiserror::Error;

/// The SHA-256 of content: what it is asked for by, and what it is checked against.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Digest([u8; 32]);

/// Why a text is no digest.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("{text:?} is no digest: sha256: and 64 lower-case hexadecimal digits are expected")]
pub struct DigestError {
    text: String,
}

/// How much of a wrong text is shown, in characters: a digest has 71.
const SHOWN_CHARACTERS: usize = 100;

impl Digest {
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

    /// The tag `sha256-<hexadecimal><suffix>` under which signatures of this content, and lists of what refers to
    /// it, are found where a registry has no other way to ask for them.
    #[must_use]
    pub fn tag(&self, suffix: &str) -> String {
        format!("sha256-{}{suffix}", self.hexadecimal())
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix("sha256:")
            .and_then(|digits| HEXLOWER.decode(digits.as_bytes()).ok())
            .and_then(|bytes| bytes.try_into().ok())
            .map(Self)
            .ok_or_else(|| DigestError { text: text.chars().take(SHOWN_CHARACTERS).collect() })
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "sha256:{}", self.hexadecimal())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// Takes the digest of content that comes in pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hasher(Sha256);

impl Hasher {
    pub(crate) fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    pub(crate) fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::{Digest, Hasher};

    const EMPTY: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn a_digest_is_read_as_it_is_written() {
        let digest = Digest::of(b"");
        assert_eq!(digest.to_string(), EMPTY);
        assert_eq!(EMPTY.parse(), Ok(digest));
        assert_eq!(Hasher::default().finish(), digest);
        assert_eq!(digest.tag(".sig"), format!("{}.sig", EMPTY.replace(':', "-")));
    }

    #[rstest]
    #[case("")]
    #[case("sha256:")]
    #[case("sha256:E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855")]
    #[case("sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b8")]
    #[case("sha512:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")]
    #[case("sha256:../../../../../../../../../../../../../../../../../../../../etc/passwd")]
    fn anything_else_is_refused(#[case] text: &str) {
        let message = text.parse::<Digest>().unwrap_err().to_string();
        assert!(message.contains("64 lower-case hexadecimal digits"), "{message}");
    }
}
