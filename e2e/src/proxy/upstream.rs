//! The way from the proxy to the API server.

use std::path::Path;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, header, uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::TokioExecutor;
use kube::client::ConfigExt as _;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use serde_json::Value;

use super::{ApiRequest, Effect, ProxyError, Verb};

/// Asks for metadata alone.
const METADATA: HeaderValue =
    HeaderValue::from_static("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io");
/// Headers that belong to one connection, and the wish for a compression that nobody here reads.
const NOT_FORWARDED: [header::HeaderName; 4] =
    [header::HOST, header::CONNECTION, header::TRANSFER_ENCODING, header::ACCEPT_ENCODING];

type Send = dyn Fn(Request<Full<Bytes>>) -> BoxFuture<'static, Result<Response<Incoming>, Error>>
    + std::marker::Send
    + Sync;

/// The API server, as the kubeconfig of the cluster names it.
pub(crate) struct Upstream {
    server: Uri,
    send: Box<Send>,
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// What is known of an object: enough to tell whether a write changed it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct State {
    pub(crate) uid: Option<String>,
    version: Option<String>,
    is_leaving: bool,
}

impl Upstream {
    pub(crate) async fn new(kubeconfig: &Path) -> Result<Self, ProxyError> {
        let unreadable = |source: kube::config::KubeconfigError| ProxyError::Read {
            path: kubeconfig.to_owned(),
            source: Box::new(source),
        };
        let content = Kubeconfig::read_from(kubeconfig).map_err(unreadable)?;
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(content, &options).await.map_err(unreadable)?;
        let connector = config.rustls_https_connector().map_err(|error| ProxyError::Tls(Box::new(error)))?;
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Ok(Self {
            server: config.cluster_url,
            send: Box::new(move |request| Box::pin(client.request(request))),
        })
    }

    /// Sends a request on, with everything that its client said.
    pub(crate) async fn forward(&self, head: &Parts, body: Bytes) -> Option<Response<Incoming>> {
        let path = head.uri.path_and_query().map_or("/", uri::PathAndQuery::as_str);
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = head.method.clone();
        *request.headers_mut() = head.headers.clone();
        self.dispatch(request, path).await
    }

    /// Sends a request on and waits for the whole answer.
    pub(crate) async fn exchange(&self, head: &Parts, body: Bytes) -> Option<Reply> {
        Reply::of(self.forward(head, body).await?).await
    }

    /// The object that a request is about, as it is now, read with its client's rights.
    pub(crate) async fn look(&self, head: &Parts, request: &ApiRequest) -> State {
        let Some(path) = request.object_path() else { return State::default() };
        let mut look = Request::new(Full::default());
        *look.method_mut() = Method::GET;
        *look.headers_mut() = head.headers.clone();
        look.headers_mut().remove(header::CONTENT_TYPE);
        look.headers_mut().remove(header::CONTENT_LENGTH);
        look.headers_mut().insert(header::ACCEPT, METADATA);
        let Some(answer) = self.dispatch(look, path).await else { return State::default() };
        match Reply::of(answer).await {
            Some(reply) if reply.status.is_success() => State::of(&reply.body),
            _ => State::default(),
        }
    }

    async fn dispatch(&self, mut request: Request<Full<Bytes>>, path: &str) -> Option<Response<Incoming>> {
        for name in NOT_FORWARDED {
            request.headers_mut().remove(name);
        }
        let prefix = self.server.path().trim_end_matches('/');
        let mut parts = self.server.clone().into_parts();
        parts.path_and_query = format!("{prefix}{path}").parse().ok();
        *request.uri_mut() = Uri::from_parts(parts).ok()?;
        (self.send)(request).await.ok()
    }
}

impl Reply {
    pub(crate) async fn of(response: Response<Incoming>) -> Option<Self> {
        let (head, body) = response.into_parts();
        let body = body.collect().await.ok()?.to_bytes();
        Some(Self { status: head.status, headers: head.headers, body })
    }
}

impl State {
    fn of(body: &[u8]) -> Self {
        let object: Value = serde_json::from_slice(body).unwrap_or_default();
        let metadata = &object["metadata"];
        let text = |key: &str| metadata[key].as_str().map(str::to_owned);
        Self {
            uid: text("uid"),
            version: text("resourceVersion"),
            is_leaving: metadata.get("deletionTimestamp").is_some(),
        }
    }
}

/// What a write did, by the object before it and the answer; and the uid of the object.
pub(crate) fn effect(request: &ApiRequest, before: &State, reply: &Reply) -> (Effect, Option<String>) {
    let after = State::of(&reply.body);
    let uid = before.uid.clone().or_else(|| after.uid.clone());
    if !reply.status.is_success() || request.is_dry_run {
        return (Effect::Nothing, uid);
    }
    let effect = match request.verb {
        _ if reply.status == StatusCode::CREATED => Effect::Created,
        Verb::Delete if before.is_leaving => Effect::Nothing,
        Verb::Delete | Verb::DeleteCollection => Effect::Deleted,
        _ if after.version == before.version => Effect::Nothing,
        _ => Effect::Changed,
    };
    (effect, uid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: Method, query: &str) -> ApiRequest {
        let request = Request::builder().method(method).uri(format!("/api/v1/namespaces/a/pods/b{query}"));
        ApiRequest::of(&request.body(()).unwrap().into_parts().0)
    }

    fn reply(status: u16, metadata: &str) -> Reply {
        let body = Bytes::from(format!(r#"{{"metadata": {metadata}}}"#));
        Reply { status: StatusCode::from_u16(status).unwrap(), headers: HeaderMap::new(), body }
    }

    fn state(metadata: &str) -> State {
        State::of(&reply(200, metadata).body)
    }

    #[test]
    fn a_write_is_effective_when_the_version_moves() {
        let patch = request(Method::PATCH, "");
        let before = state(r#"{"uid": "u", "resourceVersion": "7"}"#);
        let after = |status, version: &str| {
            effect(&patch, &before, &reply(status, &format!(r#"{{"resourceVersion": "{version}"}}"#))).0
        };
        assert_eq!(after(200, "8"), Effect::Changed);
        assert_eq!(after(200, "7"), Effect::Nothing);
        assert_eq!(after(409, "8"), Effect::Nothing);
        assert_eq!(after(201, "8"), Effect::Created);
        let dry = request(Method::PATCH, "?dryRun=All");
        assert_eq!(effect(&dry, &before, &reply(201, "{}")), (Effect::Nothing, Some("u".to_owned())));
    }

    #[test]
    fn only_the_first_deletion_of_an_object_counts() {
        let delete = request(Method::DELETE, "");
        let gone = reply(200, r#"{"deletionTimestamp": "2026-01-01T00:00:00Z"}"#);
        assert_eq!(effect(&delete, &state(r#"{"uid": "u"}"#), &gone).0, Effect::Deleted);
        let leaving = state(r#"{"uid": "u", "deletionTimestamp": "2026-01-01T00:00:00Z"}"#);
        assert_eq!(effect(&delete, &leaving, &gone).0, Effect::Nothing);
        assert_eq!(effect(&delete, &State::default(), &reply(404, "{}")).0, Effect::Nothing);
    }
}
