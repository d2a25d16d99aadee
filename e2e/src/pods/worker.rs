//! The life of one pod: started, probed, started anew when it ends, and ended before it goes.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Empty;
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use k8s_openapi::api::authentication::v1::{BoundObjectReference, TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{Container, Pod, ServiceAccount};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::container::{command, environment};
use super::status::{Report, State};
use super::{Image, Shared};
use crate::Process;
use crate::error::with_causes;
use crate::kubeconfig::{DeriveError, derive, entries};
use crate::process::Program;

/// Between two looks at a probe, and the time that it has for an answer.
const PROBE_INTERVAL: Duration = Duration::from_millis(100);
/// How long a program that ended waits until it is started anew.
const RESTART_DELAY: Duration = Duration::from_millis(500);
/// How long a token is good for. The agent of a node would renew it; no test takes as long.
const TOKEN_SECONDS: i64 = 2 * 3600;
/// How long a program may take to end if its pod does not say.
const GRACE_SECONDS: i64 = 30;

/// A pod and what it takes to run it.
pub(crate) struct Worker {
    shared: Arc<Shared>,
    image: Image,
    pod: Pod,
    container: Container,
    address: IpAddr,
    folder: PathBuf,
    /// When it was started.
    started: String,
    /// Asks its probe.
    prober: HttpClient<HttpConnector, Empty<Bytes>>,
}

/// How a run of the program ended.
enum End {
    /// By itself, with this code.
    Exit(i32),
    /// Its pod is leaving.
    Left,
}

impl Worker {
    /// A worker for a pod that has a node and an image of ours.
    pub(crate) fn of(shared: &Arc<Shared>, pod: &Pod) -> Option<Self> {
        let spec = pod.spec.as_ref().filter(|spec| spec.node_name.is_some())?;
        let container = spec.containers.first()?;
        let reference = container.image.as_deref().unwrap_or_default();
        let image = shared.images.iter().find(|image| image.is_named_by(reference))?;
        let folder = format!("{}_{}", pod.namespace().unwrap_or_default(), pod.name_any());
        Some(Self {
            shared: shared.clone(),
            image: image.clone(),
            container: container.clone(),
            address: next_address(),
            folder: shared.folder.join(folder),
            started: k8s_openapi::jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            prober: HttpClient::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build_http(),
            pod: pod.clone(),
        })
    }

    /// Runs the pod until it has left.
    pub(crate) async fn work(self, mut leaving: watch::Receiver<bool>) {
        let mut restarts = 0;
        while !*leaving.borrow_and_update() {
            match self.run(restarts, &mut leaving).await {
                Ok(End::Left) => break,
                Ok(End::Exit(code)) if !self.is_restarted(code) => {
                    self.report(restarts, &State::Ended { code }).await;
                    left(&mut leaving).await;
                    break;
                }
                Ok(End::Exit(code)) => {
                    let message = format!("the program ended with {code}");
                    self.report(restarts, &State::Waiting { reason: "CrashLoopBackOff", message }).await;
                }
                Err(message) => {
                    self.report(restarts, &State::Waiting { reason: "RunContainerError", message }).await;
                }
            }
            restarts += 1;
            let _ = tokio::time::timeout(RESTART_DELAY, left(&mut leaving)).await;
        }
        let uid = self.pod.uid();
        let preconditions = Some(Preconditions { uid, resource_version: None });
        let parameters =
            DeleteParams { grace_period_seconds: Some(0), preconditions, ..DeleteParams::default() };
        // A pod that is gone already is what was wanted.
        let _ = self.pods().delete(&self.pod.name_any(), &parameters).await;
    }

    /// Starts the program once, and waits for its end.
    async fn run(&self, restarts: u32, leaving: &mut watch::Receiver<bool>) -> Result<End, String> {
        let process = Process::start(self.program().await?).map_err(|error| with_causes(&error))?;
        let mut ticks = tokio::time::interval(PROBE_INTERVAL);
        let mut known = None;
        loop {
            tokio::select! {
                ended = process.wait_for_exit(Duration::MAX) => {
                    return Ok(End::Exit(ended.and_then(|status| status.code()).unwrap_or(-1)));
                }
                () = left(leaving) => {
                    self.end(&process).await;
                    return Ok(End::Left);
                }
                _ = ticks.tick() => {
                    let state = State::Running { is_ready: self.is_ready().await };
                    if known.as_ref() != Some(&state) {
                        self.report(restarts, &state).await;
                        known = Some(state);
                    }
                }
            }
        }
    }

    async fn end(&self, process: &Process) {
        process.terminate();
        let seconds = self.pod.metadata.deletion_grace_period_seconds.unwrap_or(GRACE_SECONDS);
        let grace = Duration::from_secs(seconds.try_into().unwrap_or_default());
        if process.wait_for_exit(grace).await.is_none() {
            process.kill();
            process.wait_for_exit(Duration::MAX).await;
        }
    }

    /// The program with its arguments, its environment, its folder and its way to the API server.
    async fn program(&self) -> Result<Program, String> {
        for folder in ["tmp", "data"] {
            fs::create_dir_all(self.folder.join(folder)).map_err(|error| error.to_string())?;
        }
        let mut environment = environment(&self.pod, &self.container).map_err(|error| error.to_string())?;
        let mut arguments = command(self.image.entrypoint, &self.container, &environment);
        // Only a server listens: a command in its image does not.
        if self.image.entrypoint.is_empty() || arguments.first().map(String::as_str) == Some("serve") {
            arguments.extend(self.image.overrides(self.address, &self.folder));
        }
        let kubeconfig = self.kubeconfig().await?;
        environment.insert("KUBECONFIG".to_owned(), kubeconfig.display().to_string());
        environment.insert("TMPDIR".to_owned(), self.folder.join("tmp").display().to_string());
        environment.insert("HOSTNAME".to_owned(), self.pod.name_any());
        Ok(Program {
            name: self.image.name.to_owned(),
            executable: self.image.executable.clone(),
            arguments,
            environment,
            folder: self.folder.clone(),
        })
    }

    /// A kubeconfig with the token of the pod's ServiceAccount, in the place of the files that a pod has.
    async fn kubeconfig(&self) -> Result<PathBuf, String> {
        let account = self.pod.spec.as_ref().and_then(|spec| spec.service_account_name.clone());
        let account = account.unwrap_or_else(|| "default".to_owned());
        let accounts: Api<ServiceAccount> = Api::namespaced(self.shared.client.clone(), &self.namespace());
        let mounts = |mount: Option<bool>| mount.unwrap_or(true);
        let mut user = json!({});
        let found = accounts.get(&account).await.map_err(|error| with_causes(&error))?;
        let own = self.pod.spec.as_ref().and_then(|spec| spec.automount_service_account_token);
        if mounts(own.or(found.automount_service_account_token)) {
            let answer =
                accounts.create_token_request(&account, &PostParams::default(), &self.token_request()).await;
            let token = answer.map_err(|error| with_causes(&error))?.status.map(|status| status.token);
            user = json!({"token": token});
        }
        let path = self.folder.join("kubeconfig");
        let written = write_kubeconfig(&self.shared.cluster, &path, &self.namespace(), &user);
        written.map_err(|error| with_causes(&error))?;
        Ok(path)
    }

    fn token_request(&self) -> TokenRequest {
        TokenRequest {
            spec: TokenRequestSpec {
                audiences: Vec::new(),
                bound_object_ref: Some(BoundObjectReference {
                    api_version: Some("v1".to_owned()),
                    kind: Some("Pod".to_owned()),
                    name: self.pod.metadata.name.clone(),
                    uid: self.pod.uid(),
                }),
                expiration_seconds: Some(TOKEN_SECONDS),
            },
            ..TokenRequest::default()
        }
    }

    /// Asks the readiness probe; a container without one is ready when it runs.
    async fn is_ready(&self) -> bool {
        let probe = self.container.readiness_probe.as_ref().and_then(|probe| probe.http_get.as_ref());
        let Some(probe) = probe else { return true };
        let port = match &probe.port {
            IntOrString::Int(port) => Some(*port),
            IntOrString::String(name) => self
                .container
                .ports
                .iter()
                .flatten()
                .find(|port| port.name.as_ref() == Some(name))
                .map(|port| port.container_port),
        };
        let Some(port) = port else { return false };
        let path = probe.path.as_deref().unwrap_or("/");
        let Ok(address) = format!("http://{}:{port}{path}", self.address).parse() else { return false };
        let answer = tokio::time::timeout(PROBE_INTERVAL, self.prober.get(address)).await;
        matches!(answer, Ok(Ok(answer)) if answer.status().is_success() || answer.status().is_redirection())
    }

    async fn report(&self, restarts: u32, state: &State) {
        let report =
            Report { container: &self.container, address: self.address, restarts, started: &self.started };
        let patch = Patch::Merge(report.of(state));
        // A pod that is gone needs no status, and a later report says the same again.
        let _ = self.pods().patch_status(&self.pod.name_any(), &PatchParams::default(), &patch).await;
    }

    /// Whether a program that ended with this code is started anew.
    fn is_restarted(&self, code: i32) -> bool {
        match self.pod.spec.as_ref().and_then(|spec| spec.restart_policy.as_deref()) {
            Some("Never") => false,
            Some("OnFailure") => code != 0,
            _ => true,
        }
    }

    fn namespace(&self) -> String {
        self.pod.namespace().unwrap_or_default()
    }

    fn pods(&self) -> Api<Pod> {
        let client: Client = self.shared.client.clone();
        Api::namespaced(client, &self.namespace())
    }
}

/// Waits until the pod is leaving.
async fn left(leaving: &mut watch::Receiver<bool>) {
    // An error is a sender that is gone: the agent has ended.
    let _ = leaving.wait_for(|leaving| *leaving).await;
}

/// Addresses of this process on loopback: two processes that run at once have different ones, unless their ids
/// are the same modulo 2^14.
fn next_address() -> IpAddr {
    static NUMBER: AtomicU8 = AtomicU8::new(1);

    let [high, low] = u16::try_from(std::process::id() & 0x3fff).unwrap_or_default().to_be_bytes();
    // 0 and 255 are left out, they may mean a network.
    let number = NUMBER.fetch_add(1, Ordering::Relaxed) % 254 + 1;
    Ipv4Addr::new(127, high + 64, low, number).into()
}

/// Writes the kubeconfig of a cluster for another user.
fn write_kubeconfig(cluster: &Path, path: &Path, namespace: &str, user: &Value) -> Result<(), DeriveError> {
    derive(cluster, path, |content| {
        for entry in entries(content, "users") {
            entry["user"] = user.clone();
        }
        for entry in entries(content, "contexts") {
            entry["context"]["namespace"] = json!(namespace);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pod_has_an_address_of_its_own() {
        let addresses: std::collections::BTreeSet<IpAddr> = (0..100).map(|_| next_address()).collect();
        assert_eq!(addresses.len(), 100);
        assert!(addresses.iter().all(IpAddr::is_loopback));
    }

    #[test]
    fn a_kubeconfig_keeps_the_server_and_its_authority() {
        let folder = tempfile::tempdir().unwrap();
        let (cluster, path) = (folder.path().join("cluster"), folder.path().join("pod"));
        let text = "clusters: [{name: bed, cluster: {server: 'https://127.0.0.1:1', certificate-authority-data: YQ==}}]
users: [{name: admin, user: {token: secret}}]
contexts: [{name: bed, context: {cluster: bed, user: admin}}]
current-context: bed";
        fs::write(&cluster, text).unwrap();
        write_kubeconfig(&cluster, &path, "flux-system", &json!({"token": "other"})).unwrap();
        let written: Value = serde_saphyr::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(written["clusters"][0]["cluster"]["server"], "https://127.0.0.1:1");
        assert_eq!(written["clusters"][0]["cluster"]["certificate-authority-data"], "YQ==");
        assert_eq!(written["users"][0]["user"], json!({"token": "other"}));
        assert_eq!(written["contexts"][0]["context"]["namespace"], "flux-system");
    }
}
