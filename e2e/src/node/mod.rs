//! A real node beside a control plane: kubelet, containerd, kube-proxy and CoreDNS, in namespaces of their own.

mod cage;
mod error;
mod files;
mod network;
mod parts;
mod report;

use std::path::PathBuf;
use std::time::{Duration, Instant as Clock};

use futures::FutureExt as _;
use k8s_openapi::api::core::v1;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::{Api, Client};
use tokio::process::Command;
use tokio::time::Instant;

pub use cage::Cage;
pub use error::NodeError;
pub use files::NodeFiles;
pub use network::NODE_ADDRESS;

use crate::parts::{Folders, KUBECONFIG};
use crate::plane::client_of;
use crate::process::Program;
use crate::ready::{Start, is_ready};
use crate::state::StateFolder;
use crate::{Process, keys};

/// The name of the node.
const NODE: &str = "node-0";
/// The port of the API server; the network is ours alone.
const API_PORT: u16 = 6443;
/// All of a start takes 10 s on idle cores.
const READY_WITHIN: Duration = Duration::from_mins(3);
/// One archive of images is read from disk and unpacked in 2 s.
const IMPORT_DEADLINE: Duration = Duration::from_mins(2);

/// A running node with its control plane, inside a [`Cage`].
///
/// Its pods are real: they have networks, services, DNS and probes. Dropped, its programs end; pods end with the
/// cage.
#[derive(Debug)]
pub struct Node {
    programs: Vec<Process>,
    files: NodeFiles,
    state: StateFolder,
    agents: usize,
}

impl Node {
    /// Starts a node and waits until it takes pods.
    ///
    /// # Errors
    /// [`NodeError`] names the program that did not get ready, with the end of its log.
    pub async fn start(files: NodeFiles) -> Result<Self, NodeError> {
        network::make().await?;
        let state = StateFolder::borrowed(&files.state);
        keys::write(&state, API_PORT)?;
        parts::write_settings(&state, &files.plugins)?;
        let mut node = Self { programs: Vec::new(), files, state, agents: 0 };
        node.start_control_plane().await?;
        node.start_runtime().await?;
        node.start_agents().await?;
        Ok(node)
    }

    /// The administrator's kubeconfig.
    #[must_use]
    pub fn kubeconfig(&self) -> PathBuf {
        self.state.path().join(KUBECONFIG)
    }

    /// A client with all rights.
    ///
    /// # Errors
    /// [`NodeError`] if the kubeconfig cannot be used.
    pub async fn client(&self) -> Result<Client, NodeError> {
        Ok(client_of(&self.kubeconfig()).await?)
    }

    /// Kills kubelet, as if it had crashed, starts another one, and gives the time until the node is ready
    /// for it.
    ///
    /// # Errors
    /// [`NodeError`] if it does not get ready again.
    pub async fn restart_agent(&mut self) -> Result<Duration, NodeError> {
        let began = Clock::now();
        let position = self.programs.iter().position(|program| program.name().starts_with(parts::AGENT));
        if let Some(position) = position {
            let agent = self.programs.remove(position);
            let before = self.heartbeat().await?;
            drop(agent);
            let name = self.start_agent()?;
            self.wait_for_node(&name, "a newer heartbeat of Node node-0", |node| heartbeat_of(node) > before)
                .await?;
        }
        Ok(began.elapsed())
    }

    /// What went wrong on the node, for people: pods that are not ready, with the end of their logs.
    pub async fn report(&self) -> String {
        match self.client().await {
            Ok(client) => report::pods(&client, &self.state.path().join(parts::POD_LOGS)).await,
            Err(error) => error.to_string(),
        }
    }

    async fn start_control_plane(&mut self) -> Result<(), NodeError> {
        let state = self.state.path().to_owned();
        let control_plane = self.files.control_plane.clone();
        let folders = Folders { programs: &control_plane, state: &state };
        self.run(crate::parts::etcd(folders))?;
        self.run(parts::api_server(folders, API_PORT))?;
        let client = self.client().await?;
        waiting().api_server(&self.programs, &client).await?;
        self.run(parts::controller_manager(folders))?;
        self.run(crate::parts::scheduler(folders, parts::SCHEDULER_PORT))?;
        Ok(waiting().controller_manager(&self.programs, &client).await?)
    }

    async fn start_runtime(&mut self) -> Result<(), NodeError> {
        self.run(parts::containerd(self.state.path()))?;
        let probe = || {
            let version = self.control_runtime(&["version"]).output();
            version.map(|output| match output {
                Ok(output) if output.status.success() => Ok(()),
                Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
                Err(error) => Err(error.to_string()),
            })
        };
        waiting().until(&self.programs, parts::RUNTIME, "its version", probe).await?;
        for archive in error::listed(&self.files.images)? {
            let archive = archive.to_string_lossy();
            let arguments = ["--namespace", "k8s.io", "images", "import", &archive];
            error::run(self.control_runtime(&arguments), IMPORT_DEADLINE).await?;
        }
        Ok(())
    }

    async fn start_agents(&mut self) -> Result<(), NodeError> {
        let agent = self.start_agent()?;
        let (state, programs) = (self.state.path().to_owned(), self.files.programs.clone());
        let folders = Folders { programs: &programs, state: &state };
        self.run(parts::proxy(folders))?;
        self.run(parts::names(folders))?;
        self.wait_for_node(&agent, "condition Ready of Node node-0", is_ready).await
    }

    /// Starts kubelet, and gives what its log is called: each has its own.
    fn start_agent(&mut self) -> Result<String, NodeError> {
        self.agents += 1;
        let name = format!("{}-{}", parts::AGENT, self.agents);
        let folders = Folders { programs: &self.files.programs, state: self.state.path() };
        let program = parts::agent(folders, name.clone());
        self.run(program)?;
        Ok(name)
    }

    async fn wait_for_node(
        &self,
        agent: &str,
        waiting_for: &str,
        expected: impl Fn(&v1::Node) -> bool,
    ) -> Result<(), NodeError> {
        let nodes = Api::<v1::Node>::all(self.client().await?);
        let probe = || {
            nodes.get(NODE).map(|reply| match reply {
                Ok(node) if expected(&node) => Ok(()),
                Ok(_) => Err("the node is there".to_owned()),
                Err(error) => Err(crate::error::with_causes(&error)),
            })
        };
        Ok(waiting().until(&self.programs, agent, waiting_for, probe).await?)
    }

    async fn heartbeat(&self) -> Result<Option<Time>, NodeError> {
        let node = Api::<v1::Node>::all(self.client().await?).get(NODE).await;
        let node = node.map_err(|source| NodeError::Request {
            step: format!("read Node {NODE}"),
            source: Box::new(source),
        })?;
        Ok(heartbeat_of(&node))
    }

    fn control_runtime(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("ctr");
        command.arg("--address").arg(parts::runtime_socket(self.state.path())).args(arguments);
        command.kill_on_drop(true);
        command
    }

    fn run(&mut self, program: Program) -> Result<(), NodeError> {
        self.programs.push(Process::start(program)?);
        Ok(())
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.programs.iter().for_each(Process::kill);
    }
}

fn waiting() -> Start<'static> {
    Start { plane: NODE, began: Instant::now(), within: READY_WITHIN }
}

/// When kubelet last said that the node is ready; nothing if it does not say so.
fn heartbeat_of(node: &v1::Node) -> Option<Time> {
    let conditions = node.status.as_ref()?.conditions.as_ref()?;
    let ready = conditions.iter().find(|condition| condition.type_ == "Ready" && condition.status == "True");
    ready?.last_heartbeat_time.clone()
}
