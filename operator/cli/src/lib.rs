//! The commands that need no running operator.

mod build;
mod input;

pub use build::{BuildCommand, BuildInstance};
pub use input::InputError;
