use std::{future::Future, io, time::Duration};

use kube::{core::Status, runtime::watcher};
use thiserror::Error;
use tokio::time::{Instant, sleep, timeout};
use tracing::debug;

/// How long one request may take, retries of the client included.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The waits before a request that failed is sent again: API servers that are replaced are back within seconds,
/// and what lasts longer fails the pass, which is repeated.
const REPEAT_DELAYS: [Duration; 3] =
    [Duration::from_millis(100), Duration::from_millis(400), Duration::from_millis(1_600)];

/// How long after its first try a request is not sent again: one that timed out is sent twice.
const REPEAT_WINDOW: Duration = Duration::from_secs(40);

/// A request that did not succeed.
#[derive(Debug, Error)]
pub enum RequestError {
    /// The API server answered no.
    #[error("{}", answer(.0))]
    Refused(Box<Status>),
    /// The API server did not answer in time.
    #[error("the API server did not answer within {} s and is asked again", REQUEST_TIMEOUT.as_secs())]
    TimedOut,
    /// The request did not reach the API server, or the answer did not come back.
    #[error("the API server could not be reached ({cause}) and is asked again")]
    Unreachable {
        /// What happened to the connection.
        cause: String,
    },
    /// The answer is not what such a request is answered with.
    #[error("the answer of the API server could not be read ({0}) and it is asked again")]
    Unreadable(serde_json::Error),
    /// What is waited for cannot be watched.
    #[error("{0}")]
    Unwatchable(String),
    /// There can be no such request, or no such kind.
    #[error("{}", explain(.0))]
    Failed(Box<kube::Error>),
}

impl From<kube::Error> for RequestError {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => Self::Refused(status),
            kube::Error::Service(_) | kube::Error::HyperError(_) | kube::Error::ReadEvents(_) => {
                debug!(error = explain(&error), "a request failed");
                Self::Unreachable { cause: cause(&error) }
            }
            kube::Error::SerdeError(error) => Self::Unreadable(error),
            other => Self::Failed(Box::new(other)),
        }
    }
}

impl From<watcher::Error> for RequestError {
    fn from(error: watcher::Error) -> Self {
        match error {
            watcher::Error::InitialListFailed(error)
            | watcher::Error::WatchStartFailed(error)
            | watcher::Error::WatchFailed(error) => error.into(),
            watcher::Error::WatchError(status) => Self::Refused(status),
            watcher::Error::NoResourceVersion => Self::Unwatchable(error.to_string()),
        }
    }
}

impl RequestError {
    /// The HTTP status of the answer, where there was one.
    #[must_use]
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Refused(status) => Some(status.code),
            _ => None,
        }
    }

    /// Whether the same request may succeed a moment later. The client itself repeats what is answered with 429,
    /// 503 and 504.
    fn is_passing(&self) -> bool {
        match self {
            Self::Refused(status) => matches!(status.code, 500 | 502),
            Self::TimedOut | Self::Unreachable { .. } | Self::Unreadable(_) => true,
            Self::Unwatchable(_) | Self::Failed(_) => false,
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

/// Runs a request that does no harm when it is done twice, again when it fails in a way that may pass.
pub(crate) async fn repeated<T, F>(mut request: impl FnMut() -> F) -> Result<T, RequestError>
where
    F: Future<Output = Result<T, kube::Error>>,
{
    let first = Instant::now();
    let mut delays = REPEAT_DELAYS.iter();
    loop {
        let error = match bounded(request()).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        match delays.next() {
            Some(delay) if error.is_passing() && first.elapsed() < REPEAT_WINDOW => {
                debug!(error = explain(&error), "a request is sent again");
                sleep(*delay).await;
            }
            _ => return Err(error),
        }
    }
}

/// What happened to a connection, in the words of the innermost error. The others name parts of the client.
fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(inner) = innermost.source() {
        innermost = inner;
    }
    if let Some(system) = innermost.downcast_ref::<io::Error>().filter(|it| it.raw_os_error().is_some()) {
        return system.kind().to_string();
    }
    let text = innermost.to_string();
    if text.starts_with("client error") { "the connection broke".to_owned() } else { text }
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
mod tests;
