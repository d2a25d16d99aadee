//! `FluxReport`: what runs in this cluster and how it does, written by the operator.

#![expect(unreachable_pub, reason = "the derive of KubeSchema repeats the struct inside a function")]

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    REPORT_NAME, null,
    status::Condition,
    violation::{Violation, broken},
};

/// What the operator observed of Flux and of the cluster. The operator writes it; what others write here is replaced by the next report.
#[derive(CustomResource, Serialize, Deserialize, KubeSchema, Clone, Debug, Default, PartialEq, Eq)]
#[kube(
    group = "fluxcd.controlplane.io",
    version = "v1",
    kind = "FluxReport",
    namespaced,
    status = "FluxReportStatus",
    derive = "PartialEq",
    category = "fluxcd",
    doc = "FluxReport shows the Flux of this cluster: its version, its controllers, what they reconcile and how the sync does. The operator creates it and keeps it up to date. The only accepted name is flux.",
    validation = Rule::new("self.metadata.name == 'flux'").message(ONLY_NAME)
)]
#[serde(rename_all = "camelCase")]
pub struct FluxReportSpec {
    /// The Flux that is installed.
    pub distribution: DistributionReport,

    /// The cluster that it runs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterReport>,

    /// The operator that wrote this report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<OperatorReport>,

    /// The Flux controllers, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null::as_default")]
    pub components: Vec<ComponentReport>,

    /// The kinds that Flux and the operator reconcile, by API version and kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null::as_default")]
    pub reconcilers: Vec<ReconcilerReport>,

    /// The sync that the FluxInstance declares. Absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<SyncReport>,
}

const ONLY_NAME: &str = "the only accepted name for a FluxReport is 'flux'";

/// The Flux that is installed.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct DistributionReport {
    /// Who grants support for the installation: Issued by and a name, or Unknown.
    pub entitlement: String,

    /// Installed or Not Installed.
    pub status: String,

    /// Version of Flux. Absent where it is not installed. Example: `v2.9.4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,

    /// What installed Flux. Examples: `flux-operator`, `flux bootstrap`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub managed_by: Option<String>,
}

/// The cluster that Flux runs in.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ClusterReport {
    /// Version of Kubernetes. Example: `v1.36.3`.
    pub server_version: String,

    /// Operating system and architecture of the API server. Example: `linux/amd64`.
    pub platform: String,

    /// Number of nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<i64>,
}

/// The operator that wrote the report.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct OperatorReport {
    /// API version of the operator's kinds. Example: `fluxcd.controlplane.io/v1`.
    pub api_version: String,

    /// Version of the operator. Example: `v0.60.0`.
    pub version: String,

    /// Operating system and architecture that the operator was built for. Example: `linux/arm64`.
    pub platform: String,
}

/// One Flux controller.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
pub struct ComponentReport {
    /// Name of the controller's Deployment. Example: `source-controller`.
    pub name: String,

    /// Whether the newest version of the Deployment runs with all its replicas.
    pub ready: bool,

    /// The state of the Deployment, a word and a sentence. Example: `Current Deployment is available. Replicas: 1`.
    pub status: String,

    /// The image that the controller runs. Example: `ghcr.io/fluxcd/source-controller:v1.9.0`.
    pub image: String,
}

/// The objects of one kind, in all namespaces.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ReconcilerReport {
    /// API version of the kind. Example: `kustomize.toolkit.fluxcd.io/v1`.
    pub api_version: String,

    /// The kind. Example: `Kustomization`.
    pub kind: String,

    /// How the objects of this kind do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stats: Option<ReconcilerStats>,
}

/// How the objects of one kind do.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ReconcilerStats {
    /// Number of objects that are reconciled, those that fail among them.
    pub running: i64,

    /// Number of objects that are not ready. Suspended ones and those that wait for a dependency are not counted.
    pub failing: i64,

    /// Number of objects whose reconciliation is switched off.
    pub suspended: i64,

    /// Size of all artifacts of this kind, in units of 1024. Absent where there are none. Example: `1.5 MiB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_size: Option<String>,
}

/// The sync of the cluster.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncReport {
    /// The Kustomization that syncs. Example: `kustomization/flux-system`.
    pub id: String,

    /// Whether the last sync succeeded.
    pub ready: bool,

    /// What the last sync came to. It begins with Suspended while the sync is suspended, and the problem of the source follows where there is one.
    pub status: String,

    /// The folder of the source that describes this cluster. Example: `clusters/production`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,

    /// Address of the source. Example: `https://git.example.com/team/fleet.git`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// What the operator did about this report.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct FluxReportStatus {
    /// The last value of the annotation reconcile.fluxcd.io/requestedAt that was acted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,

    /// Ready, with the time of the last report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

impl FluxReport {
    /// Every rule of the definition that this object breaks. An object that an API server admitted breaks
    /// none.
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        broken("", [(self.metadata.name.as_deref() != Some(REPORT_NAME), "metadata.name", ONLY_NAME)])
    }
}
