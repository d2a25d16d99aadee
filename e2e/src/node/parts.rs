//! The programs of a node: which, with which flags and settings.

use std::path::{Path, PathBuf};

use super::{NODE, NODE_ADDRESS, NodeError};
use crate::parts::{Folders, KUBECONFIG, api_server_with, controller_manager_with};
use crate::process::Program;
use crate::state::StateFolder;

pub(super) const RUNTIME: &str = "containerd";
pub(super) const AGENT: &str = "kubelet";
/// The folder of the pods' logs.
pub(super) const POD_LOGS: &str = "pod-logs";
pub(super) const SCHEDULER_PORT: u16 = 10259;
const RUNTIME_SETTINGS: &str = "containerd.toml";
const AGENT_SETTINGS: &str = "kubelet.yaml";
const PROXY_SETTINGS: &str = "kube-proxy.yaml";
const NAME_SETTINGS: &str = "Corefile";
/// Every file of settings, with names in place of what is known when a node starts.
const SETTINGS: [(&str, &str); 5] = [
    (RUNTIME_SETTINGS, include_str!("../../node/settings/containerd.toml")),
    ("10-pods.conflist", include_str!("../../node/settings/pods.conflist")),
    (AGENT_SETTINGS, include_str!("../../node/settings/kubelet.yaml")),
    (PROXY_SETTINGS, include_str!("../../node/settings/kube-proxy.yaml")),
    (NAME_SETTINGS, include_str!("../../node/settings/Corefile")),
];

pub(super) fn api_server(folders: Folders<'_>, port: u16) -> Program {
    let address = NODE_ADDRESS.to_string();
    api_server_with(folders, port, &["--bind-address", "0.0.0.0", "--advertise-address", &address])
}

pub(super) fn controller_manager(folders: Folders<'_>) -> Program {
    controller_manager_with(folders, &[])
}

pub(super) fn containerd(state: &Path) -> Program {
    Program {
        name: RUNTIME.to_owned(),
        executable: RUNTIME.into(),
        arguments: ["--config", RUNTIME_SETTINGS].map(str::to_owned).to_vec(),
        folder: state.to_owned(),
        ..Program::default()
    }
}

/// kubelet, under a name of its own because it has a log of its own.
pub(super) fn agent(folders: Folders<'_>, name: String) -> Program {
    let address = NODE_ADDRESS.to_string();
    let root = folders.state.join("kubelet");
    #[rustfmt::skip]
    let flags = [
        "--config", AGENT_SETTINGS, "--kubeconfig", KUBECONFIG,
        "--root-dir", &root.to_string_lossy(), "--cert-dir", "kubelet-certificates",
        "--hostname-override", NODE, "--node-ip", &address,
    ];
    Program { name, ..program(folders, "kubelet", &flags) }
}

pub(super) fn proxy(folders: Folders<'_>) -> Program {
    program(folders, "kube-proxy", &["--config", PROXY_SETTINGS])
}

/// CoreDNS, which tells pods the addresses of services.
pub(super) fn names(folders: Folders<'_>) -> Program {
    program(folders, "coredns", &["-conf", NAME_SETTINGS])
}

/// The socket of containerd.
pub(super) fn runtime_socket(state: &Path) -> PathBuf {
    state.join("containerd.sock")
}

/// Writes what the programs read. `plugins` is where those are that make networks of pods.
pub(super) fn write_settings(state: &StateFolder, plugins: &Path) -> Result<(), NodeError> {
    for (name, template) in SETTINGS {
        let content = template
            .replace("@STATE@", &state.path().to_string_lossy())
            .replace("@PLUGINS@", &plugins.to_string_lossy())
            .replace("@ADDRESS@", &NODE_ADDRESS.to_string())
            .replace("@CGROUP@", &super::cage::control_group(state.path()));
        state.write(name, &content)?;
    }
    Ok(())
}

fn program(folders: Folders<'_>, name: &str, flags: &[&str]) -> Program {
    Program {
        name: name.to_owned(),
        executable: folders.programs.join(name),
        arguments: flags.iter().map(ToString::to_string).collect(),
        folder: folders.state.to_owned(),
        ..Program::default()
    }
}
