//! `ResourceSetInputProvider`: input sets from a forge, a registry, a service or the cluster.

#![expect(unreachable_pub, reason = "the derive of KubeSchema repeats the struct inside a function")]

mod filter;
mod provider_type;
mod schedule;
mod selector;
mod violations;

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FreeForm, free_form, null, status::Condition};

pub use filter::{DEFAULT_LIMIT, Filter, MAX_LIMIT, Skip};
pub use provider_type::ProviderType;
pub use schedule::{NextSchedule, Schedule};
pub use selector::ArtifactSelector;

/// Asks for input sets from one place. They are exported in the status of this object, where ResourceSets of the same namespace take them from.
#[derive(CustomResource, Serialize, Deserialize, KubeSchema, Clone, Debug, PartialEq)]
#[kube(
    group = "fluxcd.controlplane.io",
    version = "v1",
    kind = "ResourceSetInputProvider",
    namespaced,
    status = "ResourceSetInputProviderStatus",
    derive = "PartialEq",
    shortname = "rsip",
    category = "all",
    category = "fluxcd",
    category = "fluxcd-sources",
    doc = "ResourceSetInputProvider declares where input sets for ResourceSets come from: branches, tags or pull requests of a repository, tags of an artifact, a service, or artifacts in the cluster."
)]
#[x_kube(
    validation = Rule::new("!(self.type in ['Static', 'ExternalArtifact']) || !has(self.url) || self.url == ''")
        .message(violations::URL_FORBIDDEN),
    validation = Rule::new("self.type in ['Static', 'ExternalArtifact'] || (has(self.url) && self.url != '')")
        .message(violations::URL_MISSING),
    validation = Rule::new("!(self.type.startsWith('Git') || self.type.startsWith('AzureDevOps') || self.type == 'ExternalService') || !has(self.url) || self.url == '' || self.url.startsWith('http://') || self.url.startsWith('https://')")
        .message(violations::URL_NOT_HTTP),
    validation = Rule::new("!self.type.startsWith('AWSCodeCommit') || !has(self.url) || self.url == '' || self.url.startsWith('https://')")
        .message(violations::URL_NOT_HTTPS),
    validation = Rule::new("!self.type.endsWith('ArtifactTag') || !has(self.url) || self.url == '' || self.url.matches('^oci://[^/]+/.+$')")
        .message(violations::URL_NOT_OCI),
    validation = Rule::new("!has(self.insecure) || !self.insecure || self.type in ['ExternalService', 'OCIArtifactTag']")
        .message(violations::INSECURE_FORBIDDEN),
    validation = Rule::new("self.type != 'ExternalService' || !has(self.url) || !self.url.startsWith('http://') || (has(self.insecure) && self.insecure)")
        .message(violations::INSECURE_MISSING),
    validation = Rule::new("!has(self.serviceAccountName) || self.serviceAccountName == '' || self.type.startsWith('AzureDevOps') || self.type.startsWith('AWSCodeCommit') || self.type.endsWith('ArtifactTag') || self.type == 'ExternalArtifact'")
        .message(violations::SERVICE_ACCOUNT_FORBIDDEN),
    validation = Rule::new("!has(self.secretRef) || !(self.type in ['Static', 'ExternalArtifact', 'ACRArtifactTag', 'ECRArtifactTag', 'GARArtifactTag'] || self.type.startsWith('AWSCodeCommit'))")
        .message(violations::SECRET_FORBIDDEN),
    validation = Rule::new("!has(self.certSecretRef) || !(self.type in ['Static', 'ExternalArtifact', 'ACRArtifactTag', 'ECRArtifactTag', 'GARArtifactTag'] || self.type.startsWith('AWSCodeCommit') || self.type.startsWith('AzureDevOps'))")
        .message(violations::CERTIFICATE_FORBIDDEN),
    validation = Rule::new("self.type != 'ExternalArtifact' || (has(self.selectors) && size(self.selectors) > 0)")
        .message(violations::SELECTORS_MISSING),
    validation = Rule::new("self.type == 'ExternalArtifact' || !has(self.selectors) || size(self.selectors) == 0")
        .message(violations::SELECTORS_FORBIDDEN)
)]
#[serde(rename_all = "camelCase")]
pub struct ResourceSetInputProviderSpec {
    /// Where the input sets come from, and what they are: Static (the default values, as one set), branches, tags or pull requests of a Git repository, environments of GitLab, tags of an artifact in a registry, the answer of an HTTP service (ExternalService), or Flux artifacts in the cluster (ExternalArtifact).
    #[serde(rename = "type")]
    pub type_: ProviderType,

    /// Address of the repository, the artifact or the service: https://HOST/OWNER/REPOSITORY for Git types, oci://HOST/REPOSITORY for types that end with ArtifactTag, http:// or https:// for ExternalService. Empty for Static and ExternalArtifact. Examples: `https://github.com/team/app`, `oci://registry.example.com/charts/app`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^((http|https|oci)://.*)?$"))]
    pub url: Option<String>,

    /// Name of a ServiceAccount of the same namespace: its cloud identity or its pull secrets are used for AzureDevOps, AWSCodeCommit and ArtifactTag types, and its rights to list artifacts for ExternalArtifact. No other type may have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<String>,

    /// A Secret of the same namespace with the credentials: username and password (a token) for Git types, or those of a GitHub App for GitHub types; a kubernetes.io/dockerconfigjson for OCIArtifactTag; a token, or username and password, for ExternalService. No other type may have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<SecretReference>,

    /// A Secret of the same namespace with certificates: ca.crt to trust the server, tls.crt and tls.key to be known by it. For GitHub, GitLab, Gitea, OCIArtifactTag and ExternalService types alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cert_secret_ref: Option<SecretReference>,

    /// Allow plain HTTP, for ExternalService and OCIArtifactTag alone. An ExternalService with an http:// address must have it. Defaults to false.
    #[serde(default, deserialize_with = "null::as_default")]
    pub insecure: bool,

    /// Values for every exported set, by name; a value that the provider exports itself wins. Names without a value (null) are dropped. Example: `{region: eu-west-1, replicas: 2}`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "free_form::read_values")]
    #[schemars(schema_with = "free_form::values")]
    pub default_values: Option<FreeForm>,

    /// Which of the found items are exported, and how many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Filter>,

    /// Which items keep their last exported values for now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<Skip>,

    /// When the provider is asked. Without a schedule, at every interval.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null::as_default")]
    pub schedule: Vec<Schedule>,

    /// For ExternalArtifact, and there at least one: the artifacts that any of the selectors chooses are exported.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null::as_default")]
    pub selectors: Vec<ArtifactSelector>,
}

/// A Secret of the same namespace.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
pub struct SecretReference {
    /// Name of the Secret.
    pub name: String,
}

/// What the operator observed.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ResourceSetInputProviderStatus {
    /// The last value of the annotation reconcile.fluxcd.io/requestedAt that was acted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,

    /// The last value of the annotation reconcile.fluxcd.io/forceAt that was acted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_force_at: Option<String>,

    /// Ready, and while they hold Reconciling or Stalled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,

    /// The input sets, each any values by name: what ResourceSets use.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "free_form::read_list_of_values"
    )]
    #[schemars(schema_with = "free_form::list_of_values")]
    pub exported_inputs: Vec<FreeForm>,

    /// The digest of the exported input sets, `sha256:<hex>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_exported_revision: Option<String>,

    /// The schedule that asks the provider next, and when. Absent without schedules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_schedule: Option<NextSchedule>,
}
