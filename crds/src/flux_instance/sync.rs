#![expect(unreachable_pub, reason = "the derive of KubeSchema repeats the struct inside a function")]

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::sync_settings::{SyncDecryption, SyncVerification};
use crate::{null, resource_set_input_provider::SecretReference, violation::DURATION};

/// The source that Flux follows, and where in it the cluster is described.
#[derive(Serialize, Deserialize, KubeSchema, Clone, Debug, PartialEq, Eq)]
#[x_kube(
    validation = Rule::new("!has(self.provider) || self.kind != 'GitRepository' || self.provider != 'gcp'")
        .message(".provider cannot be set to 'gcp' when .kind is set to 'GitRepository'"),
    validation = Rule::new("!has(self.provider) || self.kind == 'GitRepository' || self.provider != 'github'")
        .message(".provider can only be set to 'github' when .kind is set to 'GitRepository'"),
    validation = Rule::new("!has(self.semver) || self.kind != 'Bucket'")
        .message(".semver cannot be set when .kind is set to 'Bucket'"),
    validation = Rule::new("!has(self.semver) || self.ref == ''")
        .message(".ref must be empty when .semver is set"),
    validation = Rule::new("!has(self.insecure) || !self.insecure || self.kind != 'GitRepository'")
        .message(".insecure cannot be set to true when .kind is set to 'GitRepository'"),
    validation = Rule::new("!has(self.certSecretRef) || self.kind != 'GitRepository'")
        .message(".certSecretRef cannot be set when .kind is set to 'GitRepository'"),
    validation = Rule::new("!has(self.verify) || self.kind != 'Bucket'")
        .message(".verify cannot be set when .kind is set to 'Bucket'"),
    validation = Rule::new("!has(self.verify) || !has(self.verify.mode) || self.kind == 'GitRepository'")
        .message(".verify.mode can only be set when .kind is set to 'GitRepository'"),
    validation = Rule::new("!has(self.verify) || has(self.verify.secretRef) || self.kind != 'GitRepository'")
        .message(".verify.secretRef must be set when .kind is set to 'GitRepository'"),
    validation = Rule::new("!has(self.verify) || !has(self.verify.provider) || self.kind == 'OCIRepository'")
        .message(".verify.provider can only be set when .kind is set to 'OCIRepository'"),
    validation = Rule::new("!has(self.verify) || !has(self.verify.matchOIDCIdentity) || self.kind == 'OCIRepository'")
        .message(".verify.matchOIDCIdentity can only be set when .kind is set to 'OCIRepository'"),
    validation = Rule::new("!has(self.verify) || !has(self.verify.trustedRootSecretRef) || self.kind == 'OCIRepository'")
        .message(".verify.trustedRootSecretRef can only be set when .kind is set to 'OCIRepository'")
)]
#[serde(rename_all = "camelCase")]
pub struct Sync {
    /// Name of the source and of the Kustomization, at most 63 characters. It cannot be changed. Defaults to the namespace of the instance, which is what `flux bootstrap` uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    #[x_kube(validation = Rule::new("self == oldSelf").message("Sync name is immutable"))]
    pub name: Option<String>,

    /// How often the source is checked for a new revision, as a Go duration with units ms, s, m and h. Defaults to 1m.
    #[serde(default = "default_interval", deserialize_with = "read_interval")]
    #[schemars(regex(pattern = DURATION))]
    pub interval: String,

    /// Kind of the source: GitRepository, OCIRepository or Bucket.
    pub kind: SyncKind,

    /// Address of the source. Examples: `https://git.example.com/team/fleet.git`, `ssh://git@git.example.com/team/fleet`, `oci://registry.example.com/fleet`, and for a Bucket its endpoint `minio.example.com:9000`.
    pub url: String,

    /// What to follow: a Git reference such as `refs/heads/main`, the tag of an OCI artifact, or the name of a bucket.
    #[serde(rename = "ref")]
    pub reference: String,

    /// The folder of the source that describes this cluster. Example: `clusters/production`.
    pub path: String,

    /// Name of a Secret in the namespace of the instance with the credentials for the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_secret: Option<String>,

    /// Whose identity is used to reach the source: generic (the pull secret), aws, azure or gcp (workload identity; gcp not for GitRepository, aws for GitRepository from Flux 2.9), github (a GitHub App, GitRepository alone).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<SyncProvider>,

    /// The range of versions that is followed instead of .ref, which must be empty then: of the tags of a GitRepository or OCIRepository the highest one in the range. Not for Bucket. Examples: `1.x`, `>=1.2.0 <2.0.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub semver: Option<String>,

    /// Whether the source is reached over plain HTTP. OCIRepository and Bucket alone: the address of a GitRepository says so itself. Defaults to false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insecure: Option<bool>,

    /// What must be signed before it is applied, and by whom. GitRepository and OCIRepository alone. Defaults to no verification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<SyncVerification>,

    /// The Secret with the address of the proxy that the source is reached through: key address, and username and password if the proxy asks for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy_secret_ref: Option<SecretReference>,

    /// The Secret with certificates for TLS: ca.crt to trust a private authority, tls.crt and tls.key to authenticate. OCIRepository and Bucket alone: for GitRepository they stand in the pull secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cert_secret_ref: Option<SecretReference>,

    /// Files of the source that are left out, in the language of .gitignore. Defaults to what Flux leaves out, or what .sourceignore in the source says. Example: `/docs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignore: Option<String>,

    /// Whether the source and the Kustomization are suspended: nothing is fetched and applied while it is true. When it is not set, neither object names it, and `flux suspend` and `flux resume` hold; false resumes what they suspended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend: Option<bool>,

    /// Whether objects that leave the source are deleted from the cluster. Defaults to true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prune: Option<bool>,

    /// How long the Kustomization may take to apply the source and to check the health of what it applied, as a Go duration with units ms, s, m and h. Defaults to the interval of the Kustomization, 10m. Example: `5m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = DURATION))]
    pub timeout: Option<String>,

    /// How long the Kustomization waits before it tries a failed source again, as a Go duration with units ms, s, m and h. Defaults to the interval of the Kustomization, 10m. Example: `2m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = DURATION))]
    pub retry_interval: Option<String>,

    /// The ServiceAccount in the namespace of the instance whose rights the Kustomization applies with. Defaults to the rights of kustomize-controller, also when .spec.cluster.multitenant locks tenants in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<String>,

    /// How encrypted files of the source are decrypted. Defaults to no decryption by this field; when it is not set, one that was put on the Kustomization by hand stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decryption: Option<SyncDecryption>,
}

/// Kind of the source.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the word is the documentation")]
pub enum SyncKind {
    OCIRepository,
    GitRepository,
    Bucket,
}

impl SyncKind {
    /// The word in the API, which is the kind of the Flux object.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OCIRepository => "OCIRepository",
            Self::GitRepository => "GitRepository",
            Self::Bucket => "Bucket",
        }
    }
}

/// Whose identity is used to reach the source.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the word is the documentation")]
pub enum SyncProvider {
    Generic,
    Aws,
    Azure,
    Gcp,
    Github,
}

impl SyncProvider {
    /// The word in the API, which is the value of the Flux field.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Generic => "generic",
            Self::Aws => "aws",
            Self::Azure => "azure",
            Self::Gcp => "gcp",
            Self::Github => "github",
        }
    }
}

fn default_interval() -> String {
    "1m".to_owned()
}

fn read_interval<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    null::or(deserializer, default_interval)
}
