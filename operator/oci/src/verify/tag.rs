use data_encoding::{BASE64, HEXLOWER};
use jiff::Timestamp;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use sigstore_verify::types::{
    Bundle, CanonicalizedBody, DerCertificate, DerPublicKey, DigestBytes, HashAlgorithm, InclusionPromise,
    KindVersion, LogId, LogIndex, LogKeyId, MediaType, MessageDigest, MessageSignature, PublicKeyIdentifier,
    Rfc3161Timestamp, SignatureBytes, SignatureContent, SignedTimestamp, TimestampToken,
    TimestampVerificationData, TransparencyLogEntry, VerificationMaterial, VerificationMaterialContent,
    X509Certificate,
};

use super::{
    excerpt::Excerpt,
    material::{Material, Signed},
    payload,
    policy::Signers,
    rejection::Rejection,
    signature::TagSignature,
};
use crate::digest::Digest;

/// Reads a signature under a tag that has to be about `artifact`, as a bundle of the first version, which is made of
/// the same parts.
pub(super) fn read(artifact: Digest, found: &TagSignature, signers: &Signers) -> Result<Material, Rejection> {
    found.check_sizes()?;
    let signature = match found.signature.as_deref().map(str::trim) {
        None | Some("") => return Err(Rejection::Stripped { what: "signature" }),
        Some(text) => SignatureBytes::new(base64("signature", text)?),
    };
    if found.payload.is_empty() {
        return Err(Rejection::Stripped { what: "payload" });
    }
    payload::check(artifact, &found.payload)?;

    let log_entry = found.log_entry.as_deref().map(read_log_entry).transpose()?;
    let content = match signers {
        // A key decides by itself, whatever certificate lies beside it.
        Signers::Keys(_) => VerificationMaterialContent::PublicKey(PublicKeyIdentifier::new(
            log_entry.as_ref().and_then(|entry| entry.key_hint.clone()).unwrap_or_default(),
        )),
        Signers::Identities(_) => read_certificates(found)?,
    };
    // The first version wants a promise of the log, the second allows timestamps alone.
    let version = if log_entry.is_some() { MediaType::Bundle0_1 } else { MediaType::Bundle0_2 };
    let material = VerificationMaterial::new(content)
        .with_tlog_entries(log_entry.into_iter().map(|entry| entry.entry).collect())
        .with_timestamp_verification_data(read_timestamp(found)?);
    let digest =
        MessageDigest::new(HashAlgorithm::Sha2256, DigestBytes::new(Sha256::digest(&found.payload).to_vec()));
    let message = MessageSignature::new(signature).with_message_digest(digest);
    let bundle = Bundle::new(version, material, SignatureContent::MessageSignature(message));
    Material::new(bundle, Signed::Payload(found.payload.clone()))
}

fn read_certificates(found: &TagSignature) -> Result<VerificationMaterialContent, Rejection> {
    let Some(leaf) = found.certificate.as_deref().filter(|text| !text.trim().is_empty()) else {
        return Ok(VerificationMaterialContent::PublicKey(PublicKeyIdentifier::new("")));
    };
    let mut certificates = pem_blocks(leaf)?;
    certificates.truncate(1);
    if let Some(chain) = &found.chain {
        certificates.append(&mut pem_blocks(chain)?);
    }
    Ok(VerificationMaterialContent::X509CertificateChain { certificates })
}

fn pem_blocks(text: &str) -> Result<Vec<X509Certificate>, Rejection> {
    const END: &str = "-----END CERTIFICATE-----";
    text.split_inclusive(END)
        .filter(|block| !block.trim().is_empty())
        .map(|block| {
            DerCertificate::from_pem(block.trim())
                .map(X509Certificate::new)
                .map_err(|error| unreadable(&format!("a certificate: {error}")))
        })
        .collect()
}

/// The annotation with the answer of the log, as cosign writes it.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct LogAnswer {
    signed_entry_timestamp: String,
    payload: LogPayload,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LogPayload {
    body: String,
    integrated_time: i64,
    log_index: i64,
    #[serde(rename = "logID")]
    log_id: String,
}

struct LogEntry {
    entry: TransparencyLogEntry,
    /// The hint at the key that the entry was made with, unless it was a certificate.
    key_hint: Option<String>,
}

fn read_log_entry(text: &str) -> Result<LogEntry, Rejection> {
    let answer: LogAnswer =
        serde_json::from_str(text).map_err(|error| unreadable(&format!("the log entry: {error}")))?;
    let body = base64("body of the log entry", &answer.payload.body)?;
    let log = HEXLOWER
        .decode(answer.payload.log_id.to_ascii_lowercase().as_bytes())
        .map_err(|_| unreadable("the id of the log is not hexadecimal"))?;
    let index = LogIndex::try_from(answer.payload.log_index)
        .map_err(|_| unreadable("the index in the log is negative"))?;
    let time = Timestamp::from_second(answer.payload.integrated_time)
        .map_err(|_| unreadable("the time of the log entry is out of range"))?;
    let promise = base64("promise of the log", &answer.signed_entry_timestamp)?;
    let (kind, key_hint) = read_body(&body)?;
    let entry =
        TransparencyLogEntry::new(index, LogId::new(LogKeyId::new(log)), kind, CanonicalizedBody::new(body))
            .with_integrated_time(time)
            .with_inclusion_promise(InclusionPromise::new(SignedTimestamp::new(promise)));
    Ok(LogEntry { entry, key_hint })
}

/// What the log recorded, as far as it is needed before it is checked.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    api_version: String,
    kind: String,
    #[serde(default)]
    spec: serde_json::Value,
}

fn read_body(body: &[u8]) -> Result<(KindVersion, Option<String>), Rejection> {
    let body: Body = serde_json::from_slice(body)
        .map_err(|error| unreadable(&format!("the body of the log entry: {error}")))?;
    if (body.kind.as_str(), body.api_version.as_str()) != ("hashedrekord", "0.0.1") {
        let problem = format!("a log entry of the kind {} {}", body.kind, body.api_version);
        return Err(Rejection::Unsupported { problem: Excerpt::of(&problem) });
    }
    let hint = body
        .spec
        .pointer("/signature/publicKey/content")
        .and_then(serde_json::Value::as_str)
        .and_then(|content| BASE64.decode(content.as_bytes()).ok())
        .and_then(|pem| String::from_utf8(pem).ok())
        .and_then(|pem| DerPublicKey::from_pem(&pem).ok())
        .map(|key| BASE64.encode(&Sha256::digest(key.as_bytes())));
    Ok((KindVersion::HashedRekordV001, hint))
}

/// The annotation with a timestamp, as cosign writes it.
#[derive(Deserialize)]
struct Timestamped {
    #[serde(rename = "SignedRFC3161Timestamp")]
    token: String,
}

fn read_timestamp(found: &TagSignature) -> Result<TimestampVerificationData, Rejection> {
    let Some(text) = &found.timestamp else { return Ok(TimestampVerificationData::default()) };
    let timestamp: Timestamped =
        serde_json::from_str(text).map_err(|error| unreadable(&format!("the timestamp: {error}")))?;
    let token = TimestampToken::new(base64("timestamp", &timestamp.token)?);
    Ok(TimestampVerificationData::new(vec![Rfc3161Timestamp::new(token)]))
}

fn base64(what: &str, text: &str) -> Result<Vec<u8>, Rejection> {
    BASE64.decode(text.as_bytes()).map_err(|error| unreadable(&format!("the {what} is no base64: {error}")))
}

fn unreadable(problem: &str) -> Rejection {
    Rejection::Unreadable { problem: Excerpt::of(problem) }
}
