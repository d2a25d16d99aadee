//! One release of a distribution, read for a choice of components.

use crds::flux_instance::{Component, DistributionVariant};
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use super::{Distribution, DistributionError, POLICIES, RBAC};
use crate::{
    objects::{kind, name},
    semver::Version,
};

/// The manifests of one release.
#[derive(Clone, Debug)]
pub struct Release {
    /// The version, spelled as the distribution spells it.
    pub version: Version,
    /// The chosen components and their objects.
    pub components: Vec<(Component, Vec<Value>)>,
    /// Roles and bindings of the controllers.
    pub rbac: Vec<Value>,
    /// Network policies.
    pub policies: Vec<Value>,
    /// Tags and digests of the images of one variant, when a variant was asked for and the distribution
    /// lists it.
    pub images: Option<Vec<ImagePin>>,
}

/// Tag and digest of the image of one component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImagePin {
    /// Last part of the image's name: the component.
    pub component: String,
    /// Tag; without one, the tag of the manifest stays.
    pub tag: Option<String>,
    /// Digest, `sha256:<hex>`, where the list has one.
    pub digest: Option<String>,
}

/// Why a release cannot be used.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum ReleaseError {
    #[error(transparent)]
    Distribution(#[from] DistributionError),
    #[error(
        "Flux {version} has no {component} in {origin}: remove it from spec.components{}",
        since(*component)
    )]
    NoComponent { version: Version, component: Component, origin: String },
    #[error("Flux {version} has no {file}.yaml in {origin}: the distribution is not complete")]
    NoFile { version: Version, file: &'static str, origin: String },
    #[error(
        "{component}.yaml of Flux {version} in {origin} has no {lacks}: the file is cut short or of another kind, and what it lacks would be deleted from the cluster"
    )]
    Incomplete { version: Version, component: Component, origin: String, lacks: &'static str },
    #[error("the image list {variant} of Flux {version} in {origin} cannot be used: {problem}")]
    Images { version: Version, variant: &'static str, origin: String, problem: String },
}

impl Release {
    /// Reads the manifests that an instance with these components needs.
    ///
    /// # Errors
    /// When the release lacks one of them, or a file cannot be read.
    pub fn load(
        distribution: &dyn Distribution,
        version: &Version,
        components: &[Component],
        variant: Option<DistributionVariant>,
    ) -> Result<Self, ReleaseError> {
        let name = version.original();
        let origin = || distribution.origin().to_owned();
        let required = |file: &'static str| {
            distribution.objects(name, file)?.ok_or_else(|| ReleaseError::NoFile {
                version: version.clone(),
                file,
                origin: origin(),
            })
        };
        let load_component = |component: &Component| {
            let objects = distribution.objects(name, component.as_str())?;
            let objects = objects.ok_or_else(|| ReleaseError::NoComponent {
                version: version.clone(),
                component: *component,
                origin: origin(),
            })?;
            check_complete(*component, &objects)
                .map_err(|lacks| ReleaseError::Incomplete {
                    version: version.clone(),
                    component: *component,
                    origin: origin(),
                    lacks,
                })
                .map(|()| (*component, objects))
        };
        Ok(Self {
            version: version.clone(),
            components: components.iter().map(load_component).collect::<Result<_, ReleaseError>>()?,
            rbac: required(RBAC)?,
            policies: required(POLICIES)?,
            images: variant.map(|variant| load_images(distribution, version, variant)).transpose()?.flatten(),
        })
    }
}

fn load_images(
    distribution: &dyn Distribution,
    version: &Version,
    variant: DistributionVariant,
) -> Result<Option<Vec<ImagePin>>, ReleaseError> {
    let Some(list) = distribution.images(version.original(), variant.as_str())? else { return Ok(None) };
    let list: ImageList = serde_json::from_value(list).map_err(|error| ReleaseError::Images {
        version: version.clone(),
        variant: variant.as_str(),
        origin: distribution.origin().to_owned(),
        problem: error.to_string(),
    })?;
    Ok(Some(list.images.into_iter().map(ImagePin::from).collect()))
}

/// A file that is cut short must not read as a component that has lost its definitions.
fn check_complete(component: Component, objects: &[Value]) -> Result<(), &'static str> {
    let has = |wanted: &str| objects.iter().any(|object| kind(object) == wanted);
    let has_controller =
        objects.iter().any(|object| kind(object) == "Deployment" && name(object) == component.as_str());
    if !has("CustomResourceDefinition") {
        return Err("CustomResourceDefinition");
    }
    if !has_controller {
        return Err("Deployment of the controller");
    }
    Ok(())
}

fn since(component: Component) -> &'static str {
    match component {
        Component::SourceWatcher => ", or choose Flux 2.7 or later by spec.distribution.version",
        _ => "",
    }
}

/// The file format is that of kustomize's `images`.
#[derive(Deserialize)]
struct ImageList {
    images: Vec<ImageEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ImageEntry {
    name: String,
    new_tag: Option<String>,
    digest: Option<String>,
}

impl From<ImageEntry> for ImagePin {
    fn from(entry: ImageEntry) -> Self {
        let component = entry.name.rsplit('/').next().unwrap_or_default().to_owned();
        Self { component, tag: entry.new_tag, digest: entry.digest }
    }
}
