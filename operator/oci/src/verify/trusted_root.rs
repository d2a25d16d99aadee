use std::fmt;

use jiff::Timestamp;
use sigstore_verify::{
    Verifier,
    crypto::{Error as CertificateError, parse_certificate_info},
    trust_root::{TimeRange, TrustedRoot},
    types::DerCertificate,
};
use thiserror::Error;

use super::excerpt::Excerpt;
use crate::digest::Digest;

/// Largest `trusted_root.json`, in bytes. The one of Sigstore has 7 KB, that of GitHub 31 KB.
const MAX_ROOT_BYTES: usize = 256 << 10;
/// Most logs and authorities of one kind, and certificates of one authority: each of them is parsed at once.
const MAX_MEMBERS: usize = 64;

/// The trusted root of Sigstore's public service as its update framework distributed it on [`EMBEDDED_DATE`]. It
/// came with version 5.0.1 of the npm package @sigstore/tuf.
const EMBEDDED: &str = include_str!("trusted_root.json");
/// The day on which the package was released that the embedded root was taken from.
const EMBEDDED_DATE: &str = "2026-11-05T00:00:00Z";

/// What gets the trusted root of today, by the update framework.
pub const REFRESH_COMMAND: &str = "cosign initialize";
/// Where the command puts it.
pub const REFRESHED_FILE: &str = "~/.sigstore/root/tuf-repo-cdn.sigstore.dev/targets/trusted_root.json";

/// Whom to believe: certificate authorities, transparency logs and timestamp authorities.
pub struct TrustRoot {
    pub(super) verifier: Verifier,
    pub(super) description: RootDescription,
    digest: Digest,
}

/// What messages say about a trusted root.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RootDescription {
    origin: String,
    date: Option<Timestamp>,
}

/// Why a file is no trusted root.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum TrustRootError {
    #[error("{origin} has {bytes} bytes, a trusted root has at most {MAX_ROOT_BYTES}")]
    TooLong { origin: String, bytes: usize },
    #[error(
        "{origin} is no trusted root in JSON, as `{REFRESH_COMMAND}` writes it to {REFRESHED_FILE}: {problem}"
    )]
    Syntax { origin: String, problem: Excerpt },
    #[error("{origin} lists {count} {what}, {MAX_MEMBERS} are allowed")]
    TooMany { origin: String, what: &'static str, count: usize },
    #[error("{origin} has neither a certificate authority nor a transparency log: is it a trusted root?")]
    Empty { origin: String },
    #[error("{origin} cannot be used: {problem}")]
    Unusable { origin: String, problem: Excerpt },
}

impl TrustRoot {
    /// The one inside the binary, which is that of Sigstore's public service.
    ///
    /// # Errors
    /// Never with the file that a test has read.
    pub fn embedded() -> Result<Self, TrustRootError> {
        let mut root = Self::from_json("the trusted root inside this program", EMBEDDED.as_bytes())?;
        root.description.date = EMBEDDED_DATE.parse().ok().or(root.description.date);
        Ok(root)
    }

    /// Reads a `trusted_root.json`. `origin` is what messages call it, such as a key of a Secret.
    ///
    /// # Errors
    /// When it is too large, no trusted root, or holds something that cannot be used.
    pub fn from_json(origin: &str, json: &[u8]) -> Result<Self, TrustRootError> {
        let origin = origin.to_owned();
        if json.len() > MAX_ROOT_BYTES {
            return Err(TrustRootError::TooLong { origin, bytes: json.len() });
        }
        let mut root: TrustedRoot = match serde_json::from_slice(json) {
            Ok(root) => root,
            Err(error) => {
                return Err(TrustRootError::Syntax { origin, problem: Excerpt::of(&error.to_string()) });
            }
        };
        if let Some((what, count)) = too_many(&root) {
            return Err(TrustRootError::TooMany { origin, what, count });
        }
        if root.tlogs.is_empty() && root.certificate_authorities.is_empty() {
            return Err(TrustRootError::Empty { origin });
        }
        let date = newest_member(&root);
        if let Err(error) = narrow_to_certificates(&mut root) {
            return Err(TrustRootError::Unusable { origin, problem: Excerpt::of(&error.to_string()) });
        }
        match Verifier::new(&root) {
            Ok(verifier) => {
                Ok(Self { verifier, description: RootDescription { origin, date }, digest: Digest::of(json) })
            }
            Err(error) => Err(TrustRootError::Unusable { origin, problem: Excerpt::of(&error.to_string()) }),
        }
    }

    /// The digest of the file.
    pub(super) fn digest(&self) -> Digest {
        self.digest
    }

    /// What it is and how old.
    #[must_use]
    pub fn description(&self) -> &RootDescription {
        &self.description
    }
}

impl fmt::Debug for TrustRoot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.description.fmt(formatter)
    }
}

impl RootDescription {
    /// Whether it was made before `time`, so that it cannot know what came into use later.
    pub(super) fn is_older_than(&self, time: Timestamp) -> bool {
        self.date.is_some_and(|date| date < time)
    }
}

impl fmt::Display for RootDescription {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.date {
            Some(date) => write!(formatter, "{} (of {})", self.origin, date.strftime("%Y-%m-%d")),
            None => write!(formatter, "{} (without dates)", self.origin),
        }
    }
}

fn too_many(root: &TrustedRoot) -> Option<(&'static str, usize)> {
    let authorities =
        root.certificate_authorities.iter().map(|authority| authority.cert_chain.certificates.len());
    let timestamps =
        root.timestamp_authorities.iter().map(|authority| authority.cert_chain.certificates.len());
    [
        ("transparency logs", root.tlogs.len()),
        ("certificate authorities", root.certificate_authorities.len()),
        ("certificate logs", root.ctlogs.len()),
        ("timestamp authorities", root.timestamp_authorities.len()),
        ("certificates of one authority", authorities.chain(timestamps).max().unwrap_or_default()),
    ]
    .into_iter()
    .find(|(_, count)| *count > MAX_MEMBERS)
}

/// Whoever is trusted is so until the first of its certificates ends. The library only looks at the window that the
/// root gives.
fn narrow_to_certificates(root: &mut TrustedRoot) -> Result<(), CertificateError> {
    for authority in &mut root.certificate_authorities {
        let certificates = authority.cert_chain.certificates.iter().map(|entry| &entry.raw_bytes);
        authority.valid_for = window(certificates, authority.valid_for)?;
    }
    for authority in &mut root.timestamp_authorities {
        let certificates = authority.cert_chain.certificates.iter().map(|entry| &entry.raw_bytes);
        authority.valid_for = window(certificates, authority.valid_for)?;
    }
    let ever =
        |range: Option<TimeRange>| range.is_none_or(|range| range.end.is_none_or(|end| end >= range.start));
    root.certificate_authorities.retain(|authority| ever(authority.valid_for));
    root.timestamp_authorities.retain(|authority| ever(authority.valid_for));
    Ok(())
}

fn window<'a>(
    certificates: impl Iterator<Item = &'a DerCertificate>,
    given: Option<TimeRange>,
) -> Result<Option<TimeRange>, CertificateError> {
    let mut narrowed = given;
    for certificate in certificates {
        let info = parse_certificate_info(certificate)?;
        let start = narrowed.map_or(info.not_before, |range| range.start.max(info.not_before));
        let end = narrowed.and_then(|range| range.end).map_or(info.not_after, |end| end.min(info.not_after));
        narrowed = Some(TimeRange::new(start, Some(end)));
    }
    Ok(narrowed)
}

/// A trusted root has no date of its own. It is at least as young as what came into use last.
fn newest_member(root: &TrustedRoot) -> Option<Timestamp> {
    let logs = root.tlogs.iter().map(|log| log.public_key.valid_for);
    let certificate_logs = root.ctlogs.iter().map(|log| log.public_key.valid_for);
    let authorities = root.certificate_authorities.iter().map(|authority| authority.valid_for);
    let timestamps = root.timestamp_authorities.iter().map(|authority| authority.valid_for);
    logs.chain(certificate_logs)
        .chain(authorities)
        .chain(timestamps)
        .flatten()
        .map(|window| window.start)
        .max()
}
