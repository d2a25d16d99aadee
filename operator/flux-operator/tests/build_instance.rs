//! `flux-operator build instance` as a person runs it.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

const SMALLEST: &str = "
apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata:
  name: flux
spec:
  distribution:
    version: 2.x
    registry: ghcr.io/fluxcd
";

/// Runs the command with the instance on standard input.
fn build(instance: &str, arguments: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_flux-operator"))
        .args(["build", "instance", "-f", "-"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses its arguments does not read.
    let _ = child.stdin.take().unwrap().write_all(instance.as_bytes());
    child.wait_with_output().unwrap()
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

fn refused(instance: &str, arguments: &[&str]) -> String {
    let output = build(instance, arguments);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(stdout(&output), "", "nothing is written when the input is refused");
    let message = stderr(&output).trim_end().to_owned();
    assert!(message.starts_with("✗ ") && message.lines().count() == 1, "{message}");
    message
}

#[test]
fn an_instance_is_found_in_a_list() {
    let item = SMALLEST.trim().replace('\n', "\n  ");
    let list = format!("apiVersion: v1\nkind: List\nitems:\n- {item}\n");
    assert_eq!(stdout(&build(&list, &[])), stdout(&build(SMALLEST, &[])));
}

#[test]
fn the_smallest_instance_renders_flux() {
    let output = build(SMALLEST, &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    assert!(stdout(&output).starts_with("---\napiVersion: apiextensions.k8s.io/v1\n"));
    assert_eq!(stdout(&output).matches("\nkind: Deployment\n").count(), 4);
    assert!(stdout(&output).contains("image: ghcr.io/fluxcd/source-controller:v1.9.5\n"));
    assert!(stdout(&output).contains("namespace: flux-system\n"));
}

#[test]
fn a_file_gives_what_standard_input_gives() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("flux.yaml");
    fs::write(&file, SMALLEST).unwrap();
    for flag in ["-f", "--filename"] {
        let output = Command::new(env!("CARGO_BIN_EXE_flux-operator"))
            .args(["build", "instance", flag])
            .arg(&file)
            .output()
            .unwrap();
        assert_eq!(stdout(&output), stdout(&build(SMALLEST, &[])));
    }
}

#[test]
fn the_instance_is_found_among_other_objects() {
    let text = format!(
        "# secrets come first\n---\napiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\n---{SMALLEST}"
    );
    assert_eq!(stdout(&build(&text, &[])), stdout(&build(SMALLEST, &[])));
}

#[test]
fn everything_goes_into_the_namespace_of_the_instance() {
    let text = SMALLEST.replace("name: flux", "name: flux\n  namespace: gitops");
    let output = build(&text, &[]);
    assert!(!stdout(&output).contains("flux-system"), "{}", stdout(&output));
    assert!(stdout(&output).contains("kind: Namespace\nmetadata:\n"), "{}", stdout(&output));
}

/// A folder with one release of one component.
fn distribution() -> TempDir {
    let folder = TempDir::new().unwrap();
    let release = folder.path().join("flux/v2.9.7");
    fs::create_dir_all(&release).unwrap();
    let controller = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: source-controller}
";
    let rights = "{apiVersion: v1, kind: ConfigMap, metadata: {name: from-rbac}}";
    let policies = "{apiVersion: v1, kind: ConfigMap, metadata: {name: from-policies}}";
    for (file, text) in [("source-controller", controller), ("rbac", rights), ("policies", policies)] {
        fs::write(release.join(format!("{file}.yaml")), text).unwrap();
    }
    folder
}

#[test]
fn a_folder_of_manifests_takes_the_place_of_the_embedded_ones() {
    let folder = distribution();
    let path = folder.path().to_str().unwrap();
    let text = format!("{SMALLEST}  components: [source-controller]\n");
    let output = build(&text, &["--distribution-path", path]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("name: from-rbac-flux-system\n"));
    assert!(stdout(&output).contains("app.kubernetes.io/version: v2.9.7\n"));

    let missing = refused(SMALLEST, &["--distribution-path", path]);
    assert!(missing.contains("Flux v2.9.7 has no kustomize-controller in"), "{missing}");
    fs::write(folder.path().join("flux/v2.9.7/rbac.yaml"), "a: [\n").unwrap();
    let broken = refused(&text, &["--distribution-path", path]);
    assert!(broken.contains("flux/v2.9.7/rbac.yaml"), "{broken}");
    fs::write(folder.path().join("flux/v2.9.7/source-controller.yaml"), "").unwrap();
    let empty = refused(&text, &["--distribution-path", path]);
    assert!(empty.contains("source-controller.yaml of Flux v2.9.7"), "{empty}");
}

#[test]
fn an_artifact_is_refused_with_the_way_out() {
    let artifact = "oci://registry.example.com/manifests:v1";
    let in_spec = SMALLEST.replace("version: 2.x", &format!("version: 2.x\n    artifact: {artifact}"));
    let message = refused(&in_spec, &[]);
    assert!(
        message.contains("spec.distribution.artifact names the artifact oci://registry.example.com"),
        "{message}"
    );
    assert!(message.contains("--distribution-path"), "{message}");
    let message = refused(SMALLEST, &["--distribution-artifact", artifact]);
    assert!(
        message.contains("--distribution-artifact names the artifact oci://registry.example.com"),
        "{message}"
    );
    assert!(message.contains("--distribution-path"), "{message}");
}

#[test]
fn an_artifact_does_no_harm_beside_a_folder() {
    let in_spec =
        SMALLEST.replace("version: 2.x", "version: 2.x\n    artifact: oci://registry.example.com/a");
    let folder = distribution();
    let text = format!("{in_spec}  components: [source-controller]\n");
    let output = build(&text, &["--distribution-path", folder.path().to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("kind: Deployment"));
}

#[test]
fn a_field_of_the_wrong_type_is_named() {
    let message = refused(&format!("{SMALLEST}  wait: perhaps\n"), &[]);
    assert!(
        message.contains("standard input: spec.wait: invalid type: string \"perhaps\", expected a boolean"),
        "{message}"
    );
    let message = refused(&SMALLEST.replace("registry: ghcr.io/fluxcd", "regsitry: x"), &[]);
    assert!(message.contains("spec.distribution: missing field `registry`"), "{message}");
    let message = refused(&format!("{SMALLEST}  components: [sauce-controller]\n"), &[]);
    assert!(
        message.contains("spec.components[0]: unknown variant `sauce-controller`, expected one of"),
        "{message}"
    );
}

#[test]
fn a_broken_rule_is_refused_in_the_words_of_the_api_server() {
    let message = refused(&SMALLEST.replace("name: flux", "name: other"), &[]);
    assert!(
        message.contains("metadata.name: the only accepted name for a FluxInstance is 'flux'"),
        "{message}"
    );
}

#[test]
fn a_field_that_does_not_exist_is_a_warning() {
    let output = build(&format!("{SMALLEST}  componets: []\n"), &[]);
    assert!(output.status.success());
    assert_eq!(stderr(&output), "warning: a FluxInstance has no field spec.componets: it has no effect\n");
    assert_eq!(stdout(&output), stdout(&build(SMALLEST, &[])));
}

#[test]
fn a_key_that_is_there_twice_is_a_warning() {
    let output = build(&format!("{SMALLEST}  wait: true\n  wait: false\n"), &[]);
    assert!(output.status.success());
    assert_eq!(
        stderr(&output),
        "warning: line 11: wait is there twice, and only the last one has an effect\n"
    );
}

#[test]
fn an_optional_parent_does_not_show_in_the_path_of_a_field() {
    let output = build(&format!("{SMALLEST}  cluster: {{domian: x}}\n"), &[]);
    assert_eq!(
        stderr(&output),
        "warning: a FluxInstance has no field spec.cluster.domian: it has no effect\n"
    );
}

#[test]
fn the_namespace_of_the_command_is_for_instances_that_name_none() {
    let output = build(SMALLEST, &["-n", "gitops"]);
    assert!(stdout(&output).contains("namespace: gitops\n") && !stdout(&output).contains("flux-system"));
    let named = SMALLEST.replace("name: flux", "name: flux\n  namespace: own");
    assert!(stdout(&build(&named, &["-n", "gitops"])).contains("namespace: own\n"));
}

#[test]
fn a_patch_without_effect_is_a_warning() {
    let patch = "
  kustomize:
    patches:
    - target: {kind: Deployment, name: sauce-controller}
      patch: '[{op: add, path: /metadata/labels/a, value: b}]'
";
    let output = build(&format!("{SMALLEST}{patch}"), &[]);
    assert!(output.status.success());
    let warning = stderr(&output);
    assert!(
        warning
            .starts_with("warning: spec.kustomize.patches[0] (target kind=Deployment,name=sauce-controller)"),
        "{warning}"
    );
}

#[test]
fn what_is_not_an_instance_is_described() {
    let message = refused("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\na: 1\n", &[]);
    assert!(message.contains("it holds: ConfigMap of v1, a document without kind"), "{message}");
    let message = refused("", &[]);
    assert!(message.contains("standard input is empty"), "{message}");
    let message = refused(&format!("{SMALLEST}---{SMALLEST}"), &[]);
    assert!(message.contains("2 FluxInstances"), "{message}");
    let message = refused("a: [1\nb: 2\n", &[]);
    assert!(message.contains("standard input is not YAML"), "{message}");
    let message = refused(&"#".repeat(4 * 1024 * 1024 + 1), &[]);
    assert!(message.contains("more than 4194304 bytes"), "{message}");
}

#[test]
fn a_missing_file_is_named() {
    let output = Command::new(env!("CARGO_BIN_EXE_flux-operator"))
        .args(["build", "instance", "-f", "/nowhere/flux.yaml"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).starts_with("✗ failed to read /nowhere/flux.yaml: No such file"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn the_version_is_printed() {
    for arguments in [&["version"][..], &["version", "--client"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_flux-operator")).args(arguments).output().unwrap();
        assert_eq!(stdout(&output), "client: 0.60.0\n");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_flux-operator")).arg("--version").output().unwrap();
    assert_eq!(stdout(&output), "flux-operator 0.60.0\n");
}

#[test]
fn the_readme_shows_the_digest_that_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let example = fs::read_to_string(root.join("examples/smallest/flux.yaml")).unwrap();
    let output = build(&example, &[]);
    let digest = HEXLOWER.encode(&Sha256::digest(&output.stdout));
    assert!(readme.contains(&format!("{digest}  -\n")), "the README shows another digest than {digest}");
}

#[test]
fn the_readme_shows_the_images_that_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let output = build(&fs::read_to_string(root.join("examples/two-clusters/flux.yaml")).unwrap(), &[]);
    let images: Vec<&str> =
        stdout(&output).lines().filter_map(|line| line.trim().strip_prefix("image: ")).collect();
    assert!(images.len() > 5, "{images:?}");
    for image in images {
        assert!(readme.contains(&format!("    {image}\n")), "the demo's output is old: {image}");
    }
}

#[test]
fn every_example_builds_without_a_warning() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for example in fs::read_dir(examples).unwrap() {
        let text = fs::read_to_string(example.unwrap().path().join("flux.yaml")).unwrap();
        let output = build(&text, &[]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(stderr(&output), "");
    }
}
