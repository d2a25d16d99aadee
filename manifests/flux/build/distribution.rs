//! Reads the distribution from its YAML files, and refuses one that does not fit together.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::Value;

/// Where the distribution is read from.
pub(crate) struct Folders {
    /// Holds `flux/<version>/<file>.yaml`, `flux-images/<version>/<variant>.yaml` and
    /// `crds/<version>/<component>.yaml`.
    pub root: PathBuf,
    /// `<version>/<component>.yaml`, to be taken in place of `crds`.
    pub generated: Option<PathBuf>,
}

/// Releases in ascending order.
#[derive(Debug)]
pub(crate) struct Distribution {
    pub releases: Vec<Release>,
}

#[derive(Debug)]
pub(crate) struct Release {
    pub version: String,
    pub files: Vec<File>,
    pub images: Vec<File>,
}

#[derive(Debug)]
pub(crate) struct File {
    pub name: String,
    pub documents: Vec<Value>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("failed to list {path}: {source}")]
    List { path: PathBuf, source: io::Error },
    #[error("{path} is not named after a Flux release, such as v2.9.5")]
    Version { path: PathBuf },
    #[error("{path} has no YAML files")]
    Empty { path: PathBuf },
    #[error("failed to read {path}: {source}")]
    Read { path: PathBuf, source: io::Error },
    #[error("failed to parse {path}: {source}")]
    Parse { path: PathBuf, source: manifests_yaml::ReadError },
    #[error("{path} defines kinds of a component that has no manifests in flux/{version}")]
    NoComponent { path: PathBuf, version: String },
    #[error(
        "failed to read {path}, the definitions in FLUX_CRDS_DIR: {source}; make them with generate-crds.sh"
    )]
    NotGenerated { path: PathBuf, source: io::Error },
    #[error(
        "{path}, in FLUX_CRDS_DIR, differs from the committed definitions in more than descriptions; \
         make both with generate-crds.sh"
    )]
    OtherDefinitions { path: PathBuf },
}

/// # Errors
/// When a file is missing, unreadable or no YAML, or when the folders do not name the same releases, components and
/// definitions.
pub(crate) fn read(folders: &Folders) -> Result<Distribution, Error> {
    let mut versions = BTreeMap::new();
    let flux = folders.root.join("flux");
    for path in list(&flux)? {
        let Some(version) = version_of(&path) else { return Err(Error::Version { path }) };
        versions.insert(version, path);
    }
    let releases =
        versions.values().map(|path| release(folders, &name_of(path))).collect::<Result<_, _>>()?;
    Ok(Distribution { releases })
}

/// Removes the descriptions of a schema. A property that is called description is no text, and stays.
pub(crate) fn without_descriptions(mut value: Value) -> Value {
    match &mut value {
        Value::Object(map) => {
            map.retain(|key, value| key != "description" || !value.is_string());
            map.values_mut().for_each(|value| *value = without_descriptions(value.take()));
        }
        Value::Array(list) => list.iter_mut().for_each(|value| *value = without_descriptions(value.take())),
        _ => {}
    }
    value
}

fn release(folders: &Folders, version: &str) -> Result<Release, Error> {
    let mut definitions = definitions(folders, version)?;
    let mut files = files(&folders.root.join("flux").join(version))?;
    for file in &mut files {
        let objects = std::mem::take(&mut file.documents);
        file.documents = definitions.remove(&file.name).unwrap_or_default();
        file.documents.extend(objects);
    }
    if let Some(component) = definitions.into_keys().next() {
        let path = folders.root.join("crds").join(version).join(component).with_extension("yaml");
        return Err(Error::NoComponent { path, version: version.to_owned() });
    }
    let images = self::files(&folders.root.join("flux-images").join(version))?;
    Ok(Release { version: version.to_owned(), files, images })
}

/// Component -> its definitions. The committed ones say which there are, wherever they are taken from.
fn definitions(folders: &Folders, version: &str) -> Result<BTreeMap<String, Vec<Value>>, Error> {
    let committed = files(&folders.root.join("crds").join(version))?;
    let Some(generated) = &folders.generated else {
        return Ok(committed.into_iter().map(|file| (file.name, file.documents)).collect());
    };
    committed
        .into_iter()
        .map(|file| {
            let path = generated.join(version).join(&file.name).with_extension("yaml");
            Ok((file.name, generated_definitions(path, &file.documents)?))
        })
        .collect()
}

fn generated_definitions(path: PathBuf, committed: &[Value]) -> Result<Vec<Value>, Error> {
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(source) => return Err(Error::NotGenerated { path, source }),
    };
    let documents = parse(&path, &text)?;
    let same = documents.iter().cloned().map(without_descriptions).eq(committed.iter().cloned());
    if same { Ok(documents) } else { Err(Error::OtherDefinitions { path }) }
}

/// The YAML files of a folder in order of their names.
fn files(folder: &Path) -> Result<Vec<File>, Error> {
    let mut files = list(folder)?
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .map(file)
        .collect::<Result<Vec<_>, _>>()?;
    // Not the order of the paths, where `a-b.yaml` comes before `a.yaml`.
    files.sort_by(|one, other| one.name.cmp(&other.name));
    if files.is_empty() { Err(Error::Empty { path: folder.to_owned() }) } else { Ok(files) }
}

fn file(path: PathBuf) -> Result<File, Error> {
    match fs::read_to_string(&path) {
        Ok(text) => Ok(File { name: name_of(&path.with_extension("")), documents: parse(&path, &text)? }),
        Err(source) => Err(Error::Read { path, source }),
    }
}

fn list(folder: &Path) -> Result<BTreeSet<PathBuf>, Error> {
    let failed = |source| Error::List { path: folder.to_owned(), source };
    fs::read_dir(folder)
        .map_err(failed)?
        .map(|entry| entry.map(|entry| entry.path()).map_err(failed))
        .collect()
}

fn parse(path: &Path, text: &str) -> Result<Vec<Value>, Error> {
    match manifests_yaml::documents(text) {
        Ok(documents) => Ok(documents.into_iter().map(|document| document.value).collect()),
        Err(source) => Err(Error::Parse { path: path.to_owned(), source }),
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// `v2.9.5` -> `[2, 9, 5]`, which sorts as releases do.
fn version_of(path: &Path) -> Option<Vec<u64>> {
    let name = name_of(path);
    let numbers: Vec<u64> =
        name.strip_prefix('v')?.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
    (numbers.len() == 3).then_some(numbers)
}
