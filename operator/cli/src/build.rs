//! `build`: what the operator would apply, without a cluster.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::{Args, Subcommand};
use crds::DEFAULT_NAMESPACE;
use manifests::{
    distribution::{Distribution, Embedded, Texts},
    flux_instance::{BuildError, build},
    render::yaml_stream,
};
use operator_oci::{Folder, FolderError};
use thiserror::Error;

use crate::{
    cluster::ClusterFlags,
    input::{InputError, InputPath, read_instance},
};

/// Render what the operator would apply, without a cluster
#[derive(Clone, Debug, Subcommand)]
pub enum BuildCommand {
    /// Render the objects of a FluxInstance as YAML
    ///
    /// The SHA-256 of the output is the digest that the operator shows in status.lastAttemptedRevision.
    /// Warnings go to standard error.
    Instance(BuildInstance),
}

/// Arguments of `build instance`.
#[derive(Args, Clone, Debug)]
pub struct BuildInstance {
    /// File with the FluxInstance, or - for standard input
    #[arg(short, long, value_name = "FILE")]
    filename: InputPath,

    /// OCI artifact with the manifests of Flux, in place of the one that the spec names
    #[arg(long, value_name = "OCI-URL")]
    distribution_artifact: Option<String>,

    /// Folder with the manifests of Flux, in place of an artifact and of the embedded ones: it holds
    /// flux/<version>/<component>.yaml
    #[arg(long, value_name = "DIR")]
    distribution_path: Option<PathBuf>,
}

/// Why nothing was rendered.
#[derive(Debug, Error)]
pub enum BuildCommandError {
    #[error(transparent)]
    Input(#[from] InputError),
    #[error(
        "{origin} names the artifact {artifact}, and artifacts cannot be pulled yet: unpack it and name the folder with --distribution-path, or remove {origin} to use the manifests inside flux-operator"
    )]
    Artifact { origin: &'static str, artifact: String },
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error("failed to write the output")]
    Write(#[from] io::Error),
}

impl BuildCommand {
    /// Renders to `output`; what a user should look at goes to `warnings`.
    ///
    /// # Errors
    /// When the input cannot be used; then nothing was written to `output`.
    pub fn run(
        &self,
        cluster: &ClusterFlags,
        output: &mut dyn Write,
        warnings: &mut dyn Write,
    ) -> Result<(), BuildCommandError> {
        let Self::Instance(arguments) = self;
        arguments.run(cluster.namespace.as_deref(), output, warnings)
    }
}

impl BuildInstance {
    fn run(
        &self,
        namespace: Option<&str>,
        output: &mut dyn Write,
        warnings: &mut dyn Write,
    ) -> Result<(), BuildCommandError> {
        let written = read_instance(&self.filename, namespace)?;
        let instance = written.instance;
        for oddity in &written.oddities {
            writeln!(warnings, "warning: {oddity}")?;
        }
        let distribution = self.distribution(instance.spec.distribution.artifact.as_deref())?;
        let namespace = instance.metadata.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
        let built = build(&instance, namespace, distribution.as_ref())?;
        for warning in &built.warnings {
            writeln!(warnings, "warning: {warning}")?;
        }
        output.write_all(yaml_stream(&built.objects).as_bytes())?;
        output.flush()?;
        Ok(())
    }

    fn distribution(&self, in_spec: Option<&str>) -> Result<Box<dyn Distribution>, BuildCommandError> {
        if let Some(path) = &self.distribution_path {
            return Ok(Box::new(Texts(Folder::open_distribution(path)?)));
        }
        let in_flag =
            self.distribution_artifact.as_deref().map(|artifact| ("--distribution-artifact", artifact));
        let in_spec = in_spec.map(|artifact| ("spec.distribution.artifact", artifact));
        match in_flag.or(in_spec) {
            Some((origin, artifact)) => {
                Err(BuildCommandError::Artifact { origin, artifact: artifact.to_owned() })
            }
            None => Ok(Box::new(Embedded)),
        }
    }
}
