//! Versions of the controllers: images of the deployments and image lists.

use manifests_flux::releases;

use crate::objects::{documents, of_kind, release, text};

/// Component -> version, as the Go modules `github.com/fluxcd/flux2/v2` of the two releases pin them.
pub(crate) const PINNED: [(&str, &[(&str, &str)]); 2] = [
    (
        "v2.6.4",
        &[
            ("helm-controller", "v1.3.0"),
            ("image-automation-controller", "v0.41.2"),
            ("image-reflector-controller", "v0.35.2"),
            ("kustomize-controller", "v1.6.1"),
            ("notification-controller", "v1.6.0"),
            ("source-controller", "v1.6.2"),
        ],
    ),
    (
        "v2.9.5",
        &[
            ("helm-controller", "v1.6.4"),
            ("image-automation-controller", "v1.2.5"),
            ("image-reflector-controller", "v1.2.5"),
            ("kustomize-controller", "v1.9.5"),
            ("notification-controller", "v1.9.4"),
            ("source-controller", "v1.9.5"),
            ("source-watcher", "v2.2.4"),
        ],
    ),
];

const REGISTRIES: [(&str, &str); 4] = [
    ("enterprise-alpine", "ghcr.io/controlplaneio-fluxcd/alpine"),
    ("enterprise-distroless", "ghcr.io/controlplaneio-fluxcd/distroless"),
    ("enterprise-distroless-fips", "ghcr.io/controlplaneio-fluxcd/distroless-fips"),
    ("upstream-alpine", "ghcr.io/fluxcd"),
];

#[test]
fn releases_are_embedded_in_ascending_order() {
    let versions: Vec<&str> = releases().iter().map(|release| release.version).collect();
    assert_eq!(versions, PINNED.map(|(version, _)| version));
}

#[test]
fn every_component_runs_its_pinned_image_in_the_container_manager() {
    for (version, components) in PINNED {
        let mut found: Vec<(String, String)> = of_kind(version, "Deployment")
            .iter()
            .map(|deployment| {
                let containers = deployment["spec"]["template"]["spec"]["containers"].as_array().unwrap();
                assert_eq!(containers.len(), 1);
                assert_eq!(containers[0]["name"], "manager");
                (text(&deployment["metadata"]["name"]).to_owned(), text(&containers[0]["image"]).to_owned())
            })
            .collect();
        found.sort();
        let expected: Vec<(String, String)> = components
            .iter()
            .map(|(component, tag)| ((*component).to_owned(), format!("fluxcd/{component}:{tag}")))
            .collect();
        assert_eq!(found, expected, "{version}");
    }
}

#[test]
fn image_lists_have_the_pinned_tag_of_every_component_and_no_digest() {
    for (version, components) in PINNED {
        let variants: Vec<&str> = release(version).images.iter().map(|list| list.name).collect();
        assert_eq!(variants, REGISTRIES.map(|(variant, _)| variant), "{version}");
        for (list, (variant, registry)) in release(version).images.iter().zip(REGISTRIES) {
            let documents = documents(list);
            assert_eq!(documents.len(), 1, "{version} {variant}");
            let mut images = documents[0]["images"].as_array().unwrap().clone();
            images.sort_by_key(|image| text(&image["name"]).to_owned());
            let expected: Vec<_> = components
                .iter()
                .map(|(component, tag)| {
                    serde_json::json!({"name": format!("{registry}/{component}"), "newTag": tag})
                })
                .collect();
            assert_eq!(images, expected, "{version} {variant}");
        }
    }
}

#[test]
fn debug_output_of_a_file_is_short() {
    let release = format!("{:?}", release("v2.9.5"));
    assert!(release.contains("source-controller") && release.contains("json_bytes"), "{release}");
    assert!(!release.contains("apiVersion"), "{release}");
}
