//! The one binary: the operator in a cluster, and the command line on a laptop.

mod serve;

use std::{
    error::Error,
    io::{stderr, stdout},
    process::ExitCode,
};

use clap::{Parser, Subcommand};
use operator_cli::{BuildCommand, ClusterFlags, WaitCommand};

use serve::{Flags, serve};

/// Runs Flux: installs it, keeps it as declared, upgrades it
#[derive(Debug, Parser)]
#[command(name = "flux-operator", version, arg_required_else_help = true)]
struct Arguments {
    #[command(flatten)]
    cluster: ClusterFlags,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Render what the operator would apply, without a cluster
    #[command(subcommand)]
    Build(BuildCommand),
    /// Run the operator
    Serve(Box<Flags>),
    /// Wait until an object is ready, also one that does not exist yet
    #[command(subcommand)]
    Wait(WaitCommand),
    /// Print the version of this program
    Version {
        /// Only the version of this program, which is all there is
        #[arg(long)]
        client: bool,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("✗ {}", operator_cluster::explain(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let cluster = arguments.cluster;
    match arguments.command {
        Command::Build(command) => command.run(&cluster, &mut stdout().lock(), &mut stderr().lock())?,
        Command::Serve(flags) => serve(*flags, &cluster.connect_options())?,
        Command::Wait(wait) => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(wait.run(&cluster, &mut stderr()))?;
        }
        Command::Version { client: _ } => println!("client: {}", env!("CARGO_PKG_VERSION")),
    }
    Ok(())
}
