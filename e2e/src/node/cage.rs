//! What keeps a node apart from the machine: namespaces of its own for network, mounts and processes, and control
//! groups that go away with it.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::Duration;
use std::{env, fs};

use rustix::process::geteuid;
use tokio::process::Command;

use super::error::{NodeError, run};
use crate::state::StateFolder;

/// Programs that a node needs, and the packages of Debian that have them.
const PROGRAMS: [(&str, &str); 9] = [
    ("containerd", "containerd"),
    ("ctr", "containerd"),
    ("runc", "runc"),
    ("ip", "iproute2"),
    ("nft", "nftables"),
    ("iptables", "iptables"),
    ("git", "git"),
    ("unshare", "util-linux"),
    ("setpriv", "util-linux"),
];
/// Where packages put the plugins that make the networks of pods.
const PLUGIN_FOLDERS: [&str; 2] = ["/usr/lib/cni", "/opt/cni/bin"];
const PLUGINS: [&str; 3] = ["bridge", "host-local", "loopback"];
const CONTROL_GROUPS: &str = "/sys/fs/cgroup";
/// Namespaces of network, mounts and processes. When `unshare` ends, the kernel ends every process in them.
const NAMESPACES: [&str; 6] = ["--net", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"];
/// The first process in them, which also waits for processes that lost their parents. What programs keep in /run
/// is the node's, not the machine's.
const FIRST: &str = r#"mount -t tmpfs node /run && mkdir /run/netns /run/lock && "$@"; exit $?"#;
/// Mounts what containers are made of in the folder $1, as containerd will.
const OVERLAY: &str = r#"cd "$1" && mkdir lower upper work merged &&
mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work overlay merged && umount merged &&
rm -r lower upper work merged"#;
/// Waits until its owner is gone, whatever ended it, then removes the control groups named by $1 as soon as they
/// are empty.
const KEEPER: &str = r#"cat >/dev/null
n=0
while [ -n "$(find /sys/fs/cgroup -maxdepth 2 -type d -name "$1")" ] && [ "$n" -lt 100 ]; do
    find /sys/fs/cgroup -depth -type d -path "*/$1*" -exec rmdir {} ';' 2>/dev/null
    n=$((n + 1))
    sleep 0.1
done"#;
/// Making namespaces.
const DEADLINE: Duration = Duration::from_secs(20);

/// A place for one node. Dropped, its files and control groups are removed.
#[derive(Debug)]
pub struct Cage {
    // Dropped in this order.
    keeper: Child,
    state: StateFolder,
    plugins: PathBuf,
}

impl Cage {
    /// Makes a place for a node on this machine.
    ///
    /// # Errors
    /// [`NodeError::Impossible`] says what the machine lacks.
    pub async fn new() -> Result<Self, NodeError> {
        let mut missing = missing_programs();
        let plugins = plugin_folder();
        if plugins.is_none() {
            missing.push("the plugins of CNI are missing: install containernetworking-plugins".to_owned());
        }
        if !geteuid().is_root() {
            missing.push("it takes root".to_owned());
        } else if missing.is_empty() {
            missing.extend(namespaces_missing().await);
        }
        let (Some(plugins), []) = (plugins, &missing[..]) else {
            return Err(NodeError::Impossible { missing });
        };
        let state = StateFolder::temporary("node")?;
        let keeper = start_keeper(&control_group(state.path()))?;
        make_control_groups(&control_group(state.path()))?;
        Ok(Self { keeper, state, plugins })
    }

    /// The folder for everything that the node writes.
    #[must_use]
    pub fn state(&self) -> &Path {
        self.state.path()
    }

    /// The folder of the plugins that make the networks of pods.
    #[must_use]
    pub fn plugins(&self) -> &Path {
        &self.plugins
    }

    /// Runs this program again, inside, with other arguments, and gives how it ended; nothing if `stop` came first,
    /// which ends everything inside.
    ///
    /// # Errors
    /// [`NodeError`] if it cannot be run.
    pub async fn run_inside(
        &self,
        arguments: &[&OsStr],
        stop: impl Future<Output = ()>,
    ) -> Result<Option<ExitStatus>, NodeError> {
        let own =
            env::current_exe().map_err(|source| NodeError::File { path: "/proc/self/exe".into(), source })?;
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--", "unshare"]).args(NAMESPACES);
        command.args(["sh", "-c", FIRST, "sh"]).arg(own).args(arguments);
        // ^C in a terminal is for us to handle.
        command.stdin(Stdio::null()).process_group(0).kill_on_drop(true);
        let failed = |source| NodeError::Run { command: "unshare".to_owned(), source };
        let mut child = command.spawn().map_err(failed)?;
        tokio::select! {
            exit = child.wait() => return exit.map(Some).map_err(failed),
            () = stop => {}
        }
        child.kill().await.map_err(failed)?;
        Ok(None)
    }
}

impl Drop for Cage {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        // It ends by itself, and there is nobody to tell if it did not.
        let _ = self.keeper.wait();
    }
}

/// The name of the control groups of the node whose files are in a folder.
pub(super) fn control_group(state: &Path) -> String {
    state.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn missing_programs() -> Vec<String> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = env::split_paths(&path).collect();
    let absent = |name: &str| !folders.iter().any(|folder| folder.join(name).is_file());
    let missing = PROGRAMS.iter().filter(|(name, _)| absent(name));
    missing.map(|(name, package)| format!("{name} is missing: install {package}")).collect()
}

fn plugin_folder() -> Option<PathBuf> {
    let folders = PLUGIN_FOLDERS.iter().map(Path::new);
    let mut complete = folders.filter(|folder| PLUGINS.iter().all(|name| folder.join(name).is_file()));
    complete.next().map(Path::to_owned)
}

/// What the kernel refuses to this process.
async fn namespaces_missing() -> Option<String> {
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(error) => return Some(format!("there is no place for temporary files: {error}")),
    };
    let mut command = Command::new("unshare");
    command.args(NAMESPACES).args(["sh", "-c", FIRST, "sh", "true"]);
    if let Err(error) = run(command, DEADLINE).await {
        return Some(format!("it takes namespaces of its own: {error}"));
    }
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", OVERLAY, "sh"]).arg(folder.path());
    let error = run(command, DEADLINE).await.err()?;
    let path = env::temp_dir();
    Some(format!("containers cannot be in {}: set TMPDIR to a folder on a disk: {error}", path.display()))
}

/// Makes a control group in every hierarchy: version 1 has one a controller, version 2 has one for all.
fn make_control_groups(name: &str) -> Result<(), NodeError> {
    let root = Path::new(CONTROL_GROUPS);
    let hierarchies =
        if root.join("cgroup.procs").is_file() { vec![root.to_owned()] } else { super::error::listed(root)? };
    for hierarchy in hierarchies.into_iter().filter(|hierarchy| hierarchy.join("cgroup.procs").is_file()) {
        let path = hierarchy.join(name);
        match fs::create_dir(&path) {
            // Two names for one hierarchy.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            other => other.map_err(|source| NodeError::File { path, source })?,
        }
    }
    Ok(())
}

fn start_keeper(control_group: &str) -> Result<Child, NodeError> {
    std::process::Command::new("sh")
        .args(["-c", KEEPER, "sh", control_group])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // ^C in a terminal goes to the whole group, and the keeper has to outlive us.
        .process_group(0)
        .spawn()
        .map_err(|source| NodeError::Run { command: "sh".to_owned(), source })
}
