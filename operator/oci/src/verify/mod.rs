//! Signatures of artifacts.

mod proof;

pub use proof::Proof;
