//! The one HTTP client of the operator: whatever is said to the outside, but to the API server, goes through it.
//!
//! Every request has a deadline and every answer a largest size. Proxies are those of the environment. Errors
//! say what was asked of whom, and whose move it is.

mod client;
mod error;
mod redact;

pub use client::{HttpClient, Limits};
pub use error::{HttpError, Move, Request};
pub use redact::{address, without_userinfo};
pub use reqwest::Url;

/// Why a text is no URL.
pub type UrlError = <Url as std::str::FromStr>::Err;
