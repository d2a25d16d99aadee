use std::fmt;

use crds::flux_instance::Component;
use manifests_kustomize::{PatchError, PatchWarning, ResourceError, TransformError};
use thiserror::Error;

use crate::{
    distribution::{ElectionError, ReleaseError},
    semver::Version,
};

/// Why an instance cannot be built. All of these wait for a new spec or a new distribution.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum BuildError {
    #[error(transparent)]
    Election(#[from] ElectionError),
    #[error(transparent)]
    Release(#[from] ReleaseError),
    #[error(transparent)]
    InvalidField(#[from] InvalidField),
    #[error("{field}: {value} needs Flux {since} or later, and spec.distribution.version elects {version}")]
    NeedsFlux { field: &'static str, value: &'static str, since: String, version: Version },
    #[error(
        "{object} has a name that no object can have (small letters, digits, dashes and dots): correct metadata.namespace, spec.sync.name, or the patch in spec.kustomize that renames it"
    )]
    Name { object: String },
    #[error("the manifests of the distribution cannot be used")]
    Manifests(#[from] ResourceError),
    #[error("the manifests of the distribution cannot be renamed, moved or pinned")]
    Transform(#[from] TransformError),
    #[error("spec.kustomize.{0}")]
    Patch(#[from] PatchError),
    #[error("spec.kustomize.patches[{index}] leaves an object that cannot be used")]
    PatchedObject { index: usize, source: TransformError },
}

impl BuildError {
    /// The distribution could not be read: it is not the spec that is at fault.
    #[must_use]
    pub fn is_unreadable(&self) -> bool {
        matches!(
            self,
            Self::Election(ElectionError::Distribution(_)) | Self::Release(ReleaseError::Distribution(_))
        )
    }
}

/// A field whose value no object can be made of.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field}: {problem}")]
pub struct InvalidField {
    /// Path of the field from the root of the instance.
    pub field: String,
    /// What is wrong, and what a good value looks like.
    pub problem: String,
}

impl InvalidField {
    pub(super) fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { field: field.into(), problem: problem.into() }
    }
}

/// What a user should look at, though it stops nothing.
#[derive(Clone, Debug)]
pub enum BuildWarning {
    /// A newer release matches the range, of a minor that this operator does not know.
    UnsupportedMinor {
        /// The release.
        version: Version,
    },
    /// A component is named more than once.
    RepeatedComponent {
        /// The component.
        component: Component,
    },
    /// The image list of the variant lacks components, so that all images are referred to by tag.
    IncompleteImageList {
        /// The components without an entry.
        missing: Vec<Component>,
    },
    /// A patch matched or changed nothing.
    Patch(PatchWarning),
    /// The source of the sync, or its Kustomization, has no controller.
    SyncWithoutController {
        /// The component that is missing.
        component: Component,
    },
    /// A patch takes a definition away.
    RemovedDefinition {
        /// Name of the definition.
        name: String,
    },
    /// A field whose value is allowed, and probably not meant.
    Field(InvalidField),
}

impl fmt::Display for BuildWarning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnsupportedMinor { version } => write!(
                formatter,
                "Flux {version} matches spec.distribution.version but is newer than this operator supports: upgrade the operator to get it"
            ),
            Self::RepeatedComponent { component } => {
                write!(formatter, "spec.components names {component} more than once")
            }
            Self::IncompleteImageList { missing } => {
                let missing: Vec<&str> = missing.iter().map(|component| component.as_str()).collect();
                write!(
                    formatter,
                    "the image list of the distribution lacks {}: images are referred to by tag, without digests",
                    missing.join(", ")
                )
            }
            Self::Patch(warning) => write!(formatter, "spec.kustomize.{warning}"),
            Self::SyncWithoutController { component } => write!(
                formatter,
                "spec.sync needs {component}, which is not in spec.components: nothing is synchronised without it"
            ),
            Self::RemovedDefinition { name } => write!(
                formatter,
                "spec.kustomize.patches deletes CustomResourceDefinition {name}: a cluster that has it loses it, with all objects of its kind"
            ),
            Self::Field(field) => write!(formatter, "{field}"),
        }
    }
}
