//! The one binary: the operator in a cluster, and the command line on a laptop.

mod serve;

use std::{
    error::Error,
    io::{stderr, stdout},
    process::ExitCode,
};

use clap::{Parser, Subcommand};
use operator_cli::BuildCommand;

use serve::{Flags, serve};

/// Runs Flux: installs it, keeps it as declared, upgrades it
#[derive(Debug, Parser)]
#[command(name = "flux-operator", version, arg_required_else_help = true)]
struct Arguments {
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
    /// Print the version of this program
    Version {
        /// Only the version of this program, which is all there is
        #[arg(long)]
        client: bool,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("✗ {}", operator_cluster::explain(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), Box<dyn Error>> {
    match command {
        Command::Build(command) => command.run(&mut stdout().lock(), &mut stderr().lock())?,
        Command::Serve(flags) => serve(*flags)?,
        Command::Version { client: _ } => println!("client: {}", env!("CARGO_PKG_VERSION")),
    }
    Ok(())
}
