use jiff::Timestamp;
use sigstore_verify::{Error, PublicKeyVerificationPolicy};

use super::{
    excerpt::{Excerpt, alternatives},
    explain,
    key::PublicKey,
    material::Material,
    policy::TransparencyLog,
    rejection::Rejection,
    trusted_root::TrustRoot,
};

/// Which of `keys` has made a signature, and when, where that is proven.
pub(super) fn judge<'a>(
    material: &Material,
    keys: &'a [PublicKey],
    log: TransparencyLog,
    root: &TrustRoot,
) -> Result<(&'a PublicKey, Vec<Timestamp>), Rejection> {
    let Some(hint) = material.key_hint() else {
        let found = Excerpt::of("by the holder of a certificate and without a key of its own");
        return Err(Rejection::WrongKey { expected: describe(keys), found });
    };
    let (message, signature) = (material.message(), material.signature()?);
    let Some(key) = keys.iter().find(|key| key.has_signed(&message, signature)) else {
        return Err(no_key_fits(keys, hint));
    };
    if log == TransparencyLog::Ignored {
        return Ok((key, Vec::new()));
    }
    if !material.claims_to_be_logged() {
        return Err(Rejection::NotLogged);
    }
    let policy = PublicKeyVerificationPolicy::new(key.der().clone());
    let result =
        root.verifier.verify(material.artifact(), &material.bundle, &policy).map_err(
            |error| match error {
                // It was seen to fit, so this is a variant that the library does not have.
                Error::SignatureInvalid(_) => Rejection::Unsupported {
                    problem: Excerpt::of("a kind of signature that cannot be checked together with the log"),
                },
                error => explain::rejection(&error, material, &root.description),
            },
        )?;
    if !result.tlog_verified() {
        return Err(Rejection::NotLogged);
    }
    Ok((key, result.verified_timestamps().to_vec()))
}

/// A signature that no key fits was made with another key, or its content was changed; the hint at the key, which
/// bundles and log entries have, tells which.
fn no_key_fits(keys: &[PublicKey], hint: &str) -> Rejection {
    match keys.iter().find(|key| key.hint() == hint) {
        Some(key) => {
            let problem = Excerpt::of(&format!("it says that {key} made it, and that key does not fit"));
            Rejection::Tampered { problem }
        }
        None if hint.is_empty() => {
            let found = Excerpt::of("of which it tells nothing, or its content was changed");
            Rejection::WrongKey { expected: describe(keys), found }
        }
        None => Rejection::WrongKey {
            expected: describe(keys),
            found: Excerpt::of(&format!("with the hint {hint}")),
        },
    }
}

fn describe(keys: &[PublicKey]) -> String {
    alternatives(keys.iter().map(ToString::to_string))
}
