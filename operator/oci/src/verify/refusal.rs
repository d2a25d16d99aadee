use std::fmt;

use operator_net::Move;
use thiserror::Error;

use super::{excerpt::Excerpt, rejection::Rejection};
use crate::digest::Digest;

/// Most signatures that a message tells about; the others are counted.
const MAX_SHOWN: usize = 3;

/// Why an artifact is not accepted.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum Refusal {
    #[error("{artifact} is not signed: looked for signatures at {}", Places(looked_at))]
    NoSignature { artifact: Digest, looked_at: Vec<Excerpt> },
    #[error(
        "none of the {checked} newest signatures of {artifact} is acceptable, and {left_out} more were not looked at: \
         remove those that do not matter"
    )]
    TooManySignatures { artifact: Digest, checked: usize, left_out: usize },
    #[error("{artifact} has no acceptable signature: {}", Rejected(rejected))]
    NoneAccepted { artifact: Digest, rejected: Vec<RejectedSignature> },
}

/// A signature that does not count, and where it was found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RejectedSignature {
    /// A tag or a digest in the registry.
    pub location: Excerpt,
    /// Why it does not count.
    pub rejection: Rejection,
}

impl Refusal {
    /// Whose move it is: nobody's where only time is missing, and else that of whoever signs or says who should.
    #[must_use]
    pub fn next_move(&self) -> Move {
        let is_early =
            |signature: &RejectedSignature| matches!(signature.rejection, Rejection::FromTheFuture { .. });
        match self {
            Self::NoneAccepted { rejected, .. } if rejected.iter().any(is_early) => Move::Nobody,
            _ => Move::User,
        }
    }

    /// One word for conditions and events: of several signatures, that of the one that was probably meant.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::NoSignature { .. } => "NoSignature",
            Self::TooManySignatures { .. } => "TooManySignatures",
            Self::NoneAccepted { rejected, .. } => closest_first(rejected)
                .first()
                .map_or("NoSignature", |signature| signature.rejection.reason()),
        }
    }
}

fn closest_first(rejected: &[RejectedSignature]) -> Vec<&RejectedSignature> {
    let mut signatures: Vec<_> = rejected.iter().collect();
    signatures.sort_by_key(|signature| std::cmp::Reverse(signature.rejection.progress()));
    signatures
}

struct Places<'a>(&'a [Excerpt]);

impl fmt::Display for Places<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, place) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { " and " };
            write!(formatter, "{separator}{place}")?;
        }
        Ok(())
    }
}

struct Rejected<'a>(&'a [RejectedSignature]);

impl fmt::Display for Rejected<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, signature) in closest_first(self.0).into_iter().take(MAX_SHOWN).enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(formatter, "{separator}{}: {}", signature.location, signature.rejection)?;
        }
        match self.0.len().saturating_sub(MAX_SHOWN) {
            0 => Ok(()),
            more => write!(formatter, "; and {more} more"),
        }
    }
}
