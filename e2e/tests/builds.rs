//! The scripts that build the programs of the bed, with a stand-in for Go.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// Writes a line for each build, and what it is asked to write; fails at the program that `FAIL_AT` names.
const GO: &str = r#"#!/usr/bin/env bash
case $1 in
env) for name in "${@:2}"; do echo "$CACHE/$name $GO_VERSION"; done ;;
build) while [ "$1" != -o ]; do shift; done; program=$2 ;;
install) program=${!#}; program=$GOBIN/$(basename "${program%@*}") ;;
esac
[ -n "${program:-}" ] || exit 0
name=$(basename "$program")
echo "$name" >>"$CACHE/built"
[ "$name" != "${FAIL_AT:-}" ] || exit 1
touch "$program"
"#;

struct Bed {
    folder: TempDir,
}

impl Bed {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let go = folder.path().join("go");
        fs::write(&go, GO).unwrap();
        fs::set_permissions(&go, fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder }
    }

    fn command(&self, script: &str, arguments: &[&str]) -> Command {
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join(script));
        command
            .args(arguments)
            .env("PATH", format!("{}:{path}", self.folder.path().display()))
            .env("XDG_CACHE_HOME", self.folder.path())
            .env("CACHE", self.folder.path())
            .env("GO_VERSION", "go1");
        command
    }

    fn built(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder.path().join("built")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The folders of finished and unfinished builds.
    fn folders(&self) -> usize {
        let programs = self.folder.path().join("flux-operator/programs");
        fs::read_dir(programs).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir()).count()
    }
}

fn path(output: &Output) -> PathBuf {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().into()
}

#[test]
fn programs_are_built_once_and_found_again() {
    let bed = Bed::new();
    let first = path(&bed.command("build.sh", &[]).output().unwrap());
    assert!(first.join("control-plane").is_file() && first.join("kwok").is_file());
    let second = path(&bed.command("build.sh", &["1.36"]).output().unwrap());
    assert_eq!(first, second);
    assert_eq!(bed.built(), ["control-plane", "kwok"]);
    assert!(path(&bed.command("tools/build.sh", &["helm"]).output().unwrap()).ends_with("helm"));
    let controllers = path(&bed.command("tools/build.sh", &["flux-controllers"]).output().unwrap());
    assert!(controllers.join("source-controller").is_file());
}

#[test]
fn callers_at_the_same_time_wait_for_one_build() {
    let bed = Bed::new();
    let callers: Vec<_> = (0..4)
        .map(|_| {
            bed.command("tools/build.sh", &["node"]).stdout(std::process::Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let paths: Vec<_> = callers.into_iter().map(|caller| path(&caller.wait_with_output().unwrap())).collect();
    assert!(paths.iter().all(|path| *path == paths[0]), "{paths:?}");
    assert_eq!(bed.built(), ["kubelet", "kube-proxy", "coredns", "pause"]);
}

#[test]
fn another_version_of_go_builds_anew() {
    let bed = Bed::new();
    let first = path(&bed.command("tools/build.sh", &["crane"]).output().unwrap());
    let second = path(&bed.command("tools/build.sh", &["crane"]).env("GO_VERSION", "go2").output().unwrap());
    assert_ne!(first, second);
}

#[test]
fn a_failed_build_says_so_and_leaves_nothing() {
    let bed = Bed::new();
    let output = bed.command("build.sh", &[]).env("FAIL_AT", "kwok").output().unwrap();
    assert!(!output.status.success());
    assert!(output.stdout.is_empty());
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("programs: kwok: failed"), "{message}");
    assert_eq!(bed.folders(), 0);
}

#[test]
fn what_a_killed_build_left_is_removed_by_the_next() {
    let bed = Bed::new();
    let left = bed.folder.path().join("flux-operator/programs/building-left");
    fs::create_dir_all(&left).unwrap();
    path(&bed.command("tools/build.sh", &["helm"]).output().unwrap());
    assert!(!left.exists());
}

#[test]
fn unknown_programs_are_refused_by_name() {
    let bed = Bed::new();
    for (script, argument) in [("build.sh", "1.30"), ("tools/build.sh", "kubectl")] {
        let output = bed.command(script, &[argument]).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(&format!("'{argument}' is not known: use ")), "{message}");
    }
    assert!(bed.built().is_empty());
}
