use jiff::Timestamp;
use thiserror::Error;

use super::{
    excerpt::Excerpt,
    trusted_root::{REFRESH_COMMAND, REFRESHED_FILE, RootDescription},
};
use crate::digest::Digest;

/// Why one signature does not count. Each says what was looked for and what was found.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum Rejection {
    #[error("it cannot be read: {problem}")]
    Unreadable { problem: Excerpt },
    #[error("its {what} has {size} {unit}, {limit} are allowed")]
    TooLarge { what: &'static str, size: usize, unit: &'static str, limit: usize },
    #[error("it has no {what}: was it stripped?")]
    Stripped { what: &'static str },
    #[error("it uses something that cannot be checked: {problem}")]
    Unsupported { problem: Excerpt },
    #[error("it is about another artifact, {found}; copy the signatures of {artifact} with it")]
    OtherArtifact { artifact: Digest, found: Excerpt },
    #[error("it states {predicate}, which is no signature of cosign: sign with `cosign sign`")]
    NotASignature { predicate: Excerpt },
    #[error("it was made with another key, {found}; looked for {expected}")]
    WrongKey { expected: String, found: Excerpt },
    #[error("it was made with a key, not by a known identity; looked for {expected}")]
    NoIdentity { expected: String },
    #[error("it does not fit what it signs, which was changed after signing: {problem}")]
    Tampered { problem: Excerpt },
    #[error("issuer {issuer} with subject {subject} signed it; looked for {expected}")]
    WrongIdentity { issuer: Excerpt, subject: Excerpt, expected: String },
    #[error(
        "issuer {issuer} with subject {subject} signed it, which only resembles {expected}: a pattern has to match \
         the whole value, and upper and lower case differ"
    )]
    LookAlike { issuer: Excerpt, subject: Excerpt, expected: String },
    #[error(
        "its certificate, valid from {not_before} to {not_after}, or one above it, was not valid when it was signed: \
         {problem}"
    )]
    CertificateExpired { not_before: Timestamp, not_after: Timestamp, problem: Excerpt },
    #[error("its certificate comes from no authority in {root}: {problem}")]
    UnknownAuthority { root: RootDescription, problem: Excerpt },
    #[error("its certificate is in no certificate log of {root}: {problem}")]
    CertificateNotLogged { root: RootDescription, problem: Excerpt },
    #[error(
        "no transparency log has it; sign it with an upload to the log, or allow signatures without one by ignoreTlog"
    )]
    NotLogged,
    #[error("its entry is of a transparency log that is not in {root}: {problem}")]
    UnknownLog { root: RootDescription, problem: Excerpt },
    #[error("its entry in the transparency log belongs to another signature: {problem}")]
    OtherLogEntry { problem: Excerpt },
    #[error("its entry in the transparency log is not proven: {problem}")]
    UnprovenLogEntry { problem: Excerpt },
    #[error("nothing proves when it was signed: {problem}")]
    NoSigningTime { problem: Excerpt },
    #[error("its timestamp is not by an authority in {root}: {problem}")]
    UnknownTimestamp { root: RootDescription, problem: Excerpt },
    #[error("its timestamp {time} is outside of the time in which the timestamp authority is trusted")]
    TimestampOutside { time: Timestamp },
    #[error("it was signed in the future: {problem}; is the clock of this node right?")]
    FromTheFuture { problem: Excerpt },
    #[error(
        "it was signed on {signed}, and {root} is older and does not know who vouches for it: {problem}. Run \
         `{REFRESH_COMMAND}` and store {REFRESHED_FILE} as trusted_root.json in the Secret that trustedRootSecretRef \
         names"
    )]
    RootTooOld { root: RootDescription, signed: String, problem: Excerpt },
}

impl Rejection {
    /// One word for conditions and events.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        self.word_and_progress().0
    }

    /// How far the check came. Of several signatures the one that came furthest is the one that was meant.
    pub(super) fn progress(&self) -> u8 {
        self.word_and_progress().1
    }

    fn word_and_progress(&self) -> (&'static str, u8) {
        match self {
            Self::Unreadable { .. } => ("SignatureUnreadable", 0),
            Self::TooLarge { .. } => ("SignatureTooLarge", 0),
            Self::Stripped { .. } => ("SignatureStripped", 0),
            Self::Unsupported { .. } => ("SignatureUnsupported", 1),
            Self::NotASignature { .. } => ("NotASignature", 1),
            Self::OtherArtifact { .. } => ("OtherArtifact", 2),
            Self::WrongKey { .. } => ("WrongKey", 3),
            Self::NoIdentity { .. } => ("NoIdentity", 3),
            Self::Tampered { .. } => ("Tampered", 4),
            Self::NoSigningTime { .. } => ("NoSigningTime", 4),
            Self::UnknownTimestamp { .. } => ("UnknownTimestamp", 4),
            Self::TimestampOutside { .. } => ("TimestampOutside", 4),
            Self::CertificateExpired { .. } => ("CertificateExpired", 5),
            Self::UnknownAuthority { .. } => ("UnknownAuthority", 5),
            Self::CertificateNotLogged { .. } => ("CertificateNotLogged", 5),
            Self::NotLogged => ("NotLogged", 6),
            Self::UnknownLog { .. } => ("UnknownLog", 6),
            Self::OtherLogEntry { .. } => ("OtherLogEntry", 6),
            Self::UnprovenLogEntry { .. } => ("UnprovenLogEntry", 6),
            Self::RootTooOld { .. } => ("TrustedRootTooOld", 7),
            Self::FromTheFuture { .. } => ("FromTheFuture", 7),
            Self::WrongIdentity { .. } => ("WrongIdentity", 8),
            Self::LookAlike { .. } => ("LookAlikeIdentity", 9),
        }
    }
}
