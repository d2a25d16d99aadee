use std::time::{Duration, SystemTime};

use reqwest::{Client, Url, redirect::Policy};
use tracing::warn;

use crate::{answer::Answer, ask::Ask, error::HttpError, trust::Trust};

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
        Self::with_trust(limits, &Trust::default())
    }

    /// A client that trusts more authorities than those of the system, and that can say who it is.
    ///
    /// # Errors
    /// When certificates or keys cannot be read; as for [`HttpClient::new`] besides.
    pub fn with_trust(limits: Limits, trust: &Trust) -> Result<Self, HttpError> {
        let (authorities, identity) = (trust.certificates(SystemTime::now())?, trust.identity()?);
        let failed = if authorities.is_empty() { HttpError::Client } else { HttpError::Authorities };
        let builder = || {
            let builder = Client::builder()
                .user_agent(USER_AGENT)
                .redirect(Policy::none())
                .connect_timeout(limits.connect)
                .timeout(limits.request);
            match identity.clone() {
                Some(identity) => builder.identity(identity),
                None => builder,
            }
        };
        let client = builder().tls_certs_merge(authorities.clone()).build().or_else(|problem| {
            warn!(error = chain(&problem), "HTTPS servers cannot be trusted: mount CA certificates");
            builder().tls_certs_only(authorities).build().map_err(failed)
        })?;
        Ok(Self { client, limits })
    }

    /// Sends what is asked, and returns the answer whatever its status.
    ///
    /// # Errors
    /// When the server cannot be reached, is not trusted, or does not answer in time.
    pub async fn send(&self, ask: Ask) -> Result<Answer, HttpError> {
        let request = ask.request();
        let within = ask.within.map_or(self.limits.request, |within| within.min(self.limits.request));
        let sent = self.client.request(ask.method, ask.url).headers(ask.headers).timeout(within);
        let sent = if ask.body.is_empty() { sent } else { sent.body(ask.body) };
        match sent.send().await {
            Ok(response) => Ok(Answer { request, within, response }),
            Err(problem) => Err(HttpError::sending(request, within, problem)),
        }
    }

    /// Posts a body and returns that of the answer.
    ///
    /// # Errors
    /// When the server cannot be reached, does not answer in time, answers anything but 2xx, or says more than
    /// the limits allow.
    pub async fn post(&self, url: &Url, content_type: &str, body: Vec<u8>) -> Result<Vec<u8>, HttpError> {
        let answer = self.send(Ask::post(url.clone(), content_type, body)?).await?;
        if !(200..300).contains(&answer.status()) {
            return Err(answer.refused());
        }
        answer.body(self.limits.answer_bytes).await
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
