//! The Flux distribution inside the binary: every object of some Flux releases, as JSON.
//!
//! Accounts, services, deployments, rights and network policies are the YAML files in `flux/`; the definitions
//! (CRDs) are generated from Flux's API modules by `generate-crds.sh`. The build joins and converts them, so
//! nothing is read or parsed as YAML when the program runs.

use std::fmt;

include!(concat!(env!("OUT_DIR"), "/releases.rs"));

/// The embedded Flux releases, oldest first; never empty.
#[must_use]
pub fn releases() -> &'static [Release] {
    RELEASES
}

/// One Flux release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// The version with its `v`, such as `v2.9.5`.
    pub version: &'static str,
    /// The manifests in order of their names: one file a component (`source-controller`), `policies` and `rbac`.
    /// A component's definitions come before its other objects.
    pub files: &'static [File],
    /// The image lists in order of their names, one a variant (`upstream-alpine`). Each is one kustomize
    /// document, whose `images` have `name` and `newTag`, and no `digest`.
    pub images: &'static [File],
}

/// One YAML file of a release.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct File {
    /// The file name without its extension.
    pub name: &'static str,
    /// A JSON array of the file's documents, in their order.
    pub json: &'static str,
}

impl fmt::Debug for File {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("File")
            .field("name", &self.name)
            .field("json_bytes", &self.json.len())
            .finish()
    }
}
