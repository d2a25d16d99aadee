#![expect(unreachable_pub, reason = "the derive of KubeSchema repeats the struct inside a function")]

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::yes;
use crate::null;

/// The domain that the services of most clusters live in.
pub const DEFAULT_CLUSTER_DOMAIN: &str = "cluster.local";

/// The ServiceAccount that tenants' objects are reconciled with when they name none.
pub const DEFAULT_TENANT_SERVICE_ACCOUNT: &str = "default";

/// Facts about the cluster that Flux runs in.
#[derive(Serialize, Deserialize, KubeSchema, Clone, Debug, PartialEq, Eq)]
#[x_kube(
    validation = Rule::new("!has(self.multitenantWorkloadIdentity) || !self.multitenantWorkloadIdentity || (has(self.objectLevelWorkloadIdentity) && self.objectLevelWorkloadIdentity)")
        .message(".objectLevelWorkloadIdentity must be set to true when .multitenantWorkloadIdentity is set to true")
)]
#[serde(rename_all = "camelCase")]
pub struct Cluster {
    /// The cluster's DNS domain. Defaults to cluster.local.
    #[serde(default = "default_domain", deserialize_with = "read_domain")]
    pub domain: String,

    /// Lock Flux down for a cluster that tenants share: no references to other namespaces, no remote bases, and objects without a ServiceAccount are reconciled with the one of tenantDefaultServiceAccount. Defaults to false.
    #[serde(default, deserialize_with = "null::as_default")]
    pub multitenant: bool,

    /// With multitenant: the ServiceAccount of a tenant's Kustomizations and HelmReleases that name none. Defaults to default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_default_service_account: Option<String>,

    /// Let Flux objects use the cloud identity of the ServiceAccount that they name, instead of the controller's. Needs Flux 2.6 or later. Defaults to false, and then the controllers cannot create tokens of ServiceAccounts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object_level_workload_identity: Option<bool>,

    /// Besides objectLevelWorkloadIdentity: objects that name no ServiceAccount use a default one of their namespace for cloud identity. Needs Flux 2.7 or later. Defaults to false.
    #[serde(default, deserialize_with = "null::as_default")]
    pub multitenant_workload_identity: bool,

    /// With multitenantWorkloadIdentity: the ServiceAccount that kustomize-controller decrypts with. Defaults to default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_default_decryption_service_account: Option<String>,

    /// With multitenantWorkloadIdentity: the ServiceAccount that kustomize-controller and helm-controller reach remote clusters with. Defaults to default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_default_kube_config_service_account: Option<String>,

    /// Install the network policies that restrict ingress to Flux's pods. Defaults to true.
    #[serde(default = "yes", deserialize_with = "null::as_true")]
    pub network_policy: bool,

    /// The kind of cluster: openshift drops security settings that OpenShift sets itself; the others change nothing. Defaults to kubernetes.
    #[serde(default, deserialize_with = "null::as_default", rename = "type")]
    pub type_: ClusterType,

    /// A sizing profile: small, medium or large. It sets the resources of the controllers, how many objects kustomize-controller and helm-controller reconcile at once (5, 10 or 20), and the Helm index cache of source-controller. Unset, the values of the distribution stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<ClusterSize>,
}

impl Default for Cluster {
    fn default() -> Self {
        Self {
            domain: default_domain(),
            multitenant: false,
            tenant_default_service_account: None,
            object_level_workload_identity: None,
            multitenant_workload_identity: false,
            tenant_default_decryption_service_account: None,
            tenant_default_kube_config_service_account: None,
            network_policy: true,
            type_: ClusterType::default(),
            size: None,
        }
    }
}

/// The kind of cluster.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the word is the documentation")]
pub enum ClusterType {
    #[default]
    Kubernetes,
    Openshift,
    Aws,
    Azure,
    Gcp,
}

/// A sizing profile.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the word is the documentation")]
pub enum ClusterSize {
    Small,
    Medium,
    Large,
}

impl ClusterSize {
    /// The word in the API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
        }
    }
}

fn default_domain() -> String {
    DEFAULT_CLUSTER_DOMAIN.to_owned()
}

fn read_domain<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    null::or(deserializer, default_domain)
}
