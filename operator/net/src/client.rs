use std::time::Duration;

use reqwest::{Client, Method, Response, Url, header::CONTENT_TYPE, redirect::Policy};
use tracing::warn;

use crate::error::{HttpError, Request};

/// How servers see this program in their logs.
const USER_AGENT: &str = concat!("flux-operator/", env!("CARGO_PKG_VERSION"));

/// What a request may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a connection may take to come about, looking up the host and TLS included.
    pub connect: Duration,
    /// How long all of it may take, from looking up the host to the last byte of the answer.
    pub request: Duration,
    /// How large the body of an answer may be, in bytes.
    pub answer_bytes: usize,
}

/// Asks servers. Clones share their connections.
///
/// Redirects are not followed: they are refusals. Proxies come from `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and
/// `NO_PROXY`, in upper or lower case, as they were when the client was made.
#[derive(Clone, Debug)]
pub struct HttpClient {
    client: Client,
    limits: Limits,
}

impl HttpClient {
    /// A client whose every request keeps the limits.
    ///
    /// Where the system has no CA certificates it still speaks HTTP, and every HTTPS server is a stranger.
    ///
    /// # Errors
    /// When the TLS of this program cannot be set up.
    pub fn new(limits: Limits) -> Result<Self, HttpError> {
        let builder = || {
            Client::builder()
                .user_agent(USER_AGENT)
                .redirect(Policy::none())
                .connect_timeout(limits.connect)
                .timeout(limits.request)
        };
        let client = builder().build().or_else(|problem| {
            warn!(error = chain(&problem), "HTTPS servers cannot be trusted: mount CA certificates");
            builder().tls_certs_only([]).build().map_err(HttpError::Client)
        })?;
        Ok(Self { client, limits })
    }

    /// Posts a body and returns that of the answer.
    ///
    /// # Errors
    /// When the server cannot be reached, does not answer in time, answers anything but 2xx, or says more than
    /// the limits allow.
    pub async fn post(&self, url: &Url, content_type: &str, body: Vec<u8>) -> Result<Vec<u8>, HttpError> {
        let request = Request::new(Method::POST, url);
        let post = self.client.post(url.clone()).header(CONTENT_TYPE, content_type).body(body);
        let answer = match post.send().await {
            Ok(answer) => answer,
            Err(problem) => return Err(self.failure(request, problem)),
        };
        let status = answer.status();
        if !status.is_success() {
            return Err(HttpError::Refused { request, status: status.as_u16() });
        }
        self.read(request, answer).await
    }

    async fn read(&self, request: Request, mut answer: Response) -> Result<Vec<u8>, HttpError> {
        let limit = self.limits.answer_bytes;
        let mut body = Vec::new();
        loop {
            match answer.chunk().await {
                Ok(Some(chunk)) if chunk.len() > limit.saturating_sub(body.len()) => {
                    return Err(HttpError::TooLarge { request, limit });
                }
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => return Ok(body),
                Err(problem) => return Err(self.failure(request, problem)),
            }
        }
    }

    fn failure(&self, request: Request, problem: reqwest::Error) -> HttpError {
        // Its URL has what must not be shown, and the request says the rest.
        let source = problem.without_url();
        if source.is_builder() {
            HttpError::Invalid { request, source }
        } else if source.is_connect() {
            HttpError::Unreachable { request, source }
        } else if source.is_timeout() {
            HttpError::TimedOut { request, limit: self.limits.request }
        } else {
            HttpError::Broken { request, source }
        }
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
