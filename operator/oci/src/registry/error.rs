use std::time::Duration;

use operator_net::{HttpError, Move, RedirectError, Request};
use thiserror::Error;

use crate::{digest::Digest, manifest::ManifestError};

/// Why a registry did not give what was asked for.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum RegistryError {
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error("{host:?} is no address of a registry")]
    Address { host: String },
    #[error(
        "failed to {request}: the registry wants to know who asks{said}; it was told {credential}, check the pull \
         secret"
    )]
    Unauthorized { request: Request, credential: &'static str, said: Said },
    #[error(
        "failed to {request}: the registry denies it to who asks with {credential}{said}; check the pull secret and \
         the rights"
    )]
    Denied { request: Request, credential: &'static str, said: Said },
    #[error("failed to {request}: the registry answered {status}{said}")]
    Refused { request: Request, status: u16, said: Said, retry_after: Option<Duration> },
    #[error("failed to {request}: the server answered a redirect that is not followed")]
    Redirect { request: Request, source: RedirectError },
    #[error("failed to {request}: it was redirected more than {limit} times")]
    Redirects { request: Request, limit: usize },
    #[error(
        "failed to {request}: the registry wants {scheme:?} to know who asks, which is neither Bearer nor Basic"
    )]
    Scheme { request: Request, scheme: String },
    #[error("failed to {request}: {realm:?}, the address of its token service, cannot be used")]
    Realm { request: Request, realm: String },
    #[error("failed to {request}: its token service {realm:?} is without TLS, and only HTTPS is allowed")]
    PlainRealm { request: Request, realm: String },
    #[error("failed to {request}: the token service answered without a token")]
    NoToken { request: Request },
    #[error("the registry has no {what}")]
    NotFound { what: String },
    #[error("the registry gave something else for {what}: it is {found}; try again, or push it anew")]
    Digest { what: String, found: Digest },
    #[error("the registry gave {found} bytes or more for {what}, which has {expected}")]
    Size { what: String, expected: u64, found: u64 },
    #[error("{what} has more than {limit} bytes")]
    TooLarge { what: String, limit: u64 },
    #[error("the registry gave a list of what refers to {subject} that cannot be used")]
    Referrers { subject: Digest, source: ManifestError },
    #[error("more than {limit} manifests refer to {subject}")]
    TooManyReferrers { subject: Digest, limit: usize },
    #[error("{what} did not come within {limit:?}")]
    Stalled { what: String, limit: Duration },
    #[error("failed to keep {what}")]
    Disk { what: String, source: std::io::Error },
}

/// What a server said about a refusal, cut to what can be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said(pub(crate) String);

impl std::fmt::Display for Said {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(formatter, " ({})", self.0) }
    }
}

impl RegistryError {
    /// Who can make it succeed.
    #[must_use]
    pub fn next_move(&self) -> Move {
        match self {
            Self::Http(error) => error.next_move(),
            Self::Refused { status, .. } => match status {
                501 => Move::User,
                408 | 425 | 429 | 500.. => Move::Nobody,
                _ => Move::User,
            },
            Self::Digest { .. } | Self::Size { .. } | Self::Stalled { .. } | Self::NoToken { .. } => {
                Move::Nobody
            }
            Self::Disk { .. } => Move::Operator,
            Self::Address { .. }
            | Self::Unauthorized { .. }
            | Self::Denied { .. }
            | Self::Redirect { .. }
            | Self::Redirects { .. }
            | Self::Scheme { .. }
            | Self::Realm { .. }
            | Self::PlainRealm { .. }
            | Self::NotFound { .. }
            | Self::TooLarge { .. }
            | Self::Referrers { .. }
            | Self::TooManyReferrers { .. } => Move::User,
        }
    }

    /// How long the registry wants to be left alone.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Whether the same blob may come whole when it is asked for once more.
    pub(crate) fn may_be_whole_next_time(&self) -> bool {
        match self {
            Self::Http(error) => matches!(error, HttpError::Broken { .. }),
            Self::Digest { .. } | Self::Size { .. } | Self::Stalled { .. } => true,
            _ => false,
        }
    }
}
