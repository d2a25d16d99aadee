use std::{future::Future, time::Duration};

use kube::core::Status;
use thiserror::Error;
use tokio::time::timeout;

/// How long one request may take, retries of the client included.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// A request that did not succeed.
#[derive(Debug, Error)]
pub enum RequestError {
    /// The API server answered no.
    #[error("{}", answer(.0))]
    Refused(Box<Status>),
    /// The API server did not answer in time.
    #[error("the API server did not answer within {} s", REQUEST_TIMEOUT.as_secs())]
    TimedOut,
    /// What is waited for cannot be watched.
    #[error("{0}")]
    Unwatchable(String),
    /// The request did not reach the API server, or its answer makes no sense.
    #[error("{}", explain(.0))]
    Failed(Box<kube::Error>),
}

impl From<kube::Error> for RequestError {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => Self::Refused(status),
            other => Self::Failed(Box::new(other)),
        }
    }
}

impl RequestError {
    /// The HTTP status of the answer, where there was one.
    #[must_use]
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Refused(status) => Some(status.code),
            Self::TimedOut | Self::Unwatchable(_) | Self::Failed(_) => None,
        }
    }
}

/// Runs a request under the deadline that every request has.
pub(crate) async fn bounded<T>(
    request: impl Future<Output = Result<T, kube::Error>>,
) -> Result<T, RequestError> {
    match timeout(REQUEST_TIMEOUT, request).await {
        Ok(answer) => answer.map_err(RequestError::from),
        Err(_) => Err(RequestError::TimedOut),
    }
}

/// An error of the client in one sentence, from the outermost cause to the innermost.
#[must_use]
pub fn explain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    text
}

fn answer(status: &Status) -> String {
    if status.message.is_empty() {
        return format!("the API server answered {} {}", status.code, status.reason);
    }
    status.message.clone()
}

#[cfg(test)]
mod tests {
    use thiserror::Error;

    use super::explain;

    #[derive(Debug, Error)]
    #[error("failed to apply")]
    struct Outer(#[source] Inner);

    #[derive(Debug, Error)]
    #[error("connection refused")]
    struct Inner;

    #[test]
    fn causes_are_part_of_the_sentence() {
        assert_eq!(explain(&Outer(Inner)), "failed to apply: connection refused");
    }
}
