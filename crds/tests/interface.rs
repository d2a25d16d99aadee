//! What people and scripts know our kinds by.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

use crds::definitions;
use serde_json::{Value, json};

fn definition(kind: &str) -> Value {
    let found = definitions().into_iter().find(|definition| definition.definition.spec.names.kind == kind);
    serde_json::to_value(found.unwrap().definition).unwrap()
}

fn columns(kind: &str) -> Vec<Value> {
    definition(kind)["spec"]["versions"][0]["additionalPrinterColumns"].as_array().unwrap().clone()
}

#[test]
fn short_names_and_categories_are_those_that_people_type() {
    let names = |kind: &str| definition(kind)["spec"]["names"].clone();
    assert_eq!(
        names("FluxInstance"),
        json!({
            "categories": ["fluxcd", "fluxcd-appliers"],
            "kind": "FluxInstance", "plural": "fluxinstances", "singular": "fluxinstance",
        })
    );
    assert_eq!(
        names("FluxReport"),
        json!({"categories": ["fluxcd"], "kind": "FluxReport", "plural": "fluxreports", "singular": "fluxreport"})
    );
    assert_eq!(
        names("ResourceSet"),
        json!({
            "categories": ["all", "fluxcd", "fluxcd-appliers"],
            "kind": "ResourceSet", "plural": "resourcesets", "singular": "resourceset", "shortNames": ["rset"],
        })
    );
    assert_eq!(
        names("ResourceSetInputProvider"),
        json!({
            "categories": ["all", "fluxcd", "fluxcd-sources"],
            "kind": "ResourceSetInputProvider", "plural": "resourcesetinputproviders",
            "singular": "resourcesetinputprovider", "shortNames": ["rsip"],
        })
    );
}

#[test]
fn every_kind_is_namespaced_and_has_one_version_with_a_status() {
    assert_eq!(definitions().len(), 4);
    for definition in definitions() {
        let definition = serde_json::to_value(definition.definition).unwrap();
        assert_eq!(definition["spec"]["group"], "fluxcd.controlplane.io");
        assert_eq!(definition["spec"]["scope"], "Namespaced");
        let versions = definition["spec"]["versions"].as_array().unwrap();
        assert_eq!(versions.len(), 1);
        assert_eq!(versions[0]["name"], "v1");
        assert_eq!(versions[0]["served"], true);
        assert_eq!(versions[0]["storage"], true);
        assert_eq!(versions[0]["subresources"], json!({"status": {}}));
    }
}

#[test]
fn columns_have_their_order_and_only_the_entitlement_needs_the_wide_output() {
    let titles = |kind: &str| -> Vec<String> {
        columns(kind).iter().map(|column| column["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(titles("FluxInstance"), ["Age", "Ready", "Suspended", "Status", "Revision"]);
    assert_eq!(titles("FluxReport"), ["Entitlement", "Age", "Ready", "Suspended", "Status", "LastUpdated"]);
    assert_eq!(titles("ResourceSet"), ["Age", "Ready", "Suspended", "Status"]);
    assert_eq!(titles("ResourceSetInputProvider"), ["Age", "Ready", "Suspended", "Status"]);
    for kind in ["FluxInstance", "FluxReport", "ResourceSet", "ResourceSetInputProvider"] {
        let hidden: Vec<Value> =
            columns(kind).into_iter().filter(|column| !column["priority"].is_null()).collect();
        assert!(hidden.iter().all(|column| column["name"] == "Entitlement" && column["priority"] == 10));
    }
}

#[test]
fn a_column_shows_the_annotation_that_pauses() {
    for kind in ["FluxInstance", "FluxReport", "ResourceSet", "ResourceSetInputProvider"] {
        let columns = columns(kind);
        let suspended = columns.iter().find(|column| column["name"] == "Suspended").unwrap();
        let key = crds::keys::RECONCILE.replace('.', r"\.");
        assert_eq!(suspended["jsonPath"], format!(".metadata.annotations.{key}"));
    }
}
