//! Reading objects and telling how they differ.

use std::{collections::BTreeMap, env, fs, io::Write as _, path::Path, path::PathBuf};

use manifests_flux::{File, Release, releases};
use serde_json::Value;

/// The folder with real release manifests, `flux/<version>/` and `flux-images/<version>/`.
const RELEASED_DIR: &str = "FLUX_MANIFESTS_DIR";

/// Objects by `Kind/name`.
pub(crate) type Objects = BTreeMap<String, Value>;

pub(crate) fn release(version: &str) -> &'static Release {
    releases().iter().find(|release| release.version == version).unwrap()
}

pub(crate) fn documents(file: &File) -> Vec<Value> {
    serde_json::from_str(file.json).unwrap()
}

pub(crate) fn file(version: &str, name: &str) -> Vec<Value> {
    documents(release(version).files.iter().find(|file| file.name == name).unwrap())
}

pub(crate) fn all(version: &str) -> Vec<Value> {
    release(version).files.iter().flat_map(documents).collect()
}

pub(crate) fn of_kind(version: &str, kind: &str) -> Vec<Value> {
    all(version).into_iter().filter(|object| object["kind"] == kind).collect()
}

pub(crate) fn key(object: &Value) -> String {
    format!("{}/{}", text(&object["kind"]), text(&object["metadata"]["name"]))
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

pub(crate) fn by_key(objects: impl IntoIterator<Item = Value>) -> Objects {
    let mut sorted = Objects::new();
    for object in objects {
        let key = key(&object);
        assert!(sorted.insert(key.clone(), object).is_none(), "{key} is there twice");
    }
    sorted
}

/// The YAML files of a folder by name without extension.
pub(crate) fn yaml_files(folder: &Path) -> BTreeMap<String, Vec<Value>> {
    let files: BTreeMap<String, Vec<Value>> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, parse(&fs::read_to_string(&path).unwrap()))
        })
        .collect();
    assert!(!files.is_empty(), "{} has no files", folder.display());
    files
}

fn parse(yaml: &str) -> Vec<Value> {
    manifests_yaml::documents(yaml).unwrap().into_iter().map(|document| document.value).collect()
}

/// The folder with real releases; without it, says which test is skipped, past the capture of test output.
#[expect(clippy::explicit_write, reason = "eprintln! is captured, and a skipped test must be seen")]
pub(crate) fn released_dir(test: &str) -> Option<PathBuf> {
    let dir = env::var_os(RELEASED_DIR).filter(|dir| !dir.is_empty()).map(PathBuf::from);
    if dir.is_none() {
        writeln!(std::io::stderr(), "SKIPPED {test}: {RELEASED_DIR} is not set").unwrap();
    }
    dir
}

#[derive(Debug)]
pub(crate) struct Difference {
    pub object: String,
    /// JSON pointer, `~1` for a slash.
    pub path: String,
    /// `null` where the value is missing.
    pub ours: Value,
    pub theirs: Value,
}

pub(crate) fn differences(ours: &Objects, theirs: &Objects) -> Vec<Difference> {
    let mut found = Vec::new();
    let keys = ours.keys().chain(theirs.keys().filter(|key| !ours.contains_key(*key)));
    for object in keys {
        compare(object, "", ours.get(object), theirs.get(object), &mut found);
    }
    found
}

fn compare(
    object: &str,
    path: &str,
    ours: Option<&Value>,
    theirs: Option<&Value>,
    found: &mut Vec<Difference>,
) {
    match (ours, theirs) {
        (Some(Value::Object(ours)), Some(Value::Object(theirs))) => {
            for key in ours.keys().chain(theirs.keys().filter(|key| !ours.contains_key(*key))) {
                let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
                compare(object, &path, ours.get(key), theirs.get(key), found);
            }
        }
        (Some(Value::Array(ours)), Some(Value::Array(theirs))) if ours.len() == theirs.len() => {
            for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                compare(object, &format!("{path}/{index}"), Some(ours), Some(theirs), found);
            }
        }
        _ if ours == theirs => {}
        _ => found.push(Difference {
            object: object.to_owned(),
            path: path.to_owned(),
            ours: ours.cloned().unwrap_or_default(),
            theirs: theirs.cloned().unwrap_or_default(),
        }),
    }
}

#[test]
fn a_difference_names_object_and_path() {
    let object = |replicas: u64| {
        by_key([
            serde_json::json!({"kind": "Deployment", "metadata": {"name": "a"}, "spec": {"replicas": replicas}}),
        ])
    };
    let found = differences(&object(1), &object(2));
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].object.as_str(), found[0].path.as_str()), ("Deployment/a", "/spec/replicas"));
    assert_eq!(differences(&object(1), &Objects::new()).len(), 1, "an object that only we have");
    assert_eq!(differences(&Objects::new(), &object(1)).len(), 1, "an object that only they have");
}
