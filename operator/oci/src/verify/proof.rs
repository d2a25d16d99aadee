use crate::digest::Digest;

/// That an artifact was signed by whom it should be. Nobody but this module makes one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Proof {
    subject: Digest,
    signer: String,
}

impl Proof {
    /// `signer` is shown to people: the key, or issuer and subject of an identity.
    #[expect(dead_code, reason = "those who prove signatures call it")]
    pub(super) fn new(subject: Digest, signer: String) -> Self {
        Self { subject, signer }
    }

    /// What was signed.
    #[must_use]
    pub fn subject(&self) -> Digest {
        self.subject
    }

    /// Who signed, for people.
    #[must_use]
    pub fn signer(&self) -> &str {
        &self.signer
    }
}
