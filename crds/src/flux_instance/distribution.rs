use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which Flux to install.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Distribution {
    /// Version of Flux: an exact version or a semver range, of which the highest available version is taken. Examples: `2.x`, `2.9.x`, `>=2.8.0 <2.10.0`, `=2.7.5`.
    pub version: String,

    /// Where the controller images are pulled from: the name of a controller is appended. Example: `ghcr.io/fluxcd`.
    pub registry: String,

    /// Which build of the images the registry mirrors; it decides which image digests are used. Defaults to the one that belongs to a well-known registry; images of other registries are referred to by tag alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<DistributionVariant>,

    /// Name of a Secret of type kubernetes.io/dockerconfigjson, in the namespace of the instance, that the controller pods pull their images with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_pull_secret: Option<String>,

    /// The OCI artifact that the manifests of Flux come from; without a tag, latest. Defaults to the manifests inside the operator. Example: `oci://registry.example.com/flux-manifests:v2.9`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^oci://.*$"))]
    pub artifact: Option<String>,

    /// Name of a Secret of type kubernetes.io/dockerconfigjson, in the namespace of the instance, that the artifact is pulled with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_pull_secret: Option<String>,
}

/// A build of the controller images.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the word is the documentation")]
pub enum DistributionVariant {
    UpstreamAlpine,
    EnterpriseAlpine,
    EnterpriseDistroless,
    EnterpriseDistrolessFips,
}

impl DistributionVariant {
    /// The word in the API, which also names the image list of a distribution.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UpstreamAlpine => "upstream-alpine",
            Self::EnterpriseAlpine => "enterprise-alpine",
            Self::EnterpriseDistroless => "enterprise-distroless",
            Self::EnterpriseDistrolessFips => "enterprise-distroless-fips",
        }
    }
}

/// A Flux controller.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the word is the documentation")]
pub enum Component {
    SourceController,
    KustomizeController,
    HelmController,
    NotificationController,
    ImageReflectorController,
    ImageAutomationController,
    SourceWatcher,
}

impl Component {
    /// What is installed when an instance names no components.
    pub const DEFAULT: [Self; 4] = [
        Self::SourceController,
        Self::KustomizeController,
        Self::HelmController,
        Self::NotificationController,
    ];

    /// Every controller that Flux has.
    pub const ALL: [Self; 7] = [
        Self::SourceController,
        Self::KustomizeController,
        Self::HelmController,
        Self::NotificationController,
        Self::ImageReflectorController,
        Self::ImageAutomationController,
        Self::SourceWatcher,
    ];

    /// The word in the API: name of the controller's Deployment, image and manifest.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SourceController => "source-controller",
            Self::KustomizeController => "kustomize-controller",
            Self::HelmController => "helm-controller",
            Self::NotificationController => "notification-controller",
            Self::ImageReflectorController => "image-reflector-controller",
            Self::ImageAutomationController => "image-automation-controller",
            Self::SourceWatcher => "source-watcher",
        }
    }
}

impl fmt::Display for Component {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
