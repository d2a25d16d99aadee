use sigstore_verify::types::{
    Artifact, Bundle, Sha256Hash, SignatureContent as Content, TransparencyLogEntry,
    VerificationMaterialContent,
};

use super::{excerpt::Excerpt, key::Message, rejection::Rejection, signature::bounded};
use crate::digest::Digest;

/// Most entries of transparency logs in one signature. cosign writes one.
const MAX_LOG_ENTRIES: usize = 4;
/// Most timestamps of one signature. cosign writes one.
const MAX_TIMESTAMPS: usize = 4;
/// Most certificates of one signature: a path has three.
const MAX_CERTIFICATES: usize = 8;

/// A signature in the one form that is checked, whatever layout it came in. It has been read, and not been believed.
pub(super) struct Material {
    pub(super) bundle: Bundle,
    pub(super) signed: Signed,
}

/// What the signature of a [`Material`] was made over.
pub(super) enum Signed {
    /// The payload of a signature under a tag, which names the artifact.
    Payload(Vec<u8>),
    /// The manifest of the artifact.
    Manifest(Digest),
    /// A statement in an envelope, which names the artifact, as it is encoded for signing.
    Statement { encoded: Vec<u8>, artifact: Digest },
}

impl Material {
    /// Keeps `bundle` from costing more than it is worth, and from being empty.
    pub(super) fn new(bundle: Bundle, signed: Signed) -> Result<Self, Rejection> {
        let material = &bundle.verification_material;
        let timestamps = &material.timestamp_verification_data.rfc3161_timestamps;
        bounded("transparency log", material.tlog_entries.len(), "entries", MAX_LOG_ENTRIES)?;
        bounded("timestamp data", timestamps.len(), "timestamps", MAX_TIMESTAMPS)?;
        if let VerificationMaterialContent::X509CertificateChain { certificates } = &material.content {
            bounded("certificate chain", certificates.len(), "certificates", MAX_CERTIFICATES)?;
        }
        let material = Self { bundle, signed };
        if material.signature()?.is_empty() {
            return Err(Rejection::Stripped { what: "signature" });
        }
        Ok(material)
    }

    pub(super) fn signature(&self) -> Result<&[u8], Rejection> {
        match &self.bundle.content {
            Content::MessageSignature(message) => Ok(message.signature.as_bytes()),
            Content::DsseEnvelope(envelope) => Ok(envelope.signature.sig.as_bytes()),
            _ => Err(Rejection::Unsupported {
                problem: Excerpt::of("it is neither a message nor an envelope"),
            }),
        }
    }

    /// What the signature has to fit.
    pub(super) fn message(&self) -> Message<'_> {
        match &self.signed {
            Signed::Payload(payload) => Message::Bytes(payload),
            Signed::Statement { encoded, .. } => Message::Bytes(encoded),
            Signed::Manifest(digest) => Message::Digest(digest),
        }
    }

    /// The same for the library that checks certificates and logs.
    pub(super) fn artifact(&self) -> Artifact<'_> {
        match &self.signed {
            Signed::Payload(payload) => Artifact::Blob(payload),
            Signed::Statement { artifact, .. } | Signed::Manifest(artifact) => {
                Artifact::from(Sha256Hash::new(*artifact.bytes()))
            }
        }
    }

    /// Whether a transparency log vouches for the signature, as it says itself: with at least one entry, and each of
    /// them with a proof or a promise.
    pub(super) fn claims_to_be_logged(&self) -> bool {
        let vouched = |entry: &TransparencyLogEntry| {
            entry.inclusion_proof.is_some() || entry.inclusion_promise.is_some()
        };
        let entries = &self.bundle.verification_material.tlog_entries;
        !entries.is_empty() && entries.iter().all(vouched)
    }

    /// The hint at the key, where the signature was made with one.
    pub(super) fn key_hint(&self) -> Option<&str> {
        match &self.bundle.verification_material.content {
            VerificationMaterialContent::PublicKey(key) => Some(&key.hint),
            _ => None,
        }
    }
}
