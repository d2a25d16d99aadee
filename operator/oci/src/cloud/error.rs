use std::{io, path::PathBuf};

use operator_net::{HttpError, Move, Request};
use thiserror::Error;

/// Why there is no credential of a cloud.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum CloudError {
    #[error("this pod has no identity of {cloud}: {variables} are not set; bind its ServiceAccount to one")]
    NoIdentity { cloud: &'static str, variables: &'static str },
    #[error("{variable} is no address")]
    Address { variable: &'static str },
    #[error("failed to read the token in {}", path.display())]
    Token { path: PathBuf, source: io::Error },
    #[error("the token in {} has more than {limit} bytes or is no text", path.display())]
    TokenSize { path: PathBuf, limit: usize },
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error("failed to {request}: the cloud answered {status}{code}; check the rights of the identity")]
    Refused { request: Request, status: u16, code: String },
    #[error("failed to {request}: the answer has no {what}")]
    NoAnswer { request: Request, what: &'static str },
    #[error("the clock is before 1970")]
    Clock,
}

impl CloudError {
    /// Who can make it succeed.
    #[must_use]
    pub fn next_move(&self) -> Move {
        match self {
            Self::NoIdentity { .. }
            | Self::Address { .. }
            | Self::Token { .. }
            | Self::TokenSize { .. }
            | Self::Clock => Move::Operator,
            Self::Http(error) => error.next_move(),
            Self::NoAnswer { .. } | Self::Refused { status: 408 | 429 | 500.., .. } => Move::Nobody,
            Self::Refused { .. } => Move::User,
        }
    }
}
