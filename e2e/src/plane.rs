//! A control plane: ours, or a cluster that somebody lends.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use kube::Client;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use tokio::time::Instant;

use crate::command::{isolated, run};
use crate::external::{self, Lease};
use crate::parts::{self, Folders};
use crate::port::ReservedPort;
use crate::ready::Start;
use crate::stages::stages;
use crate::state::StateFolder;
use crate::{BedError, Kubernetes, Process, keys, programs};

/// A start takes 4 s on idle cores; several at once on busy ones take many times that.
const READY_WITHIN: Duration = Duration::from_secs(90);
/// One kubectl command that tests run, waits included.
const KUBECTL_DEADLINE: Duration = Duration::from_mins(2);

/// A running control plane, or a cluster that `E2E_KUBECONFIG` names.
///
/// Dropped, a control plane of ours ends at once, and its files are removed.
#[derive(Debug)]
pub struct ControlPlane {
    // Dropped in this order: programs, ports, files.
    parts: Vec<Process>,
    ports: Vec<ReservedPort>,
    lease: Option<Lease>,
    kubeconfig: PathBuf,
    state: StateFolder,
    name: String,
}

/// How to start a control plane.
#[derive(Debug, Clone)]
pub struct PlaneOptions {
    /// What messages call it.
    pub name: String,
    /// An empty or absent folder for its files; a temporary one by default.
    pub state: Option<PathBuf>,
    /// The folder of `control-plane` and `kwok`; built by default.
    pub programs: Option<PathBuf>,
    /// The version to build; 1.36 by default.
    pub kubernetes: Kubernetes,
    /// How long the start may take once the programs are built; 90 s by default.
    pub ready_within: Duration,
    /// The images whose pods a [`PodAgent`](crate::PodAgent) runs; kwok plays the others.
    pub real_images: Vec<&'static str>,
}

impl Default for PlaneOptions {
    fn default() -> Self {
        Self {
            name: "bed".to_owned(),
            state: None,
            programs: None,
            kubernetes: Kubernetes::default(),
            ready_within: READY_WITHIN,
            real_images: Vec::new(),
        }
    }
}

impl ControlPlane {
    /// Starts a control plane of the version that `E2E_KUBERNETES` names, or uses the cluster that
    /// `E2E_KUBECONFIG` names.
    ///
    /// The first start of all builds the programs, which takes minutes and says so.
    ///
    /// # Errors
    /// [`BedError`] names the part that did not get ready, with the end of its log, or why the cluster was
    /// refused.
    pub async fn start(name: &str) -> Result<Self, BedError> {
        if let Some(kubeconfig) = external::kubeconfig() {
            return Self::connect(name, &kubeconfig).await;
        }
        let kubernetes = Kubernetes::from_environment()?;
        Self::start_own(PlaneOptions { name: name.to_owned(), kubernetes, ..PlaneOptions::default() }).await
    }

    /// Starts a control plane, whatever the environment says.
    ///
    /// # Errors
    /// [`BedError`] names the part that did not get ready, with the end of its log.
    pub async fn start_own(options: PlaneOptions) -> Result<Self, BedError> {
        let PlaneOptions { name, state, programs, kubernetes, ready_within, real_images } = options;
        let programs = match programs {
            Some(folder) => folder,
            None => programs::build(kubernetes).await?,
        };
        let state = match state {
            Some(path) => StateFolder::at(&path)?,
            None => StateFolder::temporary(&name)?,
        };
        state.write(parts::STAGES, &stages(&real_images)?)?;
        let ports = vec![ReservedPort::new()?, ReservedPort::new()?];
        let kubeconfig = state.path().join(parts::KUBECONFIG);
        let mut plane = Self { parts: Vec::new(), ports, lease: None, kubeconfig, state, name };
        plane.start_parts(&programs, ready_within).await?;
        Ok(plane)
    }

    /// Uses another cluster, until this is dropped; a second call for it waits that long.
    ///
    /// # Errors
    /// [`BedError::Occupied`] if the cluster holds Flux or our definitions, [`BedError::Busy`] if another
    /// test does not let go of it.
    pub async fn connect(name: &str, kubeconfig: &Path) -> Result<Self, BedError> {
        let lease = Lease::acquire(kubeconfig).await?;
        let client = client_of(kubeconfig).await?;
        external::refuse_occupied(kubeconfig, client).await?;
        Ok(Self {
            parts: Vec::new(),
            ports: Vec::new(),
            lease: Some(lease),
            kubeconfig: kubeconfig.to_owned(),
            state: StateFolder::temporary(name)?,
            name: name.to_owned(),
        })
    }

    /// What messages call it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is a cluster that somebody lends: there, tests may only touch what they made.
    #[must_use]
    pub fn is_external(&self) -> bool {
        self.lease.is_some()
    }

    /// The administrator's kubeconfig.
    #[must_use]
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// The folder for logs and other files of this test.
    #[must_use]
    pub fn state(&self) -> &Path {
        self.state.path()
    }

    /// The ports on loopback that are its own; none of an external cluster.
    #[must_use]
    pub fn ports(&self) -> Vec<u16> {
        self.ports.iter().map(ReservedPort::number).collect()
    }

    /// Its programs, in the order of their start; none of an external cluster.
    #[must_use]
    pub fn parts(&self) -> &[Process] {
        &self.parts
    }

    /// A client with all rights, bound to the current runtime: every test makes its own. It does not repeat
    /// failed requests.
    ///
    /// # Errors
    /// [`BedError`] if the kubeconfig cannot be read or used.
    pub async fn client(&self) -> Result<Client, BedError> {
        client_of(&self.kubeconfig).await
    }

    /// Runs `kubectl`, which has to be installed, as the administrator. For what users do with it; everything
    /// else is easier with [`ControlPlane::client`].
    ///
    /// # Errors
    /// [`BedError`] if it cannot be run or takes longer than 2 minutes. How it ended is for the caller to
    /// look at.
    pub async fn kubectl(&self, arguments: &[&str], input: &str) -> Result<Output, BedError> {
        let mut command = isolated("kubectl");
        command.args(arguments).env("KUBECONFIG", &self.kubeconfig);
        let output = run(&mut command, input.as_bytes(), KUBECTL_DEADLINE).await;
        output.map_err(|source| BedError::Run {
            program: format!("kubectl {}", arguments.join(" ")).into(),
            source,
        })
    }

    async fn start_parts(&mut self, programs: &Path, within: Duration) -> Result<(), BedError> {
        let [api_port, scheduler_port] = self.ports()[..] else { return Ok(()) };
        keys::write(&self.state, api_port)?;
        let state = self.state.path().to_owned();
        let folders = Folders { programs, state: &state };
        let name = self.name.clone();
        let start = Start { plane: &name, began: Instant::now(), within };

        self.parts.push(Process::start(parts::etcd(folders))?);
        self.parts.push(Process::start(parts::api_server(folders, api_port))?);
        let client = self.client().await?;
        start.api_server(&self.parts, &client).await?;

        self.parts.push(Process::start(parts::controller_manager(folders))?);
        self.parts.push(Process::start(parts::scheduler(folders, scheduler_port))?);
        self.parts.push(Process::start(parts::kwok(folders))?);
        start.kwok(&self.parts, &client).await?;
        start.scheduler(&self.parts, scheduler_port).await?;
        start.controller_manager(&self.parts, &client).await
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        // All at once: one after the other, each would see the loss of the one before.
        self.parts.iter().for_each(Process::kill);
    }
}

pub(crate) async fn client_of(kubeconfig: &Path) -> Result<Client, BedError> {
    let unreadable = |source| BedError::Kubeconfig { path: kubeconfig.to_owned(), source: Box::new(source) };
    let content = Kubeconfig::read_from(kubeconfig).map_err(unreadable)?;
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(content, &options).await.map_err(unreadable)?;
    config.default_retry = false;
    Client::try_from(config)
        .map_err(|source| BedError::Request { step: "make a client".to_owned(), source: Box::new(source) })
}
