//! Pods that run for real on the simulated bed: the agent of a node, without containers.
//!
//! A pod of an [`Image`] that the agent has is started as a process of this machine: with the command, the
//! arguments and the environment of its container, and with the token of its ServiceAccount, so that a wrong
//! flag or a missing right shows. Its readiness probe is asked, it is started anew when it ends, and it is
//! asked to end, and waited for, before its pod goes. All other pods are kwok's.
//!
//! What differs from a cluster: each pod has an address of its own, but on loopback, so services lead nowhere;
//! volumes are one folder for each pod, and limits of processor and memory hold nobody back.

mod container;
mod image;
mod status;
mod worker;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Event};
use kube::{Api, Client, ResourceExt as _};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

use crate::{BedError, ControlPlane, LogTail};
use worker::Worker;

pub use image::Image;

/// Between two looks at a log.
const LOG_INTERVAL: Duration = Duration::from_millis(50);

/// Runs the pods of some images. Dropped, it and all that it runs end at once.
#[derive(Debug)]
pub struct PodAgent {
    task: AbortHandle,
    folder: PathBuf,
}

impl PodAgent {
    /// Starts to run the pods of these images, on the current runtime.
    ///
    /// The control plane has to be started with the same images as
    /// [`PlaneOptions::real_images`](crate::PlaneOptions::real_images), or kwok says that they run, too.
    ///
    /// # Errors
    /// [`BedError`] if the cluster cannot be reached.
    pub async fn start(plane: &ControlPlane, images: Vec<Image>) -> Result<Self, BedError> {
        let folder = plane.state().join("pods");
        let client = plane.client().await?;
        let shared = Shared {
            client: client.clone(),
            images,
            folder: folder.clone(),
            cluster: plane.kubeconfig().to_owned(),
        };
        let task = tokio::spawn(run(client, Arc::new(shared))).abort_handle();
        Ok(Self { task, folder })
    }

    /// The folder with one folder for each pod, `NAMESPACE_NAME`: its log, and what it wrote.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Waits until a pod whose name begins like this has logged a text.
    ///
    /// # Errors
    /// What they logged instead.
    pub async fn wait_for_log(&self, pod: &str, text: &str, within: Duration) -> Result<(), String> {
        let search = async {
            loop {
                let mut contents = self.logs(pod).into_iter().filter_map(|log| fs::read_to_string(log).ok());
                if contents.any(|content| content.contains(text)) {
                    return;
                }
                tokio::time::sleep(LOG_INTERVAL).await;
            }
        };
        let found = tokio::time::timeout(within, search).await;
        found.map_err(|_| format!("no {text:?} in the log of {pod}: {}", self.log_tails(pod)))
    }

    /// The last lines of the logs of all pods whose name begins like this, for messages.
    #[must_use]
    pub fn log_tails(&self, pod: &str) -> String {
        let tails = self.logs(pod).into_iter().map(|log| LogTail::of(&log).to_string());
        tails.collect::<Vec<_>>().join("\n")
    }

    fn logs(&self, pod: &str) -> Vec<PathBuf> {
        let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
        let is_of_pod = |folder: &fs::DirEntry| {
            let name = folder.file_name().to_string_lossy().into_owned();
            name.split_once('_').is_some_and(|(_, name)| name.starts_with(pod))
        };
        let files = entries(&self.folder).filter(is_of_pod).flat_map(|folder| entries(&folder.path()));
        let is_log = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "log");
        files.map(|file| file.path()).filter(is_log).collect()
    }
}

impl Drop for PodAgent {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What all pods need.
struct Shared {
    client: Client,
    images: Vec<Image>,
    folder: PathBuf,
    /// The administrator's kubeconfig, for the address and the authority of the API server.
    cluster: PathBuf,
}

/// A pod that runs.
struct Running {
    leaving: watch::Sender<bool>,
    task: AbortHandle,
}

async fn run(client: Client, shared: Arc<Shared>) {
    let pods: Api<Pod> = Api::all(client);
    let mut events = Box::pin(watcher::watcher(pods, watcher::Config::default()).default_backoff());
    let mut crew = Crew { shared, running: HashMap::new(), listed: HashSet::new(), workers: JoinSet::new() };
    loop {
        tokio::select! {
            event = events.next() => match event {
                Some(Ok(event)) => crew.note(event),
                Some(Err(_)) => {}
                None => return,
            },
            Some(_) = crew.workers.join_next() => {}
        }
    }
}

/// The pods that run. Dropped, it ends all workers, and they their processes.
struct Crew {
    shared: Arc<Shared>,
    running: HashMap<String, Running>,
    /// What the list shows that is being read.
    listed: HashSet<String>,
    workers: JoinSet<()>,
}

impl Crew {
    fn note(&mut self, event: Event<Pod>) {
        match event {
            Event::Init => self.listed.clear(),
            Event::InitApply(pod) => {
                self.listed.insert(pod.uid().unwrap_or_default());
                self.attend(&pod);
            }
            // What went while nobody watched is in no list.
            Event::InitDone => {
                let gone: Vec<String> =
                    self.running.keys().filter(|uid| !self.listed.contains(*uid)).cloned().collect();
                for uid in &gone {
                    self.dismiss(uid);
                }
            }
            Event::Apply(pod) => self.attend(&pod),
            Event::Delete(pod) => self.dismiss(&pod.uid().unwrap_or_default()),
        }
    }

    fn attend(&mut self, pod: &Pod) {
        let uid = pod.uid().unwrap_or_default();
        let is_leaving = pod.metadata.deletion_timestamp.is_some();
        if let Some(known) = self.running.get(&uid) {
            known.leaving.send_if_modified(|leaving| std::mem::replace(leaving, is_leaving) != is_leaving);
        } else if let Some(worker) = Worker::of(&self.shared, pod) {
            let (leaving, left) = watch::channel(is_leaving);
            let task = self.workers.spawn(worker.work(left));
            self.running.insert(uid, Running { leaving, task });
        }
    }

    fn dismiss(&mut self, uid: &str) {
        if let Some(gone) = self.running.remove(uid) {
            gone.task.abort();
        }
    }
}
