//! The embedded definitions (CRDs).

use serde_json::Value;

use crate::objects::{documents, file, key, of_kind, release, text};

/// Name -> versions, the stored one first, as the API modules of the release mark them.
const VERSIONS_2_6: [(&str, &[&str]); 13] = [
    ("alerts.notification.toolkit.fluxcd.io", &["v1beta3", "v1beta1", "v1beta2"]),
    ("buckets.source.toolkit.fluxcd.io", &["v1", "v1beta1", "v1beta2"]),
    ("gitrepositories.source.toolkit.fluxcd.io", &["v1", "v1beta1", "v1beta2"]),
    ("helmcharts.source.toolkit.fluxcd.io", &["v1", "v1beta1", "v1beta2"]),
    ("helmreleases.helm.toolkit.fluxcd.io", &["v2", "v2beta1", "v2beta2"]),
    ("helmrepositories.source.toolkit.fluxcd.io", &["v1", "v1beta1", "v1beta2"]),
    ("imagepolicies.image.toolkit.fluxcd.io", &["v1beta2", "v1beta1"]),
    ("imagerepositories.image.toolkit.fluxcd.io", &["v1beta2", "v1beta1"]),
    ("imageupdateautomations.image.toolkit.fluxcd.io", &["v1beta2", "v1beta1"]),
    ("kustomizations.kustomize.toolkit.fluxcd.io", &["v1", "v1beta1", "v1beta2"]),
    ("ocirepositories.source.toolkit.fluxcd.io", &["v1", "v1beta2"]),
    ("providers.notification.toolkit.fluxcd.io", &["v1beta3", "v1beta1", "v1beta2"]),
    ("receivers.notification.toolkit.fluxcd.io", &["v1", "v1beta1", "v1beta2"]),
];

const VERSIONS_2_9: [(&str, &[&str]); 15] = [
    ("alerts.notification.toolkit.fluxcd.io", &["v1beta3"]),
    ("artifactgenerators.source.extensions.fluxcd.io", &["v1beta1"]),
    ("buckets.source.toolkit.fluxcd.io", &["v1"]),
    ("externalartifacts.source.toolkit.fluxcd.io", &["v1"]),
    ("gitrepositories.source.toolkit.fluxcd.io", &["v1"]),
    ("helmcharts.source.toolkit.fluxcd.io", &["v1"]),
    ("helmreleases.helm.toolkit.fluxcd.io", &["v2"]),
    ("helmrepositories.source.toolkit.fluxcd.io", &["v1"]),
    ("imagepolicies.image.toolkit.fluxcd.io", &["v1"]),
    ("imagerepositories.image.toolkit.fluxcd.io", &["v1"]),
    ("imageupdateautomations.image.toolkit.fluxcd.io", &["v1"]),
    ("kustomizations.kustomize.toolkit.fluxcd.io", &["v1"]),
    ("ocirepositories.source.toolkit.fluxcd.io", &["v1"]),
    ("providers.notification.toolkit.fluxcd.io", &["v1beta3"]),
    ("receivers.notification.toolkit.fluxcd.io", &["v1"]),
];

#[test]
fn kinds_have_the_versions_of_their_release() {
    for (version, expected) in [("v2.6.4", &VERSIONS_2_6[..]), ("v2.9.5", &VERSIONS_2_9[..])] {
        let mut found: Vec<(String, Vec<String>)> =
            of_kind(version, "CustomResourceDefinition").iter().map(versions).collect();
        found.sort();
        let expected: Vec<(String, Vec<String>)> = expected
            .iter()
            .map(|(name, versions)| {
                ((*name).to_owned(), versions.iter().copied().map(str::to_owned).collect())
            })
            .collect();
        assert_eq!(found, expected, "{version}");
    }
}

/// Name, and versions with the one stored version first.
fn versions(definition: &Value) -> (String, Vec<String>) {
    let versions = definition["spec"]["versions"].as_array().unwrap();
    let names = |stored: bool| {
        versions.iter().filter(move |version| version["storage"] == stored).map(|version| {
            assert_eq!(version["served"], true, "{}", key(definition));
            text(&version["name"]).to_owned()
        })
    };
    assert_eq!(names(true).count(), 1, "{} is stored in one version", key(definition));
    (text(&definition["metadata"]["name"]).to_owned(), names(true).chain(names(false)).collect())
}

#[test]
fn every_version_has_a_schema_for_its_spec_and_for_a_status_that_it_has() {
    for version in ["v2.6.4", "v2.9.5"] {
        for definition in of_kind(version, "CustomResourceDefinition") {
            for served in definition["spec"]["versions"].as_array().unwrap() {
                let properties = &served["schema"]["openAPIV3Schema"]["properties"];
                let name = format!("{version} {} {}", key(&definition), served["name"]);
                assert!(properties["spec"].is_object(), "{name}");
                assert_eq!(
                    properties["status"].is_object(),
                    served["subresources"]["status"].is_object(),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn definitions_name_their_generator() {
    for (version, generator) in [("v2.6.4", "v0.19.0"), ("v2.9.5", "v0.21.0")] {
        for definition in of_kind(version, "CustomResourceDefinition") {
            let annotations = &definition["metadata"]["annotations"];
            assert_eq!(
                annotations["controller-gen.kubebuilder.io/version"],
                generator,
                "{}",
                key(&definition)
            );
        }
    }
}

/// Descriptions have `${var:=default}` as an example, which a Flux that applies itself must leave alone. The API modules
/// ask for it since 2.9.
#[test]
fn definitions_of_2_9_are_exempt_from_variable_substitution() {
    for (version, expected) in [("v2.6.4", Value::Null), ("v2.9.5", Value::from("disabled"))] {
        for definition in of_kind(version, "CustomResourceDefinition") {
            let annotations = &definition["metadata"]["annotations"];
            assert_eq!(
                annotations["kustomize.toolkit.fluxcd.io/substitute"],
                expected,
                "{}",
                key(&definition)
            );
        }
    }
}

#[test]
fn definitions_come_before_the_objects_of_their_component() {
    for version in ["v2.6.4", "v2.9.5"] {
        for file in release(version).files.iter().filter(|file| !["policies", "rbac"].contains(&file.name)) {
            let objects = documents(file);
            let definitions =
                objects.iter().take_while(|object| object["kind"] == "CustomResourceDefinition").count();
            assert!(definitions > 0, "{version} {} has definitions", file.name);
            let rest = objects.iter().skip(definitions);
            assert!(rest.clone().count() > 0, "{version} {} has other objects", file.name);
            assert!(rest.clone().all(|object| object["kind"] != "CustomResourceDefinition"));
        }
    }
}

#[test]
fn rights_and_policies_have_no_definitions() {
    for version in ["v2.6.4", "v2.9.5"] {
        for name in ["policies", "rbac"] {
            assert!(file(version, name).iter().all(|object| object["kind"] != "CustomResourceDefinition"));
        }
    }
}
