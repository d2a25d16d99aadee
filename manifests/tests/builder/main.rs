//! The builder gives what kustomize gives for the equivalent overlay, over real and embedded distributions.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod files;
mod released;
mod rules;
mod sync;
