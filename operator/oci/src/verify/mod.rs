//! Whether an artifact was signed by somebody who is trusted, decided without any input or output.
//!
//! [`verify`] is given what was found in a registry and never believes it: a [`Proof`] comes from nowhere else.
//! Certificates, transparency logs and timestamps are checked by the library of the Sigstore project; what a
//! signature is about, who may have made it and when it counts are decided here.

mod bundle;
mod cosign;
mod excerpt;
mod explain;
mod gather;
mod identities;
mod key;
mod keys;
mod look_alike;
mod material;
mod pattern;
mod payload;
mod policy;
mod proof;
mod re2;
mod refusal;
mod rejection;
mod signature;
mod tag;
mod trusted_root;

use jiff::Timestamp;

pub use cosign::Cosign;
pub use excerpt::Excerpt;
pub use key::{KeyError, PublicKey};
pub use pattern::{Pattern, PatternError};
pub use policy::{Policy, PolicyError, TransparencyLog};
pub use proof::{Proof, Signer};
pub use refusal::{Refusal, RejectedSignature};
pub use rejection::Rejection;
pub use signature::{
    Found, MAX_BUNDLE_BYTES, MAX_PAYLOAD_BYTES, MAX_SIGNATURES, Signature, SignatureContent, TagSignature,
};
pub use trusted_root::{REFRESH_COMMAND, REFRESHED_FILE, RootDescription, TrustRoot, TrustRootError};

use crate::digest::Digest;
use policy::Signers;

/// Most signatures that are checked: as many as are looked at in both layouts.
const MAX_CHECKED: usize = 2 * MAX_SIGNATURES;

/// What is to be proven about an artifact.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The artifact, by the digest of its manifest.
    pub artifact: Digest,
    /// Who has to have signed it.
    pub policy: &'a Policy,
    /// Whom to believe.
    pub root: &'a TrustRoot,
    /// The time of the check.
    pub now: Timestamp,
}

/// Looks for one signature among those that were found that proves what is requested.
///
/// It takes some milliseconds for each signature, so it is not for a thread that drives others.
///
/// # Errors
/// When none of them does, with the reason of each.
pub fn verify(request: &Request<'_>, found: &Found) -> Result<Proof, Refusal> {
    let artifact = request.artifact;
    let mut rejected = Vec::new();
    // The newest comes last, and whoever signs again and again wants the newest to count.
    for signature in found.signatures.iter().rev().take(MAX_CHECKED) {
        match judge(request, signature) {
            Ok(verified) => return Ok(verified),
            Err(rejection) => {
                rejected.push(RejectedSignature { location: signature.location.clone(), rejection });
            }
        }
    }
    let left_out = found.left_out.saturating_add(found.signatures.len().saturating_sub(MAX_CHECKED));
    if left_out > 0 {
        return Err(Refusal::TooManySignatures { artifact, checked: rejected.len(), left_out });
    }
    Err(if rejected.is_empty() {
        Refusal::NoSignature { artifact, looked_at: found.looked_at.clone() }
    } else {
        Refusal::NoneAccepted { artifact, rejected }
    })
}

fn judge(request: &Request<'_>, signature: &Signature) -> Result<Proof, Rejection> {
    let Policy { signers, transparency_log } = request.policy;
    let material = match &signature.content {
        SignatureContent::Tag(found) => tag::read(request.artifact, found, signers)?,
        SignatureContent::Bundle(json) => bundle::read(request.artifact, json)?,
        SignatureContent::Unreadable(problem) => {
            return Err(Rejection::Unreadable { problem: problem.clone() });
        }
        SignatureContent::TooLarge { what, size, limit } => {
            return Err(Rejection::TooLarge { what, size: *size, unit: "bytes", limit: *limit });
        }
    };
    let (signer, times) = match signers {
        Signers::Keys(keys) => {
            let (key, times) = keys::judge(&material, keys, *transparency_log, request.root)?;
            (Signer::Key { fingerprint: key.fingerprint() }, times)
        }
        Signers::Identities(identities) => {
            let (signer, times) = identities::judge(&material, identities, *transparency_log, request.root)?;
            (Signer::Identity { issuer: signer.issuer, subject: signer.subject }, times)
        }
    };
    if let Some(time) = times.iter().copied().find(|time| *time > request.now) {
        let problem = Excerpt::of(&format!("{time} is after {}", request.now));
        return Err(Rejection::FromTheFuture { problem });
    }
    Ok(Proof::new(request.artifact, signer, times.into_iter().min()))
}
