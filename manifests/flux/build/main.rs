//! Embeds the distribution: YAML files in, JSON files and the table of releases out.

mod distribution;

use std::{
    env,
    ffi::OsString,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use distribution::{Distribution, File, Folders};

/// A folder of definitions with descriptions, as `generate-crds.sh` writes it. Unset or empty: the committed
/// definitions, which have none.
const CRDS_DIR: &str = "FLUX_CRDS_DIR";

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("cargo did not set {0}")]
    Variable(&'static str),
    #[error("{CRDS_DIR} is {0}: it must be an absolute path")]
    RelativeCrdsDir(PathBuf),
    #[error(transparent)]
    Distribution(#[from] distribution::Error),
    #[error("failed to write {path}: {source}")]
    Write { path: PathBuf, source: io::Error },
}

fn main() -> ExitCode {
    match embed() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("cargo::error={error}");
            ExitCode::FAILURE
        }
    }
}

fn embed() -> Result<(), Error> {
    let root = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(variable("OUT_DIR")?);
    let generated = generated_crds_dir()?;
    watch(&root, generated.as_deref());
    let distribution = distribution::read(&Folders { root, generated })?;
    write(&out, "releases.rs", &table(&out, &distribution)?)
}

fn variable(name: &'static str) -> Result<OsString, Error> {
    env::var_os(name).ok_or(Error::Variable(name))
}

fn generated_crds_dir() -> Result<Option<PathBuf>, Error> {
    println!("cargo::rerun-if-env-changed={CRDS_DIR}");
    match env::var_os(CRDS_DIR).filter(|value| !value.is_empty()).map(PathBuf::from) {
        Some(path) if path.is_relative() => Err(Error::RelativeCrdsDir(path)),
        path => Ok(path),
    }
}

fn watch(root: &Path, generated: Option<&Path>) {
    for folder in ["build", "crds", "flux", "flux-images"] {
        println!("cargo::rerun-if-changed={}", root.join(folder).display());
    }
    if let Some(path) = generated {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

/// Writes the JSON files and returns the Rust table that includes them.
fn table(out: &Path, distribution: &Distribution) -> Result<String, Error> {
    let mut table = String::from("static RELEASES: &[Release] = &[\n");
    for release in &distribution.releases {
        let version = &release.version;
        let files = entries(out, &format!("{version}-manifests"), &release.files)?;
        let images = entries(out, &format!("{version}-images"), &release.images)?;
        // Writing to a String cannot fail.
        let _ =
            writeln!(table, "Release {{ version: {version:?}, files: &[{files}], images: &[{images}] }},");
    }
    table.push_str("];\n");
    Ok(table)
}

fn entries(out: &Path, prefix: &str, files: &[File]) -> Result<String, Error> {
    let mut entries = String::new();
    for File { name, documents } in files {
        let file_name = format!("{prefix}-{name}.json");
        write(out, &file_name, &serde_json::Value::from(documents.clone()).to_string())?;
        let path = format!("/{file_name}");
        let _ = writeln!(
            entries,
            "File {{ name: {name:?}, json: include_str!(concat!(env!(\"OUT_DIR\"), {path:?})) }},"
        );
    }
    Ok(entries)
}

fn write(out: &Path, name: &str, content: &str) -> Result<(), Error> {
    let path = out.join(name);
    fs::write(&path, content).map_err(|source| Error::Write { path, source })
}
