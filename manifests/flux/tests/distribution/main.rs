//! What is embedded, how it compares with Flux's releases, and how it is made.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]

mod build;
mod definitions;
mod images;
mod objects;
mod released;
mod script;
mod workloads;
