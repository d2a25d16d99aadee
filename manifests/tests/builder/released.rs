//! Every spec over every released distribution, against the digests of kustomize's answers.

use std::cell::RefCell;

use data_encoding::HEXLOWER;
use manifests::{
    distribution::Texts,
    flux_instance::{Build, build},
    objects,
    render::strip_descriptions,
};
use sha2::{Digest as _, Sha256};

use crate::files::{Folder, Parsed, answers, released_manifests, specs};

const VERSIONS: [&str; 5] = ["v2.6.4", "v2.7.5", "v2.8.8", "v2.9.3", "v2.9.4"];

#[test]
fn every_object_is_the_one_that_kustomize_makes() {
    let Some(root) = released_manifests("every_object_is_the_one_that_kustomize_makes") else { return };
    let mut differences = Vec::new();
    for version in VERSIONS {
        let folder = Folder { root: root.clone(), versions: vec![version.to_owned()] };
        let distribution = Parsed { distribution: Texts(folder), files: RefCell::default() };
        let mut ours = Vec::new();
        for (name, instance) in specs() {
            let namespace = instance.metadata.namespace.clone().unwrap_or("flux-system".to_owned());
            let built = build(&instance, &namespace, &distribution);
            match built {
                Ok(built) if instance.violations().is_empty() => ours.extend(lines(&name, &built)),
                _ => ours.push(format!("{name}\tERROR")),
            }
        }
        let theirs = answers(version);
        differences.extend(only_in(&theirs, &ours).map(|line| format!("{version} kustomize: {line}")));
        differences.extend(only_in(&ours, &theirs).map(|line| format!("{version} ours:      {line}")));
    }
    assert!(
        differences.is_empty(),
        "{} lines differ; `go run . print SPEC DISTRIBUTION` in e2e/oracles/builder shows an object:\n{}",
        differences.len(),
        differences[..differences.len().min(60)].join("\n")
    );
}

/// As the oracle prints them: spec, object and the start of the digest of its canonical JSON.
fn lines(spec: &str, built: &Build) -> Vec<String> {
    let mut lines: Vec<String> = built
        .objects
        .iter()
        .map(|object| {
            let mut object = object.clone();
            strip_descriptions(&mut object);
            let digest = Sha256::digest(serde_json::to_string(&object).unwrap());
            let digest = HEXLOWER.encode(digest.get(..8).unwrap());
            let namespace = objects::namespace(&object).unwrap_or_default();
            format!("{spec}\t{}/{namespace}/{}\t{digest}", objects::kind(&object), objects::name(&object))
        })
        .collect();
    lines.sort();
    lines
}

fn only_in<'a>(these: &'a [String], others: &'a [String]) -> impl Iterator<Item = &'a String> {
    these.iter().filter(|line| !others.contains(line))
}
