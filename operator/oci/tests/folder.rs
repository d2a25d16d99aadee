//! Folders as distributions: good ones and hostile ones.
#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

use std::fs;

use operator_guard::{Files as _, MAX_ENTRIES, MAX_FILE_BYTES};
use operator_oci::Folder;
use tempfile::TempDir;

fn folder(files: &[(&str, &[u8])]) -> (TempDir, Folder) {
    let folder = TempDir::new().expect("a temporary folder");
    for (path, bytes) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, bytes).expect("a file");
    }
    let opened = Folder::open_distribution(folder.path()).expect("a distribution");
    (folder, opened)
}

#[test]
fn folders_are_listed_and_files_are_not() {
    let (_guard, folder) =
        folder(&[("flux/v2.9.5/rbac.yaml", b""), ("flux/v2.6.4/rbac.yaml", b""), ("flux/README.md", b"")]);
    let mut names = folder.folders("flux").unwrap();
    names.sort();
    assert_eq!(names, ["v2.6.4", "v2.9.5"]);
    folder.folders("nowhere").unwrap_err();
}

#[test]
fn files_are_read_and_missing_ones_are_none() {
    let (_guard, folder) = folder(&[("flux/v2.9.5/rbac.yaml", b"a: 1")]);
    assert_eq!(folder.read("flux/v2.9.5/rbac.yaml").unwrap().as_deref(), Some("a: 1"));
    assert_eq!(folder.read("flux/v2.9.5/policies.yaml").unwrap(), None);
    assert_eq!(folder.read("flux/v9.9.9/rbac.yaml").unwrap(), None);
}

#[test]
fn a_folder_without_flux_is_refused() {
    let empty = TempDir::new().unwrap();
    let message = Folder::open_distribution(empty.path()).unwrap_err().to_string();
    assert!(message.contains(&empty.path().display().to_string()), "{message}");
    assert!(message.contains("has no folder flux/"), "{message}");
    Folder::open_distribution(empty.path().join("nowhere")).unwrap_err();
}

#[test]
fn a_file_that_is_no_text_or_too_large_is_refused() {
    let (guard, folder) =
        folder(&[("flux/v2.9.5/bytes.yaml", &[0xff, 0xfe]), ("flux/v2.9.5/large.yaml", b"")]);
    let large = fs::File::create(guard.path().join("flux/v2.9.5/large.yaml")).unwrap();
    large.set_len(MAX_FILE_BYTES + 1).unwrap();
    let message = |path: &str| folder.read(path).unwrap_err().to_string();
    assert!(message("flux/v2.9.5/bytes.yaml").contains("UTF-8"), "{}", message("flux/v2.9.5/bytes.yaml"));
    assert_eq!(message("flux/v2.9.5/large.yaml"), "it has more than 10485760 bytes");
    large.set_len(MAX_FILE_BYTES).unwrap();
    folder.read("flux/v2.9.5/large.yaml").unwrap();
}

#[test]
fn a_folder_with_too_many_entries_is_refused() {
    let (guard, folder) = folder(&[("flux/v2.9.0/rbac.yaml", b"")]);
    for version in 1..=MAX_ENTRIES {
        fs::create_dir(guard.path().join(format!("flux/v2.9.{version}"))).unwrap();
    }
    assert_eq!(folder.folders("flux").unwrap_err().to_string(), "it has more than 1000 entries");
}
