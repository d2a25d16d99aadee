//! What comes from outside the binary as files: artifacts of registries, and folders that were unpacked by hand,
//! mounted into the pod, or named on the command line. All of it is read under bounds.

#[cfg(test)]
extern crate self as operator_oci;

mod artifacts;
mod cache;
mod cloud;
mod credential;
mod digest;
mod excerpt;
mod folder;
mod host_pattern;
mod keychain;
mod manifest;
mod reference;
mod registry;
mod repository;
mod trusted;
mod unpack;
pub mod verify;

pub use artifacts::{ArtifactLimits, ArtifactRequest, Artifacts, FetchError, Fetched};
pub use cache::{CacheError, CacheLimits};
pub use cloud::{CloudError, CloudIdentity};
pub use credential::Credential;
pub use digest::{Digest, DigestError};
pub use folder::{Folder, FolderError};
pub use keychain::{Keychain, KeychainError};
pub use manifest::{Descriptor, ManifestError, RawManifest};
pub use reference::{Reference, ReferenceError, Target};
pub use registry::{MAX_MANIFEST_BYTES, RegistryError, Remote, Said, Transport};
pub use repository::{MAX_REFERRERS, Repository};
pub use trusted::{Artifact, NotProven, TrustedArtifact, VerifiedArtifact, Verifier};
pub use unpack::{Problem as UnpackProblem, UnpackError, UnpackLimits, unpack};
