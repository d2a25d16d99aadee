//! The embedded objects against those that the Flux project released.

use std::path::Path;

use serde_json::Value;

use crate::{
    build::distribution::without_descriptions,
    objects::{
        self, Difference, Objects, by_key, differences, documents, key, release, released_dir, text,
        yaml_files,
    },
    script,
};

/// A difference between our objects and the released ones that is meant to be.
struct Meant {
    /// `Kind/name`; `Kind/*` is every object of the kind.
    object: &'static str,
    path: &'static str,
    ours: &'static str,
    theirs: &'static str,
    reason: &'static str,
}

const GENERATOR: Meant = Meant {
    object: "CustomResourceDefinition/*",
    path: "/metadata/annotations/controller-gen.kubebuilder.io~1version",
    ours: "v0.19.0",
    theirs: "v0.16.1",
    reason: "today's Go does not compile the generator that 2.6.4 was released with; the schemas are the same",
};

/// The next patch release brings new versions of the controllers, and nothing else.
const fn image(object: &'static str, ours: &'static str, theirs: &'static str) -> Meant {
    let reason = "Flux 2.9.5 pins the next release of the controller";
    Meant { object, path: "/spec/template/spec/containers/0/image", ours, theirs, reason }
}

const IMAGES: [Meant; 7] = [
    image("Deployment/helm-controller", "fluxcd/helm-controller:v1.6.4", "fluxcd/helm-controller:v1.6.3"),
    image(
        "Deployment/image-automation-controller",
        "fluxcd/image-automation-controller:v1.2.5",
        "fluxcd/image-automation-controller:v1.2.4",
    ),
    image(
        "Deployment/image-reflector-controller",
        "fluxcd/image-reflector-controller:v1.2.5",
        "fluxcd/image-reflector-controller:v1.2.4",
    ),
    image(
        "Deployment/kustomize-controller",
        "fluxcd/kustomize-controller:v1.9.5",
        "fluxcd/kustomize-controller:v1.9.4",
    ),
    image(
        "Deployment/notification-controller",
        "fluxcd/notification-controller:v1.9.4",
        "fluxcd/notification-controller:v1.9.3",
    ),
    image(
        "Deployment/source-controller",
        "fluxcd/source-controller:v1.9.5",
        "fluxcd/source-controller:v1.9.4",
    ),
    image("Deployment/source-watcher", "fluxcd/source-watcher:v2.2.4", "fluxcd/source-watcher:v2.2.3"),
];

impl Meant {
    fn covers(&self, difference: &Difference) -> bool {
        let object = match self.object.strip_suffix('*') {
            Some(kind) => difference.object.starts_with(kind),
            None => difference.object == self.object,
        };
        object
            && difference.path == self.path
            && difference.ours == self.ours
            && difference.theirs == self.theirs
    }
}

/// Fails on a difference that is not meant, and on a meant one that is not there.
fn assert_only(meant: &[Meant], ours: &Objects, theirs: &Objects) {
    let found = differences(ours, theirs);
    let surprising: Vec<_> =
        found.iter().filter(|difference| !meant.iter().any(|row| row.covers(difference))).collect();
    assert!(surprising.is_empty(), "differences that nobody meant: {surprising:#?}");
    for row in meant {
        let there = found.iter().any(|difference| row.covers(difference));
        assert!(there, "{} {} does not differ any more ({})", row.object, row.path, row.reason);
    }
}

fn embedded(version: &str) -> Objects {
    by_key(objects::all(version).into_iter().map(bare))
}

fn released(dir: &Path, version: &str) -> Objects {
    by_key(yaml_files(&dir.join("flux").join(version)).into_values().flatten().map(bare))
}

/// Whether definitions have descriptions depends on the build.
fn bare(object: Value) -> Value {
    if object["kind"] == "CustomResourceDefinition" { without_descriptions(object) } else { object }
}

#[test]
fn the_embedded_2_6_4_is_the_released_one() {
    let Some(dir) = released_dir("the_embedded_2_6_4_is_the_released_one") else { return };
    assert_only(&[GENERATOR], &embedded("v2.6.4"), &released(&dir, "v2.6.4"));
}

#[test]
fn the_embedded_2_9_5_differs_from_the_released_2_9_4_by_its_images() {
    let Some(dir) = released_dir("the_embedded_2_9_5_differs_from_the_released_2_9_4_by_its_images") else {
        return;
    };
    assert_only(&IMAGES, &embedded("v2.9.5"), &released(&dir, "v2.9.4"));
}

#[test]
fn files_hold_the_released_objects_in_the_released_order() {
    let Some(dir) = released_dir("files_hold_the_released_objects_in_the_released_order") else { return };
    for (version, like) in [("v2.6.4", "v2.6.4"), ("v2.9.5", "v2.9.4")] {
        let ours: Vec<(String, Vec<String>)> = release(version)
            .files
            .iter()
            .map(|file| (file.name.to_owned(), documents(file).iter().map(key).collect()))
            .collect();
        let theirs: Vec<(String, Vec<String>)> = yaml_files(&dir.join("flux").join(like))
            .into_iter()
            .map(|(name, documents)| (name, documents.iter().map(key).collect()))
            .collect();
        assert_eq!(ours, theirs, "{version}");
    }
}

/// What `kubectl explain` shows is what it shows with the released definitions.
#[test]
fn generated_descriptions_are_the_released_ones() {
    let Some(dir) = released_dir("generated_descriptions_are_the_released_ones") else { return };
    let generated = script::described_definitions();
    for (version, like, meant) in [("v2.6.4", "v2.6.4", &[GENERATOR][..]), ("v2.9.5", "v2.9.4", &[])] {
        let ours = by_key(yaml_files(&generated.path().join(version)).into_values().flatten());
        let mut theirs = by_key(yaml_files(&dir.join("flux").join(like)).into_values().flatten());
        theirs.retain(|key, _| key.starts_with("CustomResourceDefinition/"));
        assert_only(meant, &ours, &theirs);
    }
}

#[test]
fn image_lists_name_the_released_images_without_digests() {
    let Some(dir) = released_dir("image_lists_name_the_released_images_without_digests") else { return };
    for (version, like, same_tags) in [("v2.6.4", "v2.6.4", true), ("v2.9.5", "v2.9.4", false)] {
        let released = yaml_files(&dir.join("flux-images").join(like));
        let variants: Vec<&str> = release(version).images.iter().map(|list| list.name).collect();
        assert!(released.keys().eq(variants.iter()), "{version} has the variants {variants:?}");
        for list in release(version).images {
            let ours = &documents(list)[0]["images"];
            let theirs = &released[list.name][0]["images"];
            assert_eq!(column(ours, "name"), column(theirs, "name"), "{version} {}", list.name);
            assert_eq!(
                column(ours, "newTag") == column(theirs, "newTag"),
                same_tags,
                "{version} {}",
                list.name
            );
            assert!(column(theirs, "digest").iter().all(|digest| digest.starts_with("sha256:")));
        }
    }
}

fn column<'list>(images: &'list Value, field: &str) -> Vec<&'list str> {
    images.as_array().unwrap().iter().map(|image| text(&image[field])).collect()
}
