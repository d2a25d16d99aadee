use sha2::{Digest as _, Sha256};
use thiserror::Error;

use super::{
    key::PublicKey,
    pattern::{Pattern, PatternError},
};

/// Most keys, or identities, that one policy may name: checking a signature tries each of them.
const MAX_ALTERNATIVES: usize = 32;

/// Who has to have signed an artifact.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(super) signers: Signers,
    pub(super) transparency_log: TransparencyLog,
}

/// Whether a signature has to be found in a transparency log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TransparencyLog {
    /// It has to be, as cosign has it without being told otherwise.
    Required,
    /// It need not be. A signature without a key then needs a signed timestamp, since nothing else tells when the
    /// certificate was used.
    Ignored,
}

#[derive(Clone, Debug)]
pub(super) enum Signers {
    Keys(Vec<PublicKey>),
    Identities(Vec<Identity>),
}

/// What the certificate of a signer has to say.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    pub(super) issuer: Pattern,
    pub(super) subject: Pattern,
}

/// Why a policy says nothing that can be checked.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum PolicyError {
    #[error("no public key is given: store at least one under a name that ends in .pub")]
    NoKey,
    #[error(
        "no identity is given: name at least one issuer and subject, since without them anyone could sign"
    )]
    NoIdentity,
    #[error("{given} {what} are given, {MAX_ALTERNATIVES} are allowed")]
    TooMany { what: &'static str, given: usize },
    #[error("matchOIDCIdentity[{index}].{field}: {source}")]
    Pattern { index: usize, field: &'static str, source: PatternError },
}

impl Policy {
    /// One of `keys` has to have signed.
    ///
    /// # Errors
    /// When there is no key, or too many.
    pub fn keys(keys: Vec<PublicKey>, transparency_log: TransparencyLog) -> Result<Self, PolicyError> {
        check(keys.len(), "keys", PolicyError::NoKey)?;
        Ok(Self { signers: Signers::Keys(keys), transparency_log })
    }

    /// The holder of one of `identities`, pairs of patterns for issuer and subject, has to have signed.
    ///
    /// # Errors
    /// When there is no identity, or too many, and when one of them is no pattern.
    pub fn identities<'a>(
        identities: impl IntoIterator<Item = (&'a str, &'a str)>,
        transparency_log: TransparencyLog,
    ) -> Result<Self, PolicyError> {
        let identities: Vec<_> = identities.into_iter().collect();
        check(identities.len(), "identities", PolicyError::NoIdentity)?;
        let identities = identities
            .into_iter()
            .enumerate()
            .map(|(index, (issuer, subject))| {
                let parse = |field, text| {
                    Pattern::parse(text).map_err(|source| PolicyError::Pattern { index, field, source })
                };
                Ok(Identity { issuer: parse("issuer", issuer)?, subject: parse("subject", subject)? })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { signers: Signers::Identities(identities), transparency_log })
    }
}

impl Policy {
    /// Feeds all that it says to a hash.
    pub(super) fn identify(&self, hasher: &mut Sha256) {
        let mut add = |kind: u8, part: &[u8]| {
            hasher.update([kind]);
            hasher.update(part.len().to_be_bytes());
            hasher.update(part);
        };
        add(0, &[u8::from(self.transparency_log == TransparencyLog::Ignored)]);
        match &self.signers {
            Signers::Keys(keys) => keys.iter().for_each(|key| add(1, key.der().as_bytes())),
            Signers::Identities(identities) => identities.iter().for_each(|identity| {
                add(2, identity.issuer.text().as_bytes());
                add(3, identity.subject.text().as_bytes());
            }),
        }
    }
}

fn check(given: usize, what: &'static str, none: PolicyError) -> Result<(), PolicyError> {
    match given {
        0 => Err(none),
        1..=MAX_ALTERNATIVES => Ok(()),
        given => Err(PolicyError::TooMany { what, given }),
    }
}
