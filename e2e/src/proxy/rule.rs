//! What a test can do to requests.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::StatusCode;
use serde_json::json;
use tokio::sync::watch;

use super::Record;

/// Decides what happens to a request at a moment. It is asked at every moment of every request.
pub type Rule = Arc<dyn Fn(Moment, &Record) -> Option<Fault> + Send + Sync>;

/// Something that a test does while a request stands still.
pub type Action = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

/// A point in the life of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Moment {
    /// It is here, and the API server knows nothing of it.
    Arrived,
    /// The API server has done it and answered; its client knows nothing of that.
    Committed,
    /// The whole answer is in the client's socket.
    Replied,
}

/// What happens to a request.
///
/// All are for [`Moment::Arrived`] and [`Moment::Committed`]; at [`Moment::Replied`] only
/// [`Fault::Hold`] and [`Fault::Crash`] make sense, and others are ignored.
pub enum Fault {
    /// Answer this. At [`Moment::Committed`], in place of the true answer.
    Answer(Answer),
    /// Cut the connection (RST).
    Reset,
    /// Wait.
    Delay(Duration),
    /// Wait for the end of an action. Other requests go on.
    Hold(Action),
    /// Stop all requests, let those that the API server has end, and run the action, which kills the client.
    /// All that the client still had here is dropped, so that the API server sees nothing of it any more.
    Crash(Action),
    /// Send half of the answer and cut the connection. At [`Moment::Committed`] alone.
    Truncate,
    /// End the watch after so long, as the API server does. At [`Moment::Committed`] alone.
    EndWatch(Duration),
    /// Keep the frames of the watch back for as long as the value is true. At [`Moment::Committed`] alone.
    HoldWatch(watch::Receiver<bool>),
}

impl Fault {
    /// An action from a closure.
    pub fn action<F>(act: impl FnOnce() -> F + Send + 'static) -> Action
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Box::new(move || Box::pin(act()))
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Answer(_) => "answered by a rule",
            Self::Reset => "reset",
            Self::Delay(_) => "delayed",
            Self::Hold(_) => "held",
            Self::Crash(_) => "crash",
            Self::Truncate => "truncated",
            Self::EndWatch(_) => "ended",
            Self::HoldWatch(_) => "frames held",
        }
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// An answer that does not come from the API server.
#[derive(Debug, Clone)]
pub struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) retry_after: Option<u64>,
    pub(crate) content_type: &'static str,
    pub(crate) body: Bytes,
}

impl Answer {
    /// A refusal as the API server words it.
    #[must_use]
    pub fn refuse(status: StatusCode, message: &str) -> Self {
        let body = json!({
            "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
            "code": status.as_u16(), "reason": reason(status), "message": message,
        });
        let body = Bytes::from(body.to_string());
        Self { status, retry_after: None, content_type: "application/json", body }
    }

    /// 429: too many requests, with the seconds after which to come back.
    #[must_use]
    pub fn too_many(retry_after_seconds: u64) -> Self {
        let refusal =
            Self::refuse(StatusCode::TOO_MANY_REQUESTS, "too many requests, please try again later");
        Self { retry_after: Some(retry_after_seconds), ..refusal }
    }

    /// 409: somebody else was faster.
    #[must_use]
    pub fn conflict() -> Self {
        Self::refuse(
            StatusCode::CONFLICT,
            "the object has been modified; please apply your changes to the latest version",
        )
    }

    /// 200 with a body that is not what was asked for.
    #[must_use]
    pub fn garbage() -> Self {
        let body = Bytes::from_static(b"<html><body>It works!</body></html>");
        Self { status: StatusCode::OK, retry_after: None, content_type: "text/html", body }
    }
}

/// The reasons of `metav1.Status` for the codes that rules use.
fn reason(status: StatusCode) -> &'static str {
    match status.as_u16() {
        403 => "Forbidden",
        404 => "NotFound",
        409 => "Conflict",
        410 => "Expired",
        429 => "TooManyRequests",
        500 => "InternalError",
        503 => "ServiceUnavailable",
        504 => "Timeout",
        _ => "",
    }
}
