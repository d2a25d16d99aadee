use std::fmt;

use data_encoding::{BASE64, HEXLOWER};
use ed25519_dalek::{Signature, VerifyingKey};
use sha2::{Digest as _, Sha256, Sha512};
use sigstore_verify::{
    crypto::{KeyAlgorithm, SigningScheme, verify_signature, verify_signature_prehashed},
    types::{DerPublicKey, SignatureBytes},
};
use thiserror::Error;

use super::excerpt::Excerpt;
use crate::digest::Digest;

/// Longest file of a key, in bytes: RSA with 8192 bits takes 1,500 in PEM.
const MAX_KEY_BYTES: usize = 16 << 10;

/// A public key that signatures are checked with.
#[derive(Clone)]
pub struct PublicKey {
    name: String,
    der: DerPublicKey,
    algorithm: KeyAlgorithm,
}

/// Why a file holds no public key.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum KeyError {
    #[error("{name} has {bytes} bytes, a public key has at most {MAX_KEY_BYTES}")]
    TooLong { name: String, bytes: usize },
    #[error("{name} is a private key; store the public one, as written by `cosign public-key --key FILE`")]
    Private { name: String },
    #[error("{name} is no public key in PEM: a block -----BEGIN PUBLIC KEY----- is expected")]
    NotPem { name: String },
    #[error("{name} holds more than one key: give each a file of its own")]
    Several { name: String },
    #[error(
        "{name} cannot be used: {problem}; ECDSA P-256 and P-384, RSA of 2048 to 8192 bits and Ed25519 can"
    )]
    Unusable { name: String, problem: Excerpt },
}

/// What was signed, as far as it is known: the bytes, or only their SHA-256.
pub(super) enum Message<'a> {
    Bytes(&'a [u8]),
    Digest(&'a Digest),
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} (sha256:{})", self.name, self.fingerprint())
    }
}

impl PublicKey {
    /// Reads a public key in PEM. `name` is what messages call it, such as the key of a Secret.
    ///
    /// # Errors
    /// When it is something else than one public key of a kind that can be used.
    pub fn from_pem(name: &str, pem: &[u8]) -> Result<Self, KeyError> {
        let name = name.to_owned();
        if pem.len() > MAX_KEY_BYTES {
            return Err(KeyError::TooLong { name, bytes: pem.len() });
        }
        let Ok(pem) = std::str::from_utf8(pem) else { return Err(KeyError::NotPem { name }) };
        if pem.contains("PRIVATE KEY-----") {
            return Err(KeyError::Private { name });
        }
        if pem.matches("-----BEGIN ").count() > 1 {
            return Err(KeyError::Several { name });
        }
        let Ok(der) = DerPublicKey::from_pem(pem) else { return Err(KeyError::NotPem { name }) };
        match usable(&der) {
            Ok(algorithm) => Ok(Self { name, der, algorithm }),
            Err(problem) => Err(KeyError::Unusable { name, problem }),
        }
    }

    pub(super) fn der(&self) -> &DerPublicKey {
        &self.der
    }

    /// SHA-256 of the key, in hexadecimal: what tells two keys apart in a message.
    pub(super) fn fingerprint(&self) -> String {
        HEXLOWER.encode(&Sha256::digest(self.der.as_bytes()))
    }

    /// How cosign's bundles say which key signed.
    pub(super) fn hint(&self) -> String {
        BASE64.encode(&Sha256::digest(self.der.as_bytes()))
    }

    /// Whether `signature` was made over `message` with this key.
    pub(super) fn has_signed(&self, message: &Message<'_>, signature: &[u8]) -> bool {
        if let (KeyAlgorithm::Ed25519, Message::Bytes(bytes)) = (self.algorithm, message)
            && ed25519_has_signed_hash(self.der.as_bytes(), bytes, signature)
        {
            return true;
        }
        let signature = SignatureBytes::from_bytes(signature);
        self.schemes().iter().any(|scheme| match message {
            Message::Bytes(bytes) => verify_signature(&self.der, bytes, &signature, *scheme).is_ok(),
            Message::Digest(digest) => {
                hashes_with_sha256(*scheme)
                    && verify_signature_prehashed(&self.der, digest.bytes(), &signature, *scheme).is_ok()
            }
        })
    }

    /// cosign hashes with SHA-256 whatever the curve, newer tools with what fits the curve; key management services
    /// sign with either padding of RSA.
    fn schemes(&self) -> &'static [SigningScheme] {
        match self.algorithm {
            KeyAlgorithm::EcdsaP256 => &[SigningScheme::EcdsaP256Sha256],
            KeyAlgorithm::EcdsaP384 => &[SigningScheme::EcdsaP384Sha256, SigningScheme::EcdsaP384Sha384],
            KeyAlgorithm::Rsa => &[SigningScheme::RsaPkcs1Sha256, SigningScheme::RsaPssSha256],
            KeyAlgorithm::Ed25519 => &[SigningScheme::Ed25519],
            _ => &[],
        }
    }
}

/// The kind of a key, unless signatures of it cannot be checked: the length of the encoding tells of short keys and
/// of compressed points.
fn usable(der: &DerPublicKey) -> Result<KeyAlgorithm, Excerpt> {
    let algorithm = KeyAlgorithm::from_spki(der).map_err(|problem| Excerpt::of(&problem.to_string()))?;
    let lengths = match algorithm {
        KeyAlgorithm::EcdsaP256 => 91..=91,
        KeyAlgorithm::EcdsaP384 => 120..=120,
        KeyAlgorithm::Rsa => 290..=1100,
        KeyAlgorithm::Ed25519 => 44..=44,
        _ => return Err(Excerpt::of(&format!("it is of the kind {algorithm:?}"))),
    };
    if lengths.contains(&der.as_bytes().len()) {
        Ok(algorithm)
    } else {
        Err(Excerpt::of(&format!(
            "it is of the kind {algorithm:?} and has a length or an encoding that is not supported"
        )))
    }
}

/// The variant of Ed25519 that signs a hash of the message (RFC 8032, Ed25519ph), as cosign does since 2.6.
fn ed25519_has_signed_hash(der: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let Some(key) = der.last_chunk().and_then(|key| VerifyingKey::from_bytes(key).ok()) else { return false };
    let Ok(signature) = Signature::from_slice(signature) else { return false };
    key.verify_prehashed_strict(Sha512::new_with_prefix(message), None, &signature).is_ok()
}

fn hashes_with_sha256(scheme: SigningScheme) -> bool {
    matches!(
        scheme,
        SigningScheme::EcdsaP256Sha256
            | SigningScheme::EcdsaP384Sha256
            | SigningScheme::RsaPkcs1Sha256
            | SigningScheme::RsaPssSha256
    )
}
