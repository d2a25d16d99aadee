//! Registries that others wrote.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

mod debian;
mod layout;
mod pki;
mod programs;
mod referrers;
mod signatures;
