//! The committed definitions are what the types say.

use std::{collections::BTreeSet, fs, path::Path};

use crds::definitions;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("yaml")
}

#[test]
fn the_committed_definitions_are_up_to_date() {
    for definition in definitions() {
        let path = folder().join(definition.file_name);
        let committed = fs::read_to_string(&path).unwrap();
        let generated = serde_saphyr::to_string(&definition.definition).unwrap();
        assert!(committed == generated, "{} is stale: run `make generate`", path.display());
    }
}

#[test]
fn the_folder_holds_no_definition_of_a_kind_that_is_gone() {
    let committed: BTreeSet<String> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let generated: BTreeSet<String> =
        definitions().iter().map(|definition| definition.file_name.to_owned()).collect();
    assert_eq!(committed, generated);
}

#[test]
fn every_field_is_documented() {
    for definition in definitions() {
        let definition = serde_json::to_value(&definition.definition).unwrap();
        let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        let mut bare = Vec::new();
        collect_bare_fields(schema, "", &mut bare);
        assert!(bare.is_empty(), "fields without documentation: {bare:?}");
    }
}

fn collect_bare_fields(schema: &serde_json::Value, path: &str, bare: &mut Vec<String>) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        if field["description"].as_str().unwrap_or_default().is_empty() {
            bare.push(path.clone());
        }
        collect_bare_fields(field, &path, bare);
    }
    if let Some(items) = schema.get("items") {
        collect_bare_fields(items, &format!("{path}[]"), bare);
    }
}
