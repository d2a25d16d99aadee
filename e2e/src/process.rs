//! Child processes that end with us, whatever ends us.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::sync::watch;

use crate::{BedError, LogTail};

/// Variables that no child inherits: a cluster is always named by us, and all of ours are on loopback, which
/// a proxy cannot reach.
const REMOVED_VARIABLES: [&str; 7] =
    ["KUBECONFIG", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];

/// A program to run.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// What messages and the log file call it.
    pub(crate) name: String,
    /// The executable.
    pub(crate) executable: PathBuf,
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
    /// Variables on top of the inherited ones.
    pub(crate) environment: BTreeMap<String, String>,
    /// Its working directory; its log is `NAME.log` in it.
    pub(crate) folder: PathBuf,
}

/// A running child process: dropped, it is killed; it is also killed when this process ends in any way.
#[derive(Debug)]
pub struct Process {
    name: String,
    id: u32,
    descriptor: OwnedFd,
    exit: watch::Receiver<Option<ExitStatus>>,
    log: PathBuf,
    waiter: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts a program; its output goes to its log.
    pub(crate) fn start(program: Program) -> Result<Self, BedError> {
        let log = program.folder.join(format!("{}.log", program.name));
        let name = program.name.clone();
        let executable = program.executable.clone();
        let failed = |source| BedError::Run { program: executable.clone(), source };
        let command = command(program, &log).map_err(failed)?;
        let (started, start) = mpsc::sync_channel(1);
        let (ended, exit) = watch::channel(None);
        let waiter = std::thread::Builder::new()
            .name(format!("wait {name}"))
            .spawn(move || run(command, &started, &ended))
            .map_err(failed)?;
        let (id, descriptor) =
            start.recv().unwrap_or_else(|_| Err(io::Error::other("its thread ended"))).map_err(failed)?;
        Ok(Self { name, id, descriptor, exit, log, waiter: Some(waiter) })
    }

    /// What messages and the log file call it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The file that has its output.
    #[must_use]
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// The last lines of its output.
    #[must_use]
    pub fn log_tail(&self) -> LogTail {
        LogTail::of(&self.log)
    }

    /// How it ended, or nothing while it runs.
    #[must_use]
    pub fn exit_status(&self) -> Option<ExitStatus> {
        *self.exit.borrow()
    }

    /// Waits for its end; nothing if it still runs after the deadline.
    pub async fn wait_for_exit(&self, within: Duration) -> Option<ExitStatus> {
        let mut exit = self.exit.clone();
        let ended = exit.wait_for(Option::is_some);
        tokio::time::timeout(within, ended).await.ok()?.ok().and_then(|status| *status)
    }

    /// Its resident memory in bytes; nothing once it has ended.
    #[must_use]
    pub fn resident_bytes(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.split_whitespace().next()?.parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
    }

    /// Ends it at once (SIGKILL).
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Asks it to end (SIGTERM).
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    fn signal(&self, signal: Signal) {
        // By descriptor: the number of an ended process may be another's by now. An ended one is what we want.
        let _ = pidfd_send_signal(&self.descriptor, signal);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        if let Some(waiter) = self.waiter.take() {
            let _ = waiter.join();
        }
    }
}

/// Builds the command. `setpriv` asks the kernel to kill the program when the thread that started it is gone;
/// it then becomes the program, with the same process id.
fn command(program: Program, log: &Path) -> io::Result<Command> {
    let log = File::options().create(true).append(true).open(log)?;
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(&program.executable).args(program.arguments);
    for variable in REMOVED_VARIABLES {
        command.env_remove(variable);
    }
    command
        .envs(program.environment)
        .current_dir(program.folder)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        // ^C in a terminal ends us, and we end them, in order.
        .process_group(0);
    Ok(command)
}

type Started = io::Result<(u32, OwnedFd)>;

/// Starts the command and waits for it in one thread: the kernel's promise is bound to this thread, so it
/// has to live exactly as long as the program.
fn run(mut command: Command, started: &mpsc::SyncSender<Started>, ended: &watch::Sender<Option<ExitStatus>>) {
    let mut child = match command.spawn().and_then(open) {
        Ok((child, descriptor)) => {
            let _ = started.send(Ok((child.id(), descriptor)));
            child
        }
        Err(error) => {
            let _ = started.send(Err(error));
            return;
        }
    };
    if let Ok(status) = child.wait() {
        ended.send_replace(Some(status));
    }
}

fn open(mut child: Child) -> io::Result<(Child, OwnedFd)> {
    match pidfd_open(Pid::from_child(&child), PidfdFlags::empty()) {
        Ok(descriptor) => Ok((child, descriptor)),
        Err(error) => {
            child.kill()?;
            child.wait()?;
            Err(error.into())
        }
    }
}
