//! Running Helm, and what it renders.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use e2e::{Helm, block_on};
use serde_json::Value;

/// The program, built when it is missing.
static HELM: LazyLock<Helm> = LazyLock::new(|| block_on(Helm::get()).unwrap());

/// A chart of this repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chart {
    /// The name of its folder.
    pub(crate) name: &'static str,
    /// The name that releases of it usually have.
    pub(crate) release: &'static str,
}

pub(crate) const OPERATOR: Chart = Chart { name: "flux-operator", release: "flux-operator" };
pub(crate) const INSTANCE: Chart = Chart { name: "flux-instance", release: "flux" };
pub(crate) const CHARTS: [Chart; 2] = [OPERATOR, INSTANCE];

/// Where releases of both charts go.
pub(crate) const NAMESPACE: &str = "flux-system";

impl Chart {
    pub(crate) fn folder(self) -> PathBuf {
        charts().join(self.name)
    }

    pub(crate) fn read(self, path: &str) -> String {
        let path = self.folder().join(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    pub(crate) fn yaml(self, path: &str) -> Value {
        serde_saphyr::from_str(&self.read(path)).unwrap()
    }

    /// The files of values that goldens exist for: name and content.
    pub(crate) fn value_files(self) -> BTreeMap<String, String> {
        let files = fs::read_dir(self.folder().join("tests/values")).unwrap();
        files
            .map(|file| file.unwrap().path())
            .map(|path| {
                let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
                (name, fs::read_to_string(path).unwrap())
            })
            .collect()
    }

    /// What a release with these values consists of, as text.
    pub(crate) fn text(self, values: &str, options: &[&str]) -> Result<String, String> {
        let folder = self.folder();
        let mut arguments =
            vec!["template", self.release, folder.to_str().unwrap(), "--namespace", NAMESPACE];
        arguments.extend(["--kube-version", "1.36.0", "--values", "-"]);
        arguments.extend(options);
        text(helm(&arguments, values))
    }

    /// The objects of a release with these values.
    pub(crate) fn objects(self, values: &str) -> Vec<Value> {
        objects(&self.text(values, &[]).unwrap())
    }

    /// The notes that a user sees after an installation with these values.
    pub(crate) fn notes(self, values: &str) -> String {
        let folder = self.folder();
        let output = text(helm(
            &[
                "install",
                self.release,
                folder.to_str().unwrap(),
                "--namespace",
                NAMESPACE,
                "--dry-run=client",
                "--output",
                "json",
                "--values",
                "-",
            ],
            values,
        ));
        let release: Value = serde_json::from_str(&output.unwrap()).unwrap();
        release["info"]["notes"].as_str().unwrap().to_owned()
    }
}

/// The folder of the charts.
pub(crate) fn charts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("charts")
}

/// A Helm that knows no cluster and no settings of the user.
pub(crate) fn command() -> Command {
    HELM.command().into_std()
}

/// Helm itself, for scripts.
pub(crate) fn itself() -> &'static Helm {
    &HELM
}

/// Runs Helm.
pub(crate) fn helm(arguments: &[&str], input: &str) -> Output {
    run(command().args(arguments), input)
}

/// Runs a program with a text as its input.
pub(crate) fn run(command: &mut Command, input: &str) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Helm reads all of its input before it writes, and a command that reads none closes it.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// What a program printed, or what it complained about.
pub(crate) fn text(output: Output) -> Result<String, String> {
    if output.status.success() {
        Ok(String::from_utf8(output.stdout).unwrap())
    } else {
        Err(String::from_utf8(output.stderr).unwrap())
    }
}

/// The objects of a text of several documents.
pub(crate) fn objects(text: &str) -> Vec<Value> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(text).unwrap();
    documents.into_iter().filter(|document| !document.is_null()).collect()
}

/// The object that is called `Kind` or `Kind/name`.
pub(crate) fn find<'a>(objects: &'a [Value], called: &str) -> Option<&'a Value> {
    let (kind, name) = called.split_once('/').map_or((called, None), |(kind, name)| (kind, Some(name)));
    objects
        .iter()
        .find(|object| object["kind"] == kind && name.is_none_or(|name| object["metadata"]["name"] == name))
}

/// Whether generated files are to be written instead of compared.
pub(crate) fn updates() -> bool {
    std::env::var_os("CHARTS_UPDATE").is_some_and(|value| value == "1")
}

/// Compares a generated file with what it should be, or writes it.
pub(crate) fn check_generated(path: &Path, expected: &str) {
    if updates() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, expected).unwrap();
        return;
    }
    let committed = fs::read_to_string(path).unwrap_or_default();
    let line = committed.lines().zip(expected.lines()).position(|(left, right)| left != right);
    let line = line.unwrap_or_else(|| committed.lines().count().min(expected.lines().count()));
    assert!(
        committed == expected,
        "{} is stale from line {}, where {:?} should be: look at it with `CHARTS_UPDATE=1 cargo test --package e2e --test charts`",
        path.display(),
        line + 1,
        expected.lines().nth(line),
    );
}
