//! What is wrong with the pods of a node.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use kube::{Api, Client, ResourceExt as _, api::ListParams};

use crate::LogTail;
use crate::error::with_causes;

/// Pods that are not ready, why, and the ends of their logs.
pub(super) async fn pods(client: &Client, logs: &Path) -> String {
    let pods = match Api::<Pod>::all(client.clone()).list(&ListParams::default()).await {
        Ok(pods) => pods,
        Err(error) => return format!("the pods cannot be listed: {}", with_causes(&error)),
    };
    let mut text = String::new();
    for pod in &pods.items {
        let status = pod.status.clone().unwrap_or_default();
        let containers = status.container_statuses.unwrap_or_default();
        let name = format!("{}/{}", pod.namespace().unwrap_or_default(), pod.name_any());
        let phase = status.phase.unwrap_or_default();
        let described: Vec<_> = containers.iter().map(describe).collect();
        let _ = writeln!(text, "pod {name}: {phase}; {}", described.join(", "));
        if containers.is_empty() || containers.iter().any(|container| !container.ready) {
            for log in log_files(pod, logs) {
                let _ = writeln!(text, "  {}", LogTail::of(&log));
            }
        }
    }
    text
}

fn describe(container: &ContainerStatus) -> String {
    let name = &container.name;
    let restarts = container.restart_count;
    let state = container.state.clone().unwrap_or_default();
    let what = if let Some(waiting) = state.waiting {
        let reason = waiting.reason.unwrap_or_default();
        format!("waits ({reason}: {})", waiting.message.unwrap_or_default())
    } else if let Some(terminated) = state.terminated {
        format!("ended with {}", terminated.exit_code)
    } else if container.ready {
        "is ready".to_owned()
    } else {
        "runs, and is not ready".to_owned()
    };
    format!("{name} {what}, {restarts} restarts")
}

/// kubelet keeps them in `NAMESPACE_NAME_UID/CONTAINER/NUMBER.log`.
fn log_files(pod: &Pod, logs: &Path) -> Vec<PathBuf> {
    let namespace = pod.namespace().unwrap_or_default();
    let folder = logs.join(format!("{namespace}_{}_{}", pod.name_any(), pod.uid().unwrap_or_default()));
    let entries = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    entries(&folder).iter().flat_map(|container| entries(container)).collect()
}
