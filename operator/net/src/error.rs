use std::{error::Error as _, fmt, io, time::Duration};

use reqwest::{Method, Url};
use thiserror::Error;

use crate::redact::address;

/// What was asked of whom, without what must not be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    method: Method,
    address: String,
}

impl Request {
    /// Asking for what is at an address.
    #[must_use]
    pub fn get(url: &Url) -> Self {
        Self::new(Method::GET, url)
    }

    pub(crate) fn new(method: Method, url: &Url) -> Self {
        Self { method, address: address(url) }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.method, self.address)
    }
}

/// Why there is no answer that can be used.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum HttpError {
    #[error("failed to set up the HTTP client")]
    Client(#[source] reqwest::Error),
    #[error("the certificates of authorities cannot be read: PEM is expected")]
    Authorities(#[source] reqwest::Error),
    #[error("there is no certificate among those of authorities: PEM is expected")]
    NoAuthorities,
    #[error("the certificate of the authority {subject} ended at {until}: renew it")]
    AuthorityOver { subject: String, until: String },
    #[error("the certificate of the authority {subject} begins at {from}: check it and the clock")]
    AuthorityEarly { subject: String, from: String },
    #[error(
        "the certificate of the client and its key cannot be read: PEM is expected, and an unencrypted key"
    )]
    ClientCertificate(#[source] reqwest::Error),
    #[error(
        "failed to {request}: the value of {name} has characters that no header can have, such as the end of a line"
    )]
    Header { request: Request, name: &'static str },
    #[error("failed to {request}: the certificate of the server is not trusted")]
    Stranger { request: Request, source: reqwest::Error },
    #[error("failed to {request}: the server does not speak TLS")]
    NoTls { request: Request, source: reqwest::Error },
    #[error("failed to {request}: it cannot be sent, check the address")]
    Invalid { request: Request, source: reqwest::Error },
    #[error("failed to {request}: the server cannot be reached")]
    Unreachable { request: Request, source: reqwest::Error },
    #[error("failed to {request}: no answer within {limit:?}")]
    TimedOut { request: Request, limit: Duration },
    #[error("failed to {request}: the server answered {status}")]
    Refused { request: Request, status: u16 },
    #[error("failed to {request}: the answer has more than {limit} bytes")]
    TooLarge { request: Request, limit: usize },
    #[error("failed to {request}: the connection broke")]
    Broken { request: Request, source: reqwest::Error },
}

/// Who can make a request succeed that did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// Whoever named the server: the address or the rights are wrong.
    User,
    /// Whoever runs this program.
    Operator,
    /// Nobody: the same request may succeed later.
    Nobody,
}

impl HttpError {
    /// The error of a request that was sent, or should have been.
    pub(crate) fn sending(request: Request, limit: Duration, problem: reqwest::Error) -> Self {
        // Its URL has what must not be shown, and the request says the rest.
        let source = problem.without_url();
        if source.is_builder() {
            return Self::Invalid { request, source };
        }
        match tls(&source) {
            Some(rustls::Error::InvalidCertificate(_)) => return Self::Stranger { request, source },
            Some(rustls::Error::InvalidMessage(_)) => return Self::NoTls { request, source },
            _ => {}
        }
        if source.is_connect() {
            Self::Unreachable { request, source }
        } else if source.is_timeout() {
            Self::TimedOut { request, limit }
        } else {
            Self::Broken { request, source }
        }
    }

    /// Whose move it is.
    #[must_use]
    pub fn next_move(&self) -> Move {
        match self {
            Self::Client(_) => Move::Operator,
            Self::Authorities(_)
            | Self::NoAuthorities
            | Self::AuthorityOver { .. }
            | Self::AuthorityEarly { .. }
            | Self::ClientCertificate(_)
            | Self::Header { .. }
            | Self::Stranger { .. }
            | Self::NoTls { .. }
            | Self::Invalid { .. }
            | Self::TooLarge { .. } => Move::User,
            Self::Unreachable { .. } | Self::TimedOut { .. } | Self::Broken { .. } => Move::Nobody,
            Self::Refused { status, .. } => match status {
                // What is not implemented today is not implemented tomorrow.
                501 => Move::User,
                // Too slow, too early, too often; and servers that have trouble of their own.
                408 | 425 | 429 | 500.. => Move::Nobody,
                _ => Move::User,
            },
        }
    }

    /// The status of the answer, where there was one and it was a refusal.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }
}

/// What TLS has to say about an error.
fn tls(error: &reqwest::Error) -> Option<&rustls::Error> {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(tls) = error.downcast_ref::<rustls::Error>() {
            return Some(tls);
        }
        // An error of input and output shows the cause of the one that it holds, but not that one.
        let held = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        cause = match held {
            Some(held) => Some(held),
            None => error.source(),
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use reqwest::{Method, Url};
    use rstest::rstest;

    use super::{HttpError, Move, Request};

    #[rstest]
    #[case(302, Move::User)]
    #[case(400, Move::User)]
    #[case(401, Move::User)]
    #[case(404, Move::User)]
    #[case(408, Move::Nobody)]
    #[case(425, Move::Nobody)]
    #[case(429, Move::Nobody)]
    #[case(500, Move::Nobody)]
    #[case(501, Move::User)]
    #[case(503, Move::Nobody)]
    #[case(599, Move::Nobody)]
    fn the_status_tells_whose_move_it_is(#[case] status: u16, #[case] expected: Move) {
        let url = Url::parse("https://user:pass@example.com/path?token=secret").unwrap();
        let refused = HttpError::Refused { request: Request::new(Method::POST, &url), status };
        assert_eq!((refused.next_move(), refused.status()), (expected, Some(status)));
        assert_eq!(
            refused.to_string(),
            format!("failed to POST https://example.com/path: the server answered {status}")
        );
    }
}
