use jiff::Timestamp;
use sigstore_verify::{VerificationPolicy, VerificationResult};

use super::{
    excerpt::{Excerpt, alternatives},
    explain,
    material::Material,
    policy::{Identity, TransparencyLog},
    rejection::Rejection,
    trusted_root::TrustRoot,
};

/// What a certificate says of the one who signed, after it was checked.
pub(super) struct Signer {
    pub(super) issuer: String,
    pub(super) subject: String,
}

/// Which of `identities` has made a signature, and when.
pub(super) fn judge(
    material: &Material,
    identities: &[Identity],
    log: TransparencyLog,
    root: &TrustRoot,
) -> Result<(Signer, Vec<Timestamp>), Rejection> {
    if material.key_hint().is_some() {
        return Err(Rejection::NoIdentity { expected: describe(identities) });
    }
    let result = match log {
        TransparencyLog::Required => verify_logged(material, root)?,
        TransparencyLog::Ignored => verify_timestamped(material, root)?,
    };
    // The library says what it has checked; whatever it left out is not believed.
    if !result.certificate_verified() || !result.sct_verified() || result.verified_timestamps().is_empty() {
        let problem = Excerpt::of("its certificate was not checked to the end");
        return Err(Rejection::UnknownAuthority { root: root.description.clone(), problem });
    }
    let signer = check_identity(&result, identities)?;
    Ok((signer, result.verified_timestamps().to_vec()))
}

fn verify_logged(material: &Material, root: &TrustRoot) -> Result<VerificationResult, Rejection> {
    if !material.claims_to_be_logged() {
        return Err(Rejection::NotLogged);
    }
    let result = root
        .verifier
        .verify(material.artifact(), &material.bundle, &VerificationPolicy::any_identity())
        .map_err(|error| explain::rejection(&error, material, &root.description))?;
    if result.tlog_verified() { Ok(result) } else { Err(Rejection::NotLogged) }
}

/// Without the log, only a signed timestamp proves that the certificate, which lives for minutes, was used in time.
/// The entries are left out: they are neither asked for, nor may they count as a time.
fn verify_timestamped(material: &Material, root: &TrustRoot) -> Result<VerificationResult, Rejection> {
    let mut bundle = material.bundle.clone();
    bundle.verification_material.tlog_entries.clear();
    if bundle.verification_material.timestamp_verification_data.rfc3161_timestamps.is_empty() {
        let problem = Excerpt::of("the transparency log is ignored, and there is no signed timestamp");
        return Err(Rejection::NoSigningTime { problem });
    }
    root.verifier
        .verify(material.artifact(), &bundle, &VerificationPolicy::any_identity().skip_tlog_unsafe())
        .map_err(|error| explain::rejection(&error, material, &root.description))
}

fn check_identity(result: &VerificationResult, identities: &[Identity]) -> Result<Signer, Rejection> {
    let issuer = result.issuer().unwrap_or_default();
    let subject = result.identity().map(sigstore_verify::SubjectAltName::as_str).unwrap_or_default();
    let (shown_issuer, shown_subject) = (Excerpt::of(issuer), Excerpt::of(subject));
    let expected = describe(identities);
    // An empty value is one that the certificate does not have, which even .* does not mean.
    if issuer.is_empty() || subject.is_empty() {
        return Err(Rejection::WrongIdentity { issuer: shown_issuer, subject: shown_subject, expected });
    }
    let is_meant = |identity: &Identity| identity.issuer.matches(issuer) && identity.subject.matches(subject);
    if identities.iter().any(is_meant) {
        return Ok(Signer { issuer: issuer.to_owned(), subject: subject.to_owned() });
    }
    let resembles =
        |identity: &Identity| identity.issuer.resembles(issuer) && identity.subject.resembles(subject);
    Err(if identities.iter().any(resembles) {
        Rejection::LookAlike { issuer: shown_issuer, subject: shown_subject, expected }
    } else {
        Rejection::WrongIdentity { issuer: shown_issuer, subject: shown_subject, expected }
    })
}

fn describe(identities: &[Identity]) -> String {
    alternatives(identities.iter().map(|Identity { issuer, subject }| {
        format!("issuer {} with subject {}", Excerpt::of(issuer.text()), Excerpt::of(subject.text()))
    }))
}
