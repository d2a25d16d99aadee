#![expect(unreachable_pub, reason = "the derive of KubeSchema repeats the struct inside a function")]

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{null, violation::DURATION};

/// The source that Flux follows, and where in it the cluster is described.
#[derive(Serialize, Deserialize, KubeSchema, Clone, Debug, PartialEq, Eq)]
#[x_kube(
    validation = Rule::new("!has(self.provider) || self.kind != 'GitRepository' || self.provider != 'gcp'")
        .message(".provider cannot be set to 'gcp' when .kind is set to 'GitRepository'"),
    validation = Rule::new("!has(self.provider) || self.kind == 'GitRepository' || self.provider != 'github'")
        .message(".provider can only be set to 'github' when .kind is set to 'GitRepository'")
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
