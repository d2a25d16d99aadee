//! The parts of a control plane: which program, with which flags.

use std::path::Path;

use crate::process::Program;

/// The socket of etcd, in the state folder. etcd wants `host:port`, and the name of the file is just that.
const ETCD: &str = "unix://etcd-client:1";
/// The socket for other members of etcd, of which there are none.
const ETCD_PEERS: &str = "unix://etcd-peers:1";
/// Requests a second and at once. The defaults (20 and 30) are for big clusters, and make the controllers
/// start 4 s later.
const REQUESTS: [&str; 4] = ["--kube-api-qps", "1000", "--kube-api-burst", "2000"];

pub(crate) const KUBECONFIG: &str = "kubeconfig";
pub(crate) const TOKENS: &str = "tokens.csv";
pub(crate) const AUTHORITY: &str = "authority.crt";
pub(crate) const CERTIFICATE: &str = "apiserver.crt";
pub(crate) const CERTIFICATE_KEY: &str = "apiserver.key";
pub(crate) const ACCOUNT_KEY: &str = "service-account.key";
pub(crate) const ACCOUNT_PUBLIC_KEY: &str = "service-account.pub";
pub(crate) const STAGES: &str = "stages.yaml";

/// Where the programs are and where they work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Folders<'a> {
    /// Holds `control-plane` and `kwok`.
    pub(crate) programs: &'a Path,
    /// The working directory of all parts: every file name is relative to it.
    pub(crate) state: &'a Path,
}

pub(crate) fn etcd(folders: Folders<'_>) -> Program {
    let members = format!("default={ETCD_PEERS}");
    #[rustfmt::skip]
    let flags = [
        "--data-dir", "etcd",
        // The state is thrown away anyway.
        "--unsafe-no-fsync",
        "--listen-client-urls", ETCD, "--advertise-client-urls", ETCD,
        "--listen-peer-urls", ETCD_PEERS, "--initial-advertise-peer-urls", ETCD_PEERS,
        "--initial-cluster", &members,
    ];
    control_plane(folders, "etcd", &flags)
}

pub(crate) fn api_server(folders: Folders<'_>, port: u16) -> Program {
    #[rustfmt::skip]
    let own = [
        "--bind-address", "127.0.0.1", "--permit-port-sharing",
        // A new node gets a taint that its agent lifts, and a simulated node has none.
        "--disable-admission-plugins=TaintNodesByCondition",
    ];
    api_server_with(folders, port, &own)
}

/// An API server with flags of whoever starts it.
pub(crate) fn api_server_with(folders: Folders<'_>, port: u16, own: &[&str]) -> Program {
    let port = port.to_string();
    #[rustfmt::skip]
    let mut flags = vec![
        "--etcd-servers", ETCD,
        "--secure-port", &port,
        "--tls-cert-file", CERTIFICATE, "--tls-private-key-file", CERTIFICATE_KEY,
        "--token-auth-file", TOKENS,
        "--service-account-issuer", "https://kubernetes.default.svc",
        "--service-account-key-file", ACCOUNT_PUBLIC_KEY, "--service-account-signing-key-file", ACCOUNT_KEY,
        "--service-cluster-ip-range", "10.96.0.0/16",
        "--authorization-mode", "Node,RBAC",
        "--allow-privileged=true",
    ];
    flags.extend(own);
    control_plane(folders, "kube-apiserver", &flags)
}

pub(crate) fn controller_manager(folders: Folders<'_>) -> Program {
    // It would declare a node lost whose heartbeats nobody sends.
    controller_manager_with(folders, &["--controllers=*,-nodelifecycle"])
}

/// A controller manager with flags of whoever starts it.
pub(crate) fn controller_manager_with(folders: Folders<'_>, own: &[&str]) -> Program {
    #[rustfmt::skip]
    let mut flags = vec![
        "--kubeconfig", KUBECONFIG,
        "--leader-elect=false",
        "--service-account-private-key-file", ACCOUNT_KEY,
        "--root-ca-file", AUTHORITY,
        "--use-service-account-credentials",
        "--secure-port", "0",
    ];
    flags.extend(REQUESTS);
    flags.extend(own);
    control_plane(folders, "kube-controller-manager", &flags)
}

pub(crate) fn scheduler(folders: Folders<'_>, port: u16) -> Program {
    let port = port.to_string();
    #[rustfmt::skip]
    let mut flags = vec![
        "--kubeconfig", KUBECONFIG,
        "--leader-elect=false",
        "--bind-address", "127.0.0.1", "--secure-port", &port, "--permit-port-sharing",
    ];
    flags.extend(REQUESTS);
    control_plane(folders, "kube-scheduler", &flags)
}

pub(crate) fn kwok(folders: Folders<'_>) -> Program {
    let flags = ["--kubeconfig", KUBECONFIG, "--manage-all-nodes", "--config", STAGES];
    Program {
        name: "kwok".to_owned(),
        executable: folders.programs.join("kwok"),
        arguments: flags.map(str::to_owned).to_vec(),
        folder: folders.state.to_owned(),
        ..Program::default()
    }
}

fn control_plane(folders: Folders<'_>, name: &str, flags: &[&str]) -> Program {
    Program {
        name: name.to_owned(),
        executable: folders.programs.join("control-plane"),
        arguments: [name].iter().chain(flags).map(ToString::to_string).collect(),
        folder: folders.state.to_owned(),
        ..Program::default()
    }
}
