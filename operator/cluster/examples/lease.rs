//! One contender for a lease, to watch an election by hand and in tests.
//!
//! Prints `leading` when it leads, `lost: WHY` when it does no longer, and `released` when it gave the lease
//! back, which it does when its standard input ends. What it waits for is logged to standard error.

use std::{
    env,
    error::Error,
    io::{Read as _, stdin},
    path::Path,
    process::ExitCode,
    thread,
    time::Duration,
};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use operator_cluster::lease::{Leadership, LeaseSettings};
use tokio::sync::oneshot;

const USAGE: &str = "usage: lease KUBECONFIG NAMESPACE IDENTITY LEASE_DURATION RENEW_DEADLINE RETRY_PERIOD
The times are in milliseconds.";

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).init();
    match contend().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("failed: {}", operator_cluster::explain(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

async fn contend() -> Result<(), Failure> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [kubeconfig, namespace, identity, lease, renew, retry] = arguments.as_slice() else {
        return Err(USAGE.into());
    };
    let settings = LeaseSettings {
        lease_duration: milliseconds(lease)?,
        renew_deadline: milliseconds(renew)?,
        retry_period: milliseconds(retry)?,
        ..LeaseSettings::new(namespace, identity)
    };
    let mut input_ended = input_end();
    let leadership = tokio::select! {
        leadership = Leadership::acquire(connect(Path::new(kubeconfig)).await?, settings) => leadership?,
        _ = &mut input_ended => return Ok(()),
    };
    println!("leading");
    tokio::select! {
        loss = leadership.lost() => println!("lost: {loss}"),
        _ = &mut input_ended => {
            leadership.release().await?;
            println!("released");
        }
    }
    Ok(())
}

/// Connects as the operator does, retries of the client included.
async fn connect(kubeconfig: &Path) -> Result<Client, Failure> {
    let content = Kubeconfig::read_from(kubeconfig)?;
    let config = Config::from_custom_kubeconfig(content, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

/// Ends when the standard input does. A thread reads it, because the end of a program would wait for a read
/// by the runtime.
fn input_end() -> oneshot::Receiver<()> {
    let (end, ended) = oneshot::channel::<()>();
    thread::spawn(move || {
        // An input that cannot be read has ended, too.
        let _ = stdin().read_to_end(&mut Vec::new());
        drop(end);
    });
    ended
}

fn milliseconds(text: &str) -> Result<Duration, Failure> {
    Ok(Duration::from_millis(text.parse()?))
}
