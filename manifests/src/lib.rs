//! Which objects must exist: pure functions from a spec and a distribution of Flux to ordered objects.
//!
//! The command line and the operator call the same functions, so what a user renders on a laptop is what
//! the operator applies: the digest in `status.lastAttemptedRevision` is the SHA-256 of what
//! `flux-operator build instance` prints.
//!
//! Nothing here reads a file, a clock or the environment; directories of manifests come in through the
//! trait [`Distribution`](distribution::Distribution).

pub mod distribution;
pub mod flux_instance;
pub mod objects;
pub mod order;
pub mod render;
pub mod semver;
mod text;

pub use manifests_yaml as yaml;
