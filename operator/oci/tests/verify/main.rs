//! Signatures of artifacts: who may have made them, and what they are worth.

#![expect(clippy::expect_used, clippy::panic, reason = "a test stops at the first surprise")]

mod answers;
mod fixture;
mod inputs;
mod mutations;
mod patterns;
mod registry;
mod shelf;
