//! What the library's errors mean for somebody who reads them in a condition.
//!
//! Which of several reasons is named may hang on the wording of an error; whether a signature counts never does.

use jiff::Timestamp;
use sigstore_verify::{
    CertificateError, Error, TimestampError, TransparencyLogError,
    bundle::Error as BundleError,
    crypto::{CertificateInfo, parse_certificate_info},
};

use super::{excerpt::Excerpt, material::Material, rejection::Rejection, trusted_root::RootDescription};

pub(super) fn rejection(error: &Error, material: &Material, root: &RootDescription) -> Rejection {
    let explanation = Explanation { material, root, problem: Excerpt::of(&error.to_string()) };
    match error {
        Error::SignatureInvalid(_) => Rejection::Tampered { problem: explanation.problem },
        // That the signature is about the artifact was seen before, so this is about the entry of the log.
        Error::ArtifactMismatch(_) => Rejection::OtherLogEntry { problem: explanation.problem },
        Error::Certificate(error) => explanation.certificate(error),
        Error::TransparencyLog(error) => explanation.log(error),
        Error::Timestamp(error) => explanation.timestamp(error),
        // A root that cannot be read is told when it is read. What is left is a root without any certificate log.
        Error::InvalidTrustRoot(_) => explanation.unknown(&Unknown::CertificateLog),
        Error::UnsupportedArtifact(_) | Error::UnsupportedBundle(_) => {
            Rejection::Unsupported { problem: explanation.problem }
        }
        Error::Bundle(
            BundleError::MissingInclusionProof(_)
            | BundleError::MissingInclusionPromise(_)
            | BundleError::MissingSigningTimeEvidence,
        ) => Rejection::NotLogged,
        _ => Rejection::Unreadable { problem: explanation.problem },
    }
}

struct Explanation<'a> {
    material: &'a Material,
    root: &'a RootDescription,
    problem: Excerpt,
}

/// What the trusted root does not know.
enum Unknown {
    Authority,
    CertificateLog,
    Log,
    TimestampAuthority,
}

impl Explanation<'_> {
    fn certificate(self, error: &CertificateError) -> Rejection {
        match error {
            CertificateError::Malformed(_) => Rejection::Unreadable { problem: self.problem },
            CertificateError::ChainInvalid(detail)
                if detail.contains("CertExpired") || detail.contains("CertNotValidYet") =>
            {
                self.expired()
            }
            CertificateError::NoValidAuthority { .. }
            | CertificateError::NotYetValid { .. }
            | CertificateError::Expired { .. } => self.expired(),
            CertificateError::Sct(_) => self.unknown(&Unknown::CertificateLog),
            _ => self.unknown(&Unknown::Authority),
        }
    }

    fn log(self, error: &TransparencyLogError) -> Rejection {
        match error {
            TransparencyLogError::UnknownLog { .. } => self.unknown(&Unknown::Log),
            TransparencyLogError::Checkpoint(detail) if detail.starts_with("No matching Rekor key") => {
                self.unknown(&Unknown::Log)
            }
            TransparencyLogError::InclusionPromise(detail) if detail.starts_with("No log key valid") => {
                self.unknown(&Unknown::Log)
            }
            TransparencyLogError::EntryMismatch(_) => Rejection::OtherLogEntry { problem: self.problem },
            TransparencyLogError::IntegratedTime(detail) if detail.contains("certificate validity") => {
                self.expired()
            }
            TransparencyLogError::IntegratedTime(_) => Rejection::FromTheFuture { problem: self.problem },
            TransparencyLogError::MalformedEntry(_) => Rejection::Unreadable { problem: self.problem },
            _ => Rejection::UnprovenLogEntry { problem: self.problem },
        }
    }

    fn timestamp(self, error: &TimestampError) -> Rejection {
        match error {
            TimestampError::Invalid(_) => self.unknown(&Unknown::TimestampAuthority),
            TimestampError::OutsideAuthorityValidity { time } => Rejection::TimestampOutside { time: *time },
            _ => Rejection::NoSigningTime { problem: self.problem },
        }
    }

    fn expired(self) -> Rejection {
        match self.certificate_info() {
            Some(CertificateInfo { not_before, not_after, .. }) => {
                Rejection::CertificateExpired { not_before, not_after, problem: self.problem }
            }
            None => Rejection::Unreadable { problem: self.problem },
        }
    }

    /// What is missing in the root may have come into use after the root was made, and it may be another's.
    fn unknown(self, what: &Unknown) -> Rejection {
        let root = self.root.clone();
        let problem = self.problem.clone();
        if let Some(time) = self.claimed_time().filter(|time| root.is_older_than(*time)) {
            return Rejection::RootTooOld { root, signed: time.strftime("%Y-%m-%d").to_string(), problem };
        }
        match what {
            Unknown::Authority => Rejection::UnknownAuthority { root, problem },
            Unknown::CertificateLog => Rejection::CertificateNotLogged { root, problem },
            Unknown::Log => Rejection::UnknownLog { root, problem },
            Unknown::TimestampAuthority => Rejection::UnknownTimestamp { root, problem },
        }
    }

    /// When the signature says that it was made. Nothing has proven it: it only chooses the words.
    fn claimed_time(&self) -> Option<Timestamp> {
        let entries = &self.material.bundle.verification_material.tlog_entries;
        self.certificate_info()
            .map(|certificate| certificate.not_before)
            .or_else(|| entries.iter().find_map(|entry| entry.integrated_time))
    }

    fn certificate_info(&self) -> Option<CertificateInfo> {
        self.material
            .bundle
            .signing_certificate()
            .and_then(|certificate| parse_certificate_info(certificate).ok())
    }
}
