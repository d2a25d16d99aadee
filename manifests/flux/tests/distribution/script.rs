//! `generate-crds.sh`: it needs Go, as does building this project.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use tempfile::TempDir;

use crate::{
    build::distribution::without_descriptions,
    objects::{by_key, differences, yaml_files},
};

/// With a cold cache, two calls at once would build the same tools twice.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn run(root: &Path, arguments: &[&str]) -> Output {
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    Command::new("bash").arg(root.join("generate-crds.sh")).args(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn generate(folder: &Path, options: &[&str]) -> String {
    let output = run(root(), &[&[folder.to_str().unwrap()], options].concat());
    assert!(output.status.success(), "{}", said(&output));
    said(&output)
}

/// A folder with freshly generated definitions, with descriptions.
pub(crate) fn described_definitions() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    generate(folder.path(), &[]);
    folder
}

/// Path -> time of the last change.
fn changed(folder: &Path) -> BTreeMap<PathBuf, SystemTime> {
    fs::read_dir(folder)
        .unwrap()
        .flat_map(|version| fs::read_dir(version.unwrap().path()).unwrap())
        .map(|file| file.unwrap().path())
        .map(|path| (path.clone(), fs::metadata(path).unwrap().modified().unwrap()))
        .collect()
}

#[test]
fn the_committed_files_are_what_the_go_modules_say() {
    let output = run(root(), &["--check"]);
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn descriptions_are_all_that_the_committed_definitions_lack() {
    let generated = described_definitions();
    for version in ["v2.6.4", "v2.9.5"] {
        let committed = yaml_files(&root().join("crds").join(version));
        let described = yaml_files(&generated.path().join(version));
        assert!(committed.keys().eq(described.keys()), "{version}");
        for (component, definitions) in described {
            for definition in &definitions {
                for version in definition["spec"]["versions"].as_array().unwrap() {
                    let spec = &version["schema"]["openAPIV3Schema"]["properties"]["spec"];
                    assert!(spec["description"].is_string(), "{component} {spec}");
                }
            }
            let bare = by_key(definitions.into_iter().map(without_descriptions));
            let found = differences(&by_key(committed[&component].clone()), &bare);
            assert!(found.is_empty(), "{version} {component}: {found:#?}");
        }
    }
}

#[test]
fn a_second_call_writes_only_what_is_wrong() {
    let folder = described_definitions();
    let before = changed(folder.path());
    assert!(generate(folder.path(), &[]).contains("0 files written"));
    assert_eq!(changed(folder.path()), before);

    let spoiled = folder.path().join("v2.9.5/source-controller.yaml");
    let right = fs::read(&spoiled).unwrap();
    fs::write(&spoiled, "spoiled").unwrap();
    fs::remove_file(folder.path().join("v2.6.4/helm-controller.yaml")).unwrap();
    assert!(generate(folder.path(), &[]).contains("2 files written"));
    assert_eq!(fs::read(&spoiled).unwrap(), right);
    let after = changed(folder.path());
    assert!(after.keys().eq(before.keys()), "{after:?}");
}

#[test]
fn a_wrong_call_is_told_the_usage() {
    for arguments in [&[][..], &["--help"], &["folder", "--with-descriptions"], &["a", "b", "c"]] {
        let output = run(root(), arguments);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(
            said(&output).contains("usage: generate-crds.sh OUT_DIR"),
            "{arguments:?}: {}",
            said(&output)
        );
    }
}

/// A copy of this folder, so that a test may spoil it.
fn copy() -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    let status = Command::new("cp")
        .arg("-R")
        .args(["crds", "flux", "flux-images", "generate-crds.sh"].map(|name| root().join(name)))
        .arg(copy.path())
        .status();
    assert!(status.unwrap().success());
    copy
}

fn check_after_replacing(file: &str, old: &str, new: &str) -> String {
    let copy = copy();
    let path = copy.path().join(file);
    let content = fs::read_to_string(&path).unwrap();
    assert!(content.contains(old), "{file} has {old}");
    fs::write(&path, content.replace(old, new)).unwrap();
    let output = run(copy.path(), &["--check"]);
    assert!(!output.status.success(), "{file} with {new} passes");
    said(&output)
}

#[test]
fn the_check_finds_a_definition_that_was_edited() {
    let said =
        check_after_replacing("crds/v2.9.5/helm-controller.yaml", "scope: Namespaced", "scope: Cluster");
    assert!(said.contains("--without-descriptions") && said.contains("scope: Cluster"), "{said}");
}

#[test]
fn the_check_finds_an_image_of_another_version() {
    let said = check_after_replacing("flux/v2.6.4/helm-controller.yaml", "v1.3.0", "v1.3.1");
    assert!(said.contains("flux/v2.6.4") && said.contains("> helm-controller v1.3.1"), "{said}");
}

#[test]
fn the_check_finds_an_image_list_of_another_version() {
    let said = check_after_replacing("flux-images/v2.9.5/enterprise-alpine.yaml", "v2.2.4", "v2.2.3");
    let named = said.contains("flux-images/v2.9.5/enterprise-alpine.yaml");
    assert!(named && said.contains("> source-watcher v2.2.3"), "{said}");
}
