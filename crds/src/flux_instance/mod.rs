//! `FluxInstance`: which Flux runs in this cluster, and how.

#![expect(unreachable_pub, reason = "the derive of KubeSchema repeats the struct inside a function")]

mod cluster;
mod distribution;
mod sharding;
mod sync;
mod sync_settings;
mod violations;

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    null,
    status::{Condition, Inventory, Snapshot},
};

pub use crate::{common_metadata::CommonMetadata, violation::Violation};
pub use cluster::{
    Cluster, ClusterSize, ClusterType, DEFAULT_CLUSTER_DOMAIN, DEFAULT_TENANT_SERVICE_ACCOUNT,
};
pub use distribution::{Component, Distribution, DistributionVariant};
pub use sharding::{ShardStorage, Sharding, Storage};
pub use sync::{Sync, SyncKind, SyncProvider};
pub use sync_settings::{
    DecryptionProvider, GitVerificationMode, OciVerificationProvider, OidcIdentity, SyncDecryption,
    SyncVerification,
};

/// Asks for one Flux in this cluster. The operator installs it in the namespace of this object, keeps it as declared, and upgrades it within the version range.
#[derive(CustomResource, Serialize, Deserialize, KubeSchema, Clone, Debug, PartialEq)]
#[kube(
    group = "fluxcd.controlplane.io",
    version = "v1",
    kind = "FluxInstance",
    namespaced,
    status = "FluxInstanceStatus",
    derive = "PartialEq",
    category = "fluxcd",
    category = "fluxcd-appliers",
    doc = "FluxInstance declares the Flux of this cluster: its version, its controllers, how they run and the repository that they sync. The only accepted name is flux.",
    validation = Rule::new("self.metadata.name == 'flux'")
        .message("the only accepted name for a FluxInstance is 'flux'")
)]
#[x_kube(
    validation = Rule::new("!has(self.sharding) || !has(self.sharding.storage) || self.sharding.storage != 'persistent' || has(self.storage)")
        .message(".spec.storage must be set when .spec.sharding.storage is 'persistent'")
)]
#[serde(rename_all = "camelCase")]
pub struct FluxInstanceSpec {
    /// Which Flux to install, and from where its images and manifests come.
    pub distribution: Distribution,

    /// The Flux controllers to install. Defaults to source-controller, kustomize-controller, helm-controller and notification-controller. A controller that is taken off this list is deleted from the cluster, and with it the custom resources of its kinds.
    #[serde(default = "default_components", deserialize_with = "read_components")]
    pub components: Vec<Component>,

    /// Labels and annotations for every object that the operator applies. They win over keys that an object already has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common_metadata: Option<CommonMetadata>,

    /// What the operator must know of the cluster: its domain, its kind, its size, and whether tenants share it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Cluster>,

    /// Splits the work of the Flux controllers over several instances of them. Without it one instance of each serves everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharding: Option<Sharding>,

    /// A persistent volume for the artifacts of source-controller. Without it they live in the pod and are fetched again after a restart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,

    /// Changes to the built manifests, applied last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kustomize: Option<Kustomize>,

    /// Wait until everything that was applied is ready before the instance becomes ready. Defaults to true.
    #[serde(default = "yes", deserialize_with = "null::as_true")]
    pub wait: bool,

    /// Rewrite the custom resources of Flux to the newest API version after an upgrade, so that old versions can be dropped. Defaults to true.
    #[serde(default = "yes", deserialize_with = "null::as_true")]
    pub migrate_resources: bool,

    /// The repository that Flux keeps the cluster in line with. Without it Flux is installed and idle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<Sync>,
}

/// Changes to the built manifests.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
pub struct Kustomize {
    /// Patches in the order in which they are applied. A patch that matches nothing is reported as a warning.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null::as_default")]
    pub patches: Vec<Patch>,
}

/// One kustomize patch.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// The patch as YAML text: a strategic merge patch, or a list of JSON 6902 operations. Example: `[{op: add, path: /spec/template/spec/containers/0/args/-, value: --concurrent=10}]`.
    pub patch: String,

    /// The objects to patch. Without it, a strategic merge patch finds its object by its own apiVersion, kind and name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<PatchTarget>,
}

/// Which objects a patch is for: those that match every field given. Patches see the objects before they get the namespace of the instance.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct PatchTarget {
    /// API group, a regular expression for the whole group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,

    /// API version without the group, a regular expression for the whole version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,

    /// Kind, a regular expression for the whole kind. Example: `Deployment`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,

    /// Name, a regular expression for the whole name. Example: `(kustomize|helm)-controller`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,

    /// Namespace, a regular expression for the whole namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,

    /// A selector over the annotations, in the syntax of label selectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotation_selector: Option<String>,

    /// A label selector. Example: `app.kubernetes.io/component in (helm-controller,kustomize-controller)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<String>,
}

/// What the operator observed.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct FluxInstanceStatus {
    /// The last value of the annotation reconcile.fluxcd.io/requestedAt that was acted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,

    /// The last value of the annotation reconcile.fluxcd.io/forceAt that was acted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_force_at: Option<String>,

    /// Ready, and while they hold Reconciling or Stalled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,

    /// The revision that was last tried: `<version>@sha256:<digest of the manifests>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_attempted_revision: Option<String>,

    /// The revision that last became ready: `<version>@sha256:<digest of the manifests>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_applied_revision: Option<String>,

    /// The digest of the artifact that the manifests were last taken from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_artifact_revision: Option<String>,

    /// The images of the Flux controllers, as applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<ComponentImage>,

    /// The objects that belong to this instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inventory: Option<Inventory>,

    /// The last states of this instance and what they came to, newest first, at most 5.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Snapshot>,
}

/// The image that one Flux controller runs.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
pub struct ComponentImage {
    /// Name of the controller's Deployment.
    pub name: String,

    /// The image's repository, registry included.
    pub repository: String,

    /// The image's tag.
    pub tag: String,

    /// The image's digest, where the image is pinned by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

fn default_components() -> Vec<Component> {
    Component::DEFAULT.to_vec()
}

fn read_components<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Component>, D::Error> {
    null::or(deserializer, default_components)
}

pub(crate) fn yes() -> bool {
    true
}
