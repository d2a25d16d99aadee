//! Which trees of YAML files the build takes, and how it refuses the others.

#[path = "../../build/distribution.rs"]
pub(crate) mod distribution;

use std::{fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use distribution::{Distribution, Error, Folders};

const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: a\n";
const DEFINITION: &str = "kind: CustomResourceDefinition\nmetadata:\n  name: as.example\n";
const IMAGES: &str = "images:\n- name: registry/a\n  newTag: v1\n";

/// A tree with one release of one component.
fn tree() -> TempDir {
    let tree = tempfile::tempdir().unwrap();
    put(&tree, "flux/v2.9.5/a.yaml", DEPLOYMENT);
    put(&tree, "crds/v2.9.5/a.yaml", DEFINITION);
    put(&tree, "flux-images/v2.9.5/variant.yaml", IMAGES);
    tree
}

fn put(tree: &TempDir, path: &str, content: &str) {
    let path = tree.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn read(tree: &TempDir) -> Result<Distribution, Error> {
    distribution::read(&Folders { root: tree.path().to_owned(), generated: None })
}

fn read_generated(tree: &TempDir, generated: &Path) -> Result<Distribution, Error> {
    let generated = Some(tree.path().join(generated));
    distribution::read(&Folders { root: tree.path().to_owned(), generated })
}

fn refusal(result: Result<Distribution, Error>) -> String {
    result.unwrap_err().to_string()
}

fn kinds(documents: &[Value]) -> Vec<&Value> {
    documents.iter().map(|document| &document["kind"]).collect()
}

#[test]
fn a_file_is_its_definitions_and_then_its_objects() {
    let tree = tree();
    put(&tree, "flux/v2.9.5/rbac.yaml", "kind: Role\n---\nkind: RoleBinding\n");
    let distribution = read(&tree).unwrap();
    assert_eq!(distribution.releases.len(), 1);
    let release = &distribution.releases[0];
    assert_eq!(release.version, "v2.9.5");
    assert_eq!(release.files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), ["a", "rbac"]);
    assert_eq!(kinds(&release.files[0].documents), ["CustomResourceDefinition", "Deployment"]);
    assert_eq!(kinds(&release.files[1].documents), ["Role", "RoleBinding"]);
    assert_eq!(release.images[0].name, "variant");
    assert_eq!(release.images[0].documents, [json!({"images": [{"name": "registry/a", "newTag": "v1"}]})]);
}

#[test]
fn releases_are_sorted_by_number() {
    let tree = tree();
    for version in ["v2.10.0", "v2.9.10"] {
        for (folder, content) in [("flux", DEPLOYMENT), ("crds", DEFINITION), ("flux-images", IMAGES)] {
            put(&tree, &format!("{folder}/{version}/a.yaml"), content);
        }
    }
    let distribution = read(&tree).unwrap();
    let versions: Vec<&str> = distribution.releases.iter().map(|release| release.version.as_str()).collect();
    assert_eq!(versions, ["v2.9.5", "v2.9.10", "v2.10.0"]);
}

#[test]
fn files_are_sorted_by_name() {
    let tree = tree();
    for name in ["a-b", "0", "a"] {
        put(&tree, &format!("flux/v2.9.5/{name}.yaml"), DEPLOYMENT);
    }
    let distribution = read(&tree).unwrap();
    let names: Vec<&str> = distribution.releases[0].files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["0", "a", "a-b"]);
}

#[test]
fn generated_definitions_replace_the_committed_ones() {
    let tree = tree();
    put(&tree, "generated/v2.9.5/a.yaml", &format!("{DEFINITION}  description: more\n"));
    let distribution = read_generated(&tree, Path::new("generated")).unwrap();
    let definition = &distribution.releases[0].files[0].documents[0];
    assert_eq!(definition["metadata"]["description"], "more");
}

#[test]
fn a_generated_folder_that_is_not_there_is_refused() {
    let tree = tree();
    let refusal = refusal(read_generated(&tree, Path::new("nowhere")));
    assert!(refusal.contains("nowhere/v2.9.5/a.yaml, the definitions in FLUX_CRDS_DIR"), "{refusal}");
    assert!(refusal.contains("make them with generate-crds.sh"), "{refusal}");
}

#[test]
fn generated_definitions_with_another_schema_are_refused() {
    let tree = tree();
    put(&tree, "generated/v2.9.5/a.yaml", &format!("{DEFINITION}spec:\n  scope: Cluster\n"));
    let refusal = refusal(read_generated(&tree, Path::new("generated")));
    assert!(refusal.contains("generated/v2.9.5/a.yaml, in FLUX_CRDS_DIR, differs"), "{refusal}");
}

#[test]
fn a_property_that_is_called_description_is_no_description() {
    let schema = json!([{"description": "gone", "properties": {"description": {"type": "string"}}}]);
    let bare = json!([{"properties": {"description": {"type": "string"}}}]);
    assert_eq!(distribution::without_descriptions(schema), bare);
}

#[test]
fn definitions_without_a_component_are_refused() {
    let tree = tree();
    put(&tree, "crds/v2.9.5/b.yaml", DEFINITION);
    let refusal = refusal(read(&tree));
    assert!(
        refusal.contains("crds/v2.9.5/b.yaml") && refusal.contains("no manifests in flux/v2.9.5"),
        "{refusal}"
    );
}

#[test]
fn a_folder_that_is_not_named_after_a_release_is_refused() {
    for name in ["2.9.5", "v2.9", "v2.9.5-rc.1", "latest"] {
        let tree = tree();
        put(&tree, &format!("flux/{name}/a.yaml"), DEPLOYMENT);
        let refusal = refusal(read(&tree));
        assert!(refusal.contains(&format!("flux/{name} is not named after a Flux release")), "{refusal}");
    }
}

#[test]
fn a_release_without_definitions_or_image_lists_is_refused() {
    for folder in ["crds", "flux-images"] {
        let tree = tree();
        fs::remove_dir_all(tree.path().join(folder).join("v2.9.5")).unwrap();
        let refused = refusal(read(&tree));
        assert!(refused.contains("failed to list") && refused.contains(folder), "{refused}");
        put(&tree, &format!("{folder}/v2.9.5/README.md"), "");
        let refused = refusal(read(&tree));
        assert!(refused.contains(&format!("{folder}/v2.9.5 has no YAML files")), "{refused}");
    }
}

#[test]
fn a_file_that_is_no_yaml_is_named() {
    let tree = tree();
    put(&tree, "flux/v2.9.5/a.yaml", "kind: [");
    let refusal = refusal(read(&tree));
    assert!(refusal.contains("failed to parse") && refusal.contains("flux/v2.9.5/a.yaml"), "{refusal}");
}

#[test]
fn a_file_that_is_no_text_is_named() {
    let tree = tree();
    fs::write(tree.path().join("flux/v2.9.5/a.yaml"), [0xff]).unwrap();
    let refusal = refusal(read(&tree));
    assert!(refusal.contains("failed to read") && refusal.contains("flux/v2.9.5/a.yaml"), "{refusal}");
}
