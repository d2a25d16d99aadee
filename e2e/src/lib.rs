//! The test bed: a real Kubernetes control plane of our own, and what tests need to work with it.
//!
//! A [`ControlPlane`] is etcd, kube-apiserver, kube-controller-manager and kube-scheduler on loopback, and
//! kwok, which plays one node and its pods. It starts in seconds, needs no root, and any number of them run
//! side by side. [`Operator`] runs the operator's binary against one, directly or through
//! [`proxy::FaultProxy`], which records what it does and breaks what a test wants broken.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let plane = e2e::ControlPlane::start("example").await?;
//! let client = plane.client().await?;
//! e2e::apply_yaml(&client, "{apiVersion: v1, kind: Namespace, metadata: {name: tenant}}").await?;
//! # Ok(()) }
//! ```
//!
//! Nothing outlives the process that started it: the kernel kills the programs, and a keeper removes the
//! files, also when a test panics or is killed.

pub mod command;
mod error;
mod external;
mod fleet;
mod git;
mod helm;
mod installation;
mod keys;
mod kubeconfig;
mod node;
mod objects;
mod operator;
mod parts;
mod plane;
mod pods;
mod port;
mod process;
mod programs;
pub mod proxy;
mod ready;
mod shared;
mod stages;
mod state;
mod wait;

pub use error::{BedError, LogTail};
pub use fleet::{Fleet, FleetError, IMAGE_REPOSITORY, SYNC_DEADLINE, fleet_files};
pub use git::{GitError, GitServer};
pub use helm::{Helm, HelmError};
pub use installation::{Installation, InstallationError, install_definitions, ready};
pub use node::{Cage, NODE_ADDRESS, Node, NodeError, NodeFiles};
pub use objects::{ObjectError, apply, apply_yaml};
pub use operator::{Operator, OperatorOptions, operator_binary};
pub use plane::{ControlPlane, PlaneOptions};
pub use pods::{Image, PodAgent};
pub use process::Process;
pub use programs::{Kubernetes, block_on, crane};
pub use shared::SharedPlane;
pub use wait::{WaitError, has_condition, wait_for, wait_for_any, wait_until_gone};
