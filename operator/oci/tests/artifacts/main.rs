//! Artifacts from a registry that does what it should, and from one that does not.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod auth;
mod fake;
mod faults;
mod killed;
mod published;
mod pull;
mod redirects;
mod refused;
