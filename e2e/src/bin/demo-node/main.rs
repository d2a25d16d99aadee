//! Shows the operator on a real node: pods of our image and of Flux's controllers, installed by Helm, syncing an
//! app from Git, and what happens when things go wrong. It ends with an error when something is not as it says.
//!
//! `demo-node` runs it, which takes root; `demo-node check` only says whether it can run on this machine.

mod helm;
mod story;

use std::env;
use std::error::Error;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::ExitCode;

use e2e::{Cage, Node, NodeFiles};
use helm::Charts;
use serde::{Deserialize, Serialize};
use story::Story;
use tokio::signal::unix::{SignalKind, signal};

/// What is handed to the process inside.
#[derive(Debug, Serialize, Deserialize)]
struct Plan {
    files: NodeFiles,
    charts: Charts,
}

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

// One thread: the kernel ends the node when the thread that started it is gone.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        [] => outside().await,
        ["check"] => check().await,
        ["inside", plan] => Box::pin(inside(plan)).await,
        _ => Err("usage: demo-node [check]".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("demo-node: {}", with_causes(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

async fn check() -> Outcome {
    Cage::new().await?;
    Ok(())
}

async fn outside() -> Outcome {
    let cage = Cage::new().await?;
    let stop = interrupted()?;
    tokio::pin!(stop);
    let plan = tokio::select! {
        plan = prepare(&cage) => plan?,
        () = &mut stop => return Err("it was interrupted".into()),
    };
    let plan = serde_json::to_string(&plan)?;
    let exit = cage.run_inside(&[OsStr::new("inside"), OsStr::new(&plan)], stop).await?;
    drop(cage);
    match exit {
        Some(exit) if exit.success() => {
            println!("The node and its files are gone.");
            Ok(())
        }
        Some(_) => Err("something was not as it should be: the lines above say what".into()),
        None => Err("it was interrupted; the node and its files are gone".into()),
    }
}

async fn prepare(cage: &Cage) -> Outcome<Plan> {
    let files = NodeFiles::prepare(cage).await?;
    let charts = Charts::package(&cage.state().join("charts")).await?;
    Ok(Plan { files, charts })
}

async fn inside(plan: &str) -> Outcome {
    let Plan { files, charts } = serde_json::from_str(plan)?;
    let clock = story::Clock::start();
    let node = Node::start(files).await?;
    let story = Story::start(node, charts, clock).await?;
    Box::pin(story.tell()).await
}

/// Waits for the end that a user or the system asks for.
fn interrupted() -> Outcome<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}

fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// A file or folder of the crate `e2e`.
fn file(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}
