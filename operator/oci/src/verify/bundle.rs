use std::fmt::Write as _;

use sigstore_verify::types::{
    Bundle, DsseEnvelope, HashAlgorithm, MessageSignature, Sha256Hash, SignatureContent as Content, Statement,
};

use super::{
    excerpt::Excerpt,
    material::{Material, Signed},
    rejection::Rejection,
    signature::{MAX_BUNDLE_BYTES, bounded},
};
use crate::digest::Digest;

/// What cosign states about an artifact that it signs. Other statements, such as a list of contents or of
/// vulnerabilities, come from the same signers and approve of nothing.
const SIGNATURE_PREDICATE: &str = "https://sigstore.dev/cosign/sign/v1";
const STATEMENT_TYPE: &str = "application/vnd.in-toto+json";

/// Reads a Sigstore bundle that has to be about `artifact`.
pub(super) fn read(artifact: Digest, json: &[u8]) -> Result<Material, Rejection> {
    bounded("bundle", json.len(), "bytes", MAX_BUNDLE_BYTES)?;
    if json.trim_ascii().is_empty() {
        return Err(Rejection::Stripped { what: "content" });
    }
    let bundle: Bundle = serde_json::from_slice(json).map_err(|error| unreadable(&error))?;
    let signed = match &bundle.content {
        Content::MessageSignature(message) => read_message(artifact, message)?,
        Content::DsseEnvelope(envelope) => read_envelope(artifact, envelope)?,
        _ => {
            return Err(Rejection::Unsupported {
                problem: Excerpt::of("it is neither a message nor an envelope"),
            });
        }
    };
    Material::new(bundle, signed)
}

fn read_message(artifact: Digest, message: &MessageSignature) -> Result<Signed, Rejection> {
    let Some(digest) = &message.message_digest else {
        return Err(Rejection::Stripped { what: "message digest" });
    };
    if digest.algorithm != HashAlgorithm::Sha2256 {
        let problem =
            format!("a message digest made by {}; SHA-256 is what manifests are named by", digest.algorithm);
        return Err(Rejection::Unsupported { problem: Excerpt::of(&problem) });
    }
    if digest.digest.as_bytes() != artifact.bytes() {
        let found = format!("sha256:{}", data_encoding::HEXLOWER.encode(digest.digest.as_bytes()));
        return Err(Rejection::OtherArtifact { artifact, found: Excerpt::of(&found) });
    }
    Ok(Signed::Manifest(artifact))
}

fn read_envelope(artifact: Digest, envelope: &DsseEnvelope) -> Result<Signed, Rejection> {
    if envelope.payload_type != STATEMENT_TYPE {
        return Err(Rejection::NotASignature { predicate: Excerpt::of(&envelope.payload_type) });
    }
    if envelope.payload.is_empty() {
        return Err(Rejection::Stripped { what: "statement" });
    }
    let statement: Statement =
        serde_json::from_slice(envelope.payload.as_bytes()).map_err(|error| unreadable(&error))?;
    if statement.predicate_type != SIGNATURE_PREDICATE {
        return Err(Rejection::NotASignature { predicate: Excerpt::of(&statement.predicate_type) });
    }
    if !statement.matches_sha256(&Sha256Hash::new(*artifact.bytes())) {
        return Err(Rejection::OtherArtifact { artifact, found: subjects(&statement) });
    }
    Ok(Signed::Statement { encoded: envelope.pae(), artifact })
}

fn subjects(statement: &Statement) -> Excerpt {
    let mut text = String::new();
    for subject in statement.subject.iter().take(3) {
        let separator = if text.is_empty() { "" } else { ", " };
        // Writing into a string does not fail.
        let _ = match &subject.digest.sha256 {
            Some(digest) => write!(text, "{separator}sha256:{}", digest.to_hex()),
            None => write!(text, "{separator}a subject without SHA-256"),
        };
    }
    if text.is_empty() { Excerpt::of("no subject at all") } else { Excerpt::of(&text) }
}

fn unreadable(error: &serde_json::Error) -> Rejection {
    Rejection::Unreadable { problem: Excerpt::of(&error.to_string()) }
}
