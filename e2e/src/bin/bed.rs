//! A control plane for people and scripts: `bed up FOLDER` until ^C or `bed down FOLDER`.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use e2e::{BedError, ControlPlane, Kubernetes, PlaneOptions};
use rustix::process::{Pid, Signal, kill_process};
use tokio::signal::unix::{SignalKind, signal};

const USAGE: &str = "\
usage: bed up FOLDER     start a control plane whose files are in FOLDER (absent or empty), until ^C
       bed down FOLDER   end the control plane of FOLDER
E2E_KUBERNETES=1.36|1.34 chooses the version.";
/// Holds the process id of `bed up`, and is locked while that runs.
const OWNER: &str = "bed.pid";
/// An end takes less than a second.
const DOWN_DEADLINE: Duration = Duration::from_secs(15);
/// Between two looks whether the end has come.
const DOWN_INTERVAL: Duration = Duration::from_millis(50);

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["up", folder] => up(folder.into()).await,
        ["down", folder] => down(Path::new(folder)),
        _ => Err(Failure::Usage),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{USAGE}")]
    Usage,
    #[error("bed: {0:?}")]
    Bed(#[from] BedError),
    #[error("bed: no control plane runs in {}", .0.display())]
    NotRunning(PathBuf),
    #[error("bed: the control plane of {} did not end within {} s", .0.display(), DOWN_DEADLINE.as_secs())]
    StillRunning(PathBuf),
    #[error("bed: {0}")]
    System(#[from] std::io::Error),
}

async fn up(state: PathBuf) -> Result<(), Failure> {
    // Before the start, so that an early ^C does not end us with the clean-up undone.
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let stop = async {
        tokio::select! { _ = interrupt.recv() => (), _ = terminate.recv() => () }
    };
    let run = async {
        // Declared first and so dropped last: the lock outlives the control plane.
        let mut owner;
        let plane = start(state).await?;
        owner = File::create_new(plane.state().join(OWNER))?;
        owner.lock()?;
        write!(owner, "{}", std::process::id())?;
        println!("export KUBECONFIG={}", plane.kubeconfig().display());
        std::future::pending::<Result<(), Failure>>().await
    };
    tokio::select! { () = stop => Ok(()), result = run => result }
}

async fn start(state: PathBuf) -> Result<ControlPlane, BedError> {
    let kubernetes = Kubernetes::from_environment()?;
    let began = Instant::now();
    let name = "bed".to_owned();
    let options = PlaneOptions { name, state: Some(state), kubernetes, ..PlaneOptions::default() };
    let plane = ControlPlane::start_own(options).await?;
    let bytes: u64 = plane.parts().iter().filter_map(e2e::Process::resident_bytes).sum();
    eprintln!(
        "bed: Kubernetes {} is up after {:.1} s and takes {} MiB of memory; ^C ends it",
        kubernetes.as_str(),
        began.elapsed().as_secs_f32(),
        bytes >> 20
    );
    Ok(plane)
}

fn down(state: &Path) -> Result<(), Failure> {
    let not_running = || Failure::NotRunning(state.to_owned());
    let mut owner = File::open(state.join(OWNER)).map_err(|_| not_running())?;
    // The lock tells a running owner from a number that was left behind.
    if unlocked(&owner)? {
        return Err(not_running());
    }
    let mut number = String::new();
    owner.read_to_string(&mut number)?;
    let process = number.parse().ok().and_then(Pid::from_raw).ok_or_else(not_running)?;
    kill_process(process, Signal::TERM).map_err(std::io::Error::from)?;
    let began = Instant::now();
    while !unlocked(&owner)? {
        if began.elapsed() >= DOWN_DEADLINE {
            return Err(Failure::StillRunning(state.to_owned()));
        }
        std::thread::sleep(DOWN_INTERVAL);
    }
    Ok(())
}

fn unlocked(owner: &File) -> Result<bool, std::io::Error> {
    match owner.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
