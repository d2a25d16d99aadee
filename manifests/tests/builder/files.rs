//! Specs, vectors and distributions on disk.

use std::{
    cell::RefCell,
    collections::HashMap,
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use crds::FluxInstance;
use manifests::{
    distribution::{Distribution, DistributionError},
    yaml,
};
use operator_guard::{Files, FilesError};
use serde_json::Value;

/// A folder of the machine that runs the tests.
pub(crate) struct Folder {
    pub(crate) root: PathBuf,
    /// The versions to show; all when empty.
    pub(crate) versions: Vec<String>,
}

impl Files for Folder {
    fn origin(&self) -> &'static str {
        "a folder"
    }

    fn folders(&self, path: &str) -> Result<Vec<String>, FilesError> {
        if !self.versions.is_empty() {
            return Ok(self.versions.clone());
        }
        let entries = fs::read_dir(self.root.join(path))?;
        Ok(entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect())
    }

    fn read(&self, path: &str) -> Result<Option<String>, FilesError> {
        match fs::read_to_string(self.root.join(path)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Version and name.
type FileOfRelease = (String, String);

/// The objects of a file, when there is such a file.
type Objects = Option<Vec<Value>>;

/// A distribution whose files are parsed once, however many specs are built from it.
pub(crate) struct Parsed<D> {
    pub(crate) distribution: D,
    pub(crate) files: RefCell<HashMap<FileOfRelease, Objects>>,
}

impl<D: Distribution> Distribution for Parsed<D> {
    fn origin(&self) -> &str {
        self.distribution.origin()
    }

    fn versions(&self) -> Result<Vec<String>, DistributionError> {
        self.distribution.versions()
    }

    fn objects(&self, version: &str, file: &str) -> Result<Option<Vec<Value>>, DistributionError> {
        let key = (version.to_owned(), file.to_owned());
        if let Some(known) = self.files.borrow().get(&key) {
            return Ok(known.clone());
        }
        let objects = self.distribution.objects(version, file)?;
        self.files.borrow_mut().insert(key, objects.clone());
        Ok(objects)
    }

    fn images(&self, version: &str, variant: &str) -> Result<Option<Value>, DistributionError> {
        self.distribution.images(version, variant)
    }
}

/// The folder with released Flux manifests, when this machine has one.
pub(crate) fn released_manifests(test: &str) -> Option<PathBuf> {
    let folder = env::var_os("FLUX_MANIFESTS_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    if folder.is_none() {
        // Written past the capture of the test runner: a skipped test must be seen.
        let line =
            format!("SKIPPED {test}: FLUX_MANIFESTS_DIR names no folder with released Flux manifests\n");
        let _ = io::stderr().write_all(line.as_bytes());
    }
    folder
}

/// The specs of the oracle by name, in order.
pub(crate) fn specs() -> Vec<(String, FluxInstance)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../e2e/oracles/builder/specs");
    let mut specs: Vec<(String, FluxInstance)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let instance = instance(&fs::read_to_string(&path).unwrap());
            (name, instance)
        })
        .collect();
    specs.sort_by(|left, right| left.0.cmp(&right.0));
    specs
}

/// An instance from YAML.
pub(crate) fn instance(text: &str) -> FluxInstance {
    serde_json::from_value(yaml::from_str(text).unwrap()).unwrap()
}

/// The oracle's answers for a version: a line for each object of each spec.
pub(crate) fn answers(version: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/builder");
    let text = fs::read_to_string(folder.join(format!("{version}.txt"))).unwrap();
    text.lines().map(str::to_owned).collect()
}
