//! The one HTTP client of the operator: whatever is said to the outside, but to the API server, goes through it.
//!
//! Every request has a deadline and every answer a largest size. Proxies are those of the environment. Errors
//! say what was asked of whom, and whose move it is.

mod answer;
mod ask;
mod client;
mod error;
mod patience;
mod redact;
mod redirect;
mod retry_after;
mod trust;

pub use answer::Answer;
pub use ask::Ask;
pub use client::{HttpClient, Limits};
pub use error::{HttpError, Move, Request};
pub use patience::Deadline;
pub use redact::{address, without_userinfo};
pub use redirect::{RedirectError, is_same_server, redirected};
pub use reqwest::Url;
pub use trust::{ClientCertificate, Trust};

/// Why a text is no URL.
pub type UrlError = <Url as std::str::FromStr>::Err;
