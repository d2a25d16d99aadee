//! Waits for the parts of a starting control plane, each for what it does.

use std::future::Future;
use std::time::Duration;

use futures::FutureExt as _;
use k8s_openapi::api::core::v1::{Node, ServiceAccount};
use kube::api::{Api, PostParams};
use kube::{Client, Config};
use tokio::time::Instant;

use crate::error::with_causes;
use crate::{BedError, Process};

/// Between two looks at a part that has nothing to watch yet.
const PROBE_INTERVAL: Duration = Duration::from_millis(25);
/// A request to a part that does not answer.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);
/// The node that kwok plays.
const NODE: &str = "node-0";

/// A start that is under way.
#[derive(Debug)]
pub(crate) struct Start<'a> {
    /// The control plane's name.
    pub(crate) plane: &'a str,
    /// When it began.
    pub(crate) began: Instant,
    /// How long all of it may take.
    pub(crate) within: Duration,
}

impl Start<'_> {
    /// Waits until kube-apiserver serves everything.
    pub(crate) async fn api_server(&self, parts: &[Process], client: &Client) -> Result<(), BedError> {
        self.until(parts, "kube-apiserver", "\"ok\" from /readyz", || ask_ready(client)).await
    }

    /// Waits until the scheduler serves.
    pub(crate) async fn scheduler(&self, parts: &[Process], port: u16) -> Result<(), BedError> {
        let client = local_client(port)?;
        self.until(parts, "kube-scheduler", "\"ok\" from /readyz", || ask_ready(&client)).await
    }

    /// Waits for the default account, without which no pod can be made.
    pub(crate) async fn controller_manager(
        &self,
        parts: &[Process],
        client: &Client,
    ) -> Result<(), BedError> {
        let accounts = Api::<ServiceAccount>::namespaced(client.clone(), "default");
        let probe =
            || accounts.get("default").map(|reply| reply.map(drop).map_err(|error| with_causes(&error)));
        self.until(parts, "kube-controller-manager", "ServiceAccount default/default", probe).await
    }

    /// Makes the node and waits until it is ready.
    pub(crate) async fn kwok(&self, parts: &[Process], client: &Client) -> Result<(), BedError> {
        let nodes = Api::<Node>::all(client.clone());
        make_node(&nodes).await.map_err(|error| BedError::Request {
            step: format!("create Node {NODE}"),
            source: Box::new(error),
        })?;
        let probe = || {
            nodes.get(NODE).map(|reply| match reply {
                Ok(node) if is_ready(&node) => Ok(()),
                Ok(_) => Err("the node is there".to_owned()),
                Err(error) => Err(with_causes(&error)),
            })
        };
        self.until(parts, "kwok", "condition Ready of Node node-0", probe).await
    }

    /// Repeats a probe until it succeeds, the deadline has passed, or a part has ended.
    pub(crate) async fn until<Reply>(
        &self,
        parts: &[Process],
        part: &str,
        waiting_for: &str,
        probe: impl Fn() -> Reply,
    ) -> Result<(), BedError>
    where
        Reply: Future<Output = Result<(), String>>,
    {
        loop {
            self.all_run(parts, waiting_for)?;
            let last = match tokio::time::timeout(PROBE_TIMEOUT, probe()).await {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(answer)) => answer,
                Err(_) => "no answer".to_owned(),
            };
            if self.began.elapsed() >= self.within {
                return Err(self.not_ready(parts, part, waiting_for, last));
            }
            tokio::time::sleep(PROBE_INTERVAL).await;
        }
    }

    fn all_run(&self, parts: &[Process], waiting_for: &str) -> Result<(), BedError> {
        let ended =
            |part: &Process| part.exit_status().map(|exit| (exit, part.name().to_owned(), part.log_tail()));
        match parts.iter().find_map(ended) {
            None => Ok(()),
            Some((exit, part, log)) => Err(BedError::Ended {
                plane: self.plane.to_owned(),
                part,
                exit,
                waiting_for: waiting_for.to_owned(),
                log,
            }),
        }
    }

    fn not_ready(&self, parts: &[Process], part: &str, waiting_for: &str, last: String) -> BedError {
        let log = parts.iter().find(|process| process.name() == part).map(Process::log_tail);
        BedError::NotReady {
            plane: self.plane.to_owned(),
            part: part.to_owned(),
            waiting_for: waiting_for.to_owned(),
            within: self.within,
            last,
            log: log.unwrap_or_else(|| crate::LogTail { path: part.into(), lines: Vec::new() }),
        }
    }
}

async fn ask_ready(client: &Client) -> Result<(), String> {
    let mut request = http::Request::new(Vec::new());
    *request.uri_mut() = http::Uri::from_static("/readyz");
    match client.request_text(request).await {
        Ok(text) if text == "ok" => Ok(()),
        Ok(text) => Err(text),
        Err(error) => Err(with_causes(&error)),
    }
}

/// A client for a part that makes its own certificate at each start and lets anybody ask whether it is ready.
fn local_client(port: u16) -> Result<Client, BedError> {
    let server = http::Uri::builder()
        .scheme("https")
        .authority(format!("127.0.0.1:{port}"))
        .path_and_query("/")
        .build()
        .map_err(|error| BedError::Request {
            step: format!("ask port {port}"),
            source: Box::new(kube::Error::HttpError(error)),
        })?;
    let mut config = Config::new(server);
    config.accept_invalid_certs = true;
    config.default_retry = false;
    Client::try_from(config)
        .map_err(|error| BedError::Request { step: format!("ask port {port}"), source: Box::new(error) })
}

async fn make_node(nodes: &Api<Node>) -> Result<(), kube::Error> {
    let labels = [("kubernetes.io/os", "linux"), ("kubernetes.io/hostname", NODE)];
    let mut node = Node::default();
    node.metadata.name = Some(NODE.to_owned());
    node.metadata.labels = Some(labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
    nodes.create(&PostParams::default(), &node).await.map(drop)
}

pub(crate) fn is_ready(node: &Node) -> bool {
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_ref());
    conditions.is_some_and(|all| all.iter().any(|one| one.type_ == "Ready" && one.status == "True"))
}
