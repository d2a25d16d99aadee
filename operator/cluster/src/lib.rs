//! Everything that is said to a kube-apiserver.
//!
//! Callers decide which objects must exist; this crate makes the cluster agree: [server-side
//! apply](apply), [waiting for readiness](wait), [events]. Every request has a deadline, and every
//! error names the object that it is about.

pub mod apply;
pub mod client;
pub mod definitions;
pub mod delete;
mod error;
pub mod events;
pub mod finalizers;
pub mod gone;
pub mod inventory;
mod kinds;
pub mod labelled;
pub mod lease;
pub mod managed;
mod managed_fields;
pub mod notifications;
mod pages;
pub mod readiness;
pub mod secrets;
pub mod status;
mod takeover;
pub mod wait;

pub use error::{RequestError, explain};
pub use kinds::{KindError, Kinds};
pub use takeover::{FormerManagers, Takeover};
