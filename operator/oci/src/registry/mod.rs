//! What is said to a registry: who asks, along redirects, and what came checked against its digest.

mod challenge;
mod content;
mod error;
mod referrers;
mod refusal;
mod remote;
mod sink;
mod token_service;
mod tokens;

pub use content::MAX_MANIFEST_BYTES;
pub use error::{RegistryError, Said};
pub use remote::{Remote, Transport};

pub(crate) use remote::Connection;
pub(crate) use sink::Sink;
pub(crate) use tokens::Tokens;
