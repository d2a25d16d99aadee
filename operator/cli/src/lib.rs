//! The commands of a laptop.

mod build;
mod cluster;
mod input;
mod wait;

pub use build::{BuildCommand, BuildInstance};
pub use cluster::ClusterFlags;
pub use input::InputError;
pub use wait::{Named, WaitCommand, WaitCommandError};
