//! A cluster as its users make it: both charts by Helm, real controllers, and a repository that they follow.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kube::Client;

use crate::{
    BedError, ControlPlane, GitError, GitServer, Helm, HelmError, Image, Kubernetes, PlaneOptions, PodAgent,
};

/// The image that the charts are told; the bed runs the binary of this build in its place.
pub const IMAGE_REPOSITORY: &str = "registry.example.com/flux-operator";
/// The repository of the example, as the Git server calls it.
const REPOSITORY: &str = "fleet";
const BRANCH: &str = "main";
/// How long Helm waits for what it installs. Controllers are ready in seconds on an idle machine.
const TIMEOUT: &str = "3m";
/// How long an application of the repository may take, once Flux is ready.
pub const SYNC_DEADLINE: Duration = Duration::from_mins(2);

/// Such a cluster. Nothing is installed at first.
pub struct Fleet {
    /// Connection of an administrator.
    pub client: Client,
    /// Runs the pods of the operator, and of source-, kustomize- and helm-controller.
    pub agent: PodAgent,
    /// Serves the repository.
    pub git: GitServer,
    /// The control plane.
    pub plane: ControlPlane,
    helm: Helm,
}

/// A part of it that could not be had.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum FleetError {
    #[error(transparent)]
    Bed(#[from] BedError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Helm(#[from] HelmError),
    #[error("failed to read {path}")]
    Read { path: PathBuf, source: io::Error },
}

impl Fleet {
    /// Starts the control plane, what runs pods, and a Git server with the repository of `examples/two-clusters`.
    ///
    /// # Errors
    /// When a part does not start.
    pub async fn start(name: &str) -> Result<Self, FleetError> {
        let mut images = Image::flux_controllers().await?;
        images.push(Image::operator()?);
        let options = PlaneOptions {
            name: name.to_owned(),
            kubernetes: Kubernetes::from_environment()?,
            real_images: images.iter().map(Image::name).collect(),
            ..PlaneOptions::default()
        };
        let helm = Helm::get().await?;
        let plane = ControlPlane::start_own(options).await?;
        let agent = PodAgent::start(&plane, images).await?;
        let git = GitServer::start().await?;
        let fleet = Self { client: plane.client().await?, agent, git, plane, helm };
        fleet.commit(&fleet_files()?).await?;
        Ok(fleet)
    }

    /// Makes a commit with these files to the branch that clusters follow, and gives its hash.
    ///
    /// # Errors
    /// When git refuses.
    pub async fn commit(&self, files: &BTreeMap<String, String>) -> Result<String, GitError> {
        self.git.commit(REPOSITORY, BRANCH, files).await
    }

    /// Helm, for scripts.
    #[must_use]
    pub fn helm_itself(&self) -> &Helm {
        &self.helm
    }

    /// Installs or upgrades the chart of the operator, and waits for its pod.
    ///
    /// # Errors
    /// [`HelmError`] with what Helm said.
    pub async fn install_operator(&self, options: &[&str]) -> Result<String, HelmError> {
        let chart = charts().join("flux-operator");
        let image = format!("image.repository={IMAGE_REPOSITORY}");
        let fixed = ["upgrade", "--install", "flux-operator", &chart.to_string_lossy(), "--set", &image];
        self.helm(&[&fixed[..], options].concat(), "").await
    }

    /// Installs or upgrades the chart of the instance with the values of `examples/two-clusters`, and waits for
    /// its health check: until Flux is ready.
    ///
    /// # Errors
    /// [`HelmError`] with what Helm said.
    pub async fn install_instance(&self, options: &[&str]) -> Result<String, FleetError> {
        let chart = charts().join("flux-instance");
        let values = read(&example().join("values.yaml"))?;
        let url = format!("instance.sync.url={}", self.git.url(REPOSITORY));
        let image = format!("healthcheck.image.repository={IMAGE_REPOSITORY}");
        let chart = chart.to_string_lossy();
        #[rustfmt::skip]
        let fixed = [
            "upgrade", "--install", "flux", &chart, "--values", "-",
            "--set", &url, "--set", "healthcheck.enabled=true", "--set", &image,
        ];
        Ok(self.helm(&[&fixed[..], options].concat(), &values).await?)
    }

    /// Uninstalls a release, and waits until its objects are gone.
    ///
    /// # Errors
    /// [`HelmError`] with what Helm said.
    pub async fn uninstall(&self, release: &str) -> Result<String, HelmError> {
        self.helm(&["uninstall", release], "").await
    }

    /// Runs Helm in the namespace of Flux, and waits for what it does.
    ///
    /// # Errors
    /// [`HelmError`] with what Helm said.
    pub async fn helm(&self, arguments: &[&str], input: &str) -> Result<String, HelmError> {
        let mut all = arguments.to_vec();
        all.extend(["--namespace", crds::DEFAULT_NAMESPACE, "--timeout", TIMEOUT]);
        if !arguments.iter().any(|argument| argument.starts_with("--wait")) {
            all.push("--wait");
        }
        if arguments.first() != Some(&"uninstall") {
            all.push("--create-namespace");
        }
        self.helm.run(self.plane.kubeconfig(), &all, input).await
    }
}

/// The files of the repository of the example: path and content.
///
/// # Errors
/// When one cannot be read.
pub fn fleet_files() -> Result<BTreeMap<String, String>, FleetError> {
    let root = example().join("fleet");
    let mut files = BTreeMap::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        let failed = |source| FleetError::Read { path: folder.clone(), source };
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().into_owned();
                files.insert(name, read(&path)?);
            }
        }
    }
    Ok(files)
}

fn read(path: &Path) -> Result<String, FleetError> {
    fs::read_to_string(path).map_err(|source| FleetError::Read { path: path.to_owned(), source })
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn charts() -> PathBuf {
    root().join("charts")
}

fn example() -> PathBuf {
    root().join("examples/two-clusters")
}
