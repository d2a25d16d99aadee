//! What the source of a sync must prove, and how its files are decrypted: passed on as Flux means it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Sync;
use crate::resource_set_input_provider::SecretReference;

impl Sync {
    /// The Secrets in the namespace of the instance that this sync needs, each with the field that names it, as a
    /// path from the root of the instance. Empty names are none.
    #[must_use]
    pub fn named_secrets(&self) -> Vec<(&'static str, &str)> {
        let verify = self.verify.as_ref();
        let fields = [
            ("spec.sync.pullSecret", self.pull_secret.as_deref()),
            ("spec.sync.proxySecretRef", name_of(self.proxy_secret_ref.as_ref())),
            ("spec.sync.certSecretRef", name_of(self.cert_secret_ref.as_ref())),
            ("spec.sync.verify.secretRef", name_of(verify.and_then(|verify| verify.secret_ref.as_ref()))),
            (
                "spec.sync.verify.trustedRootSecretRef",
                name_of(verify.and_then(|verify| verify.trusted_root_secret_ref.as_ref())),
            ),
            (
                "spec.sync.decryption.secretRef",
                name_of(self.decryption.as_ref().and_then(|decryption| decryption.secret_ref.as_ref())),
            ),
        ];
        let named = fields.into_iter().filter_map(|(field, name)| Some((field, name?)));
        named.filter(|(_, name)| !name.is_empty()).collect()
    }

    /// The ServiceAccounts in the namespace of the instance that this sync uses, each with the field that names it.
    #[must_use]
    pub fn named_accounts(&self) -> Vec<(&'static str, &str)> {
        let decryption = self.decryption.as_ref();
        let fields = [
            ("spec.sync.serviceAccountName", self.service_account_name.as_deref()),
            (
                "spec.sync.decryption.serviceAccountName",
                decryption.and_then(|decryption| decryption.service_account_name.as_deref()),
            ),
        ];
        let named = fields.into_iter().filter_map(|(field, name)| Some((field, name?)));
        named.filter(|(_, name)| !name.is_empty()).collect()
    }
}

fn name_of(reference: Option<&SecretReference>) -> Option<&str> {
    reference.map(|reference| reference.name.as_str())
}

/// What must be signed, and by whom.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SyncVerification {
    /// What of a GitRepository must be signed: HEAD (the commit), Tag (the tag that .ref or .semver leads to), or TagAndHEAD (both). GitRepository alone. Defaults to HEAD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<GitVerificationMode>,

    /// The tool that an artifact is signed with: cosign or notation. OCIRepository alone. Defaults to cosign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<OciVerificationProvider>,

    /// The Secret with the public keys that are trusted. A GitRepository needs it; an OCIRepository without it takes signatures of cosign without a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<SecretReference>,

    /// Who may sign without a key: a signature must match one of these identities. OCIRepository alone. Defaults to anyone.
    #[serde(rename = "matchOIDCIdentity", default, skip_serializing_if = "Option::is_none")]
    pub match_oidc_identity: Option<Vec<OidcIdentity>>,

    /// The Secret with the trusted root of a private Sigstore, in key trusted_root.json. OCIRepository alone, from Flux 2.9. Defaults to the public Sigstore.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted_root_secret_ref: Option<SecretReference>,
}

/// What of a GitRepository must be signed.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the word is the documentation")]
pub enum GitVerificationMode {
    #[serde(rename = "HEAD")]
    Head,
    Tag,
    #[serde(rename = "TagAndHEAD")]
    TagAndHead,
}

/// The tool that an artifact is signed with.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the word is the documentation")]
pub enum OciVerificationProvider {
    Cosign,
    Notation,
}

/// Who may sign without a key.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
pub struct OidcIdentity {
    /// Regular expression for the issuer of the identity. Example: `^https://token.actions.githubusercontent.com$`.
    pub issuer: String,

    /// Regular expression for the identity. Example: `^https://github.com/team/fleet/.*$`.
    pub subject: String,
}

/// How encrypted files are decrypted.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SyncDecryption {
    /// The tool that files are encrypted with: sops.
    pub provider: DecryptionProvider,

    /// The Secret with the private keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<SecretReference>,

    /// The ServiceAccount in the namespace of the instance whose cloud identity decrypts. It needs .spec.cluster.objectLevelWorkloadIdentity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<String>,
}

/// The tool that files are encrypted with.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the word is the documentation")]
pub enum DecryptionProvider {
    Sops,
}
