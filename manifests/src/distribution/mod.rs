//! A distribution of Flux: the manifests of one or more releases.
//!
//! In the layout of a directory: `flux/<version>/<component>.yaml`, `flux/<version>/rbac.yaml`,
//! `flux/<version>/policies.yaml` and, for image digests, `flux-images/<version>/<variant>.yaml`.

mod election;
mod embedded;
mod release;
mod texts;

use std::{error::Error as StdError, fmt};

use serde_json::Value;

pub use election::{Election, ElectionError, SUPPORTED_MINORS, elect};
pub use embedded::Embedded;
pub use release::{ImagePin, Release, ReleaseError};
pub use texts::{TextError, Texts};

/// Manifests of the roles and bindings of the controllers.
pub const RBAC: &str = "rbac";

/// Manifests of the network policies.
pub const POLICIES: &str = "policies";

/// Where the manifests of Flux come from.
pub trait Distribution {
    /// Where this is, for people: a folder, an artifact, or the operator itself.
    fn origin(&self) -> &str;

    /// Names of the releases as the distribution spells them, such as `v2.9.5`, in any order.
    ///
    /// # Errors
    /// When the distribution cannot be read.
    fn versions(&self) -> Result<Vec<String>, DistributionError>;

    /// The objects of one file of a release: a component, [`RBAC`] or [`POLICIES`]. None when the release
    /// has no such file.
    ///
    /// # Errors
    /// When the file cannot be read, or is not YAML.
    fn objects(&self, version: &str, file: &str) -> Result<Option<Vec<Value>>, DistributionError>;

    /// The image list of a variant of a release. None when the distribution has no such list.
    ///
    /// # Errors
    /// When the list cannot be read, or is not YAML.
    fn images(&self, version: &str, variant: &str) -> Result<Option<Value>, DistributionError>;
}

/// A distribution that cannot be read.
#[derive(Debug)]
pub struct DistributionError {
    /// The file, as a person finds it.
    pub file: String,
    /// What is wrong with it.
    pub source: Problem,
}

type Problem = Box<dyn StdError + Send + Sync>;

impl fmt::Display for DistributionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "failed to read {}", self.file)
    }
}

impl StdError for DistributionError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(self.source.as_ref())
    }
}
