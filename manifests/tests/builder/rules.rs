//! Rules that no overlay can show: order, stability, rights, errors and warnings.

use std::collections::BTreeSet;

use crds::FluxInstance;
use data_encoding::HEXLOWER;
use manifests::{
    distribution::{Distribution, DistributionError, Embedded},
    flux_instance::{Build, build},
    objects::{display, kind, name},
    render::yaml_stream,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::files::{instance, specs};

const TOKENS: &str = "serviceaccounts/token";

/// An instance with the given fields of its spec, which override the smallest one.
fn with_spec(fields: &Value) -> FluxInstance {
    let mut object = json!({
        "metadata": {"name": "flux", "namespace": "flux-system"},
        "spec": {"distribution": {"version": "2.x", "registry": "ghcr.io/fluxcd"}}
    });
    for (field, value) in fields.as_object().unwrap() {
        object["spec"][field] = value.clone();
    }
    serde_json::from_value(object).unwrap()
}

fn built(fields: &Value) -> Build {
    build(&with_spec(fields), "flux-system", &Embedded).unwrap()
}

fn error(fields: &Value) -> String {
    let error = build(&with_spec(fields), "flux-system", &Embedded).map(|_| "built").unwrap_err();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

fn all_components(version: &str) -> Value {
    let mut components = vec![
        "source-controller",
        "kustomize-controller",
        "helm-controller",
        "notification-controller",
        "image-reflector-controller",
        "image-automation-controller",
    ];
    if version != "=2.6.4" {
        components.push("source-watcher");
    }
    json!({"components": components, "distribution": {"version": version, "registry": "ghcr.io/fluxcd"}})
}

#[test]
fn the_same_spec_gives_the_same_bytes_and_the_digest_is_theirs() {
    for (spec, instance) in specs() {
        let namespace = instance.metadata.namespace.clone().unwrap_or("flux-system".to_owned());
        let once = build(&instance, &namespace, &Embedded);
        let twice = build(&instance, &namespace, &Embedded);
        match (once, twice) {
            (Ok(once), Ok(twice)) => {
                let text = yaml_stream(&once.objects);
                assert_eq!(text, yaml_stream(&twice.objects), "{spec}");
                let digest = HEXLOWER.encode(&Sha256::digest(text));
                assert_eq!(once.revision(), format!("{}@sha256:{digest}", once.version), "{spec}");
            }
            (once, twice) => assert_eq!(once.is_err(), twice.is_err(), "{spec}"),
        }
    }
}

#[test]
fn both_embedded_versions_install_every_component() {
    for (version, count) in [("=2.6.4", 38), ("=2.9.5", 43)] {
        let built = built(&all_components(version));
        // The namespace is added to the manifests of the release.
        assert_eq!(built.objects.len(), count, "{version}");
        assert_eq!(built.objects.iter().map(display).collect::<BTreeSet<_>>().len(), count, "{version}");
        assert!(built.warnings.is_empty(), "{:?}", built.warnings);
    }
}

#[test]
fn definitions_and_namespace_are_applied_before_what_needs_them() {
    let built = built(&all_components("2.x"));
    let kinds: Vec<&str> = built.objects.iter().map(kind).collect();
    let first = |wanted: &str| kinds.iter().position(|kind| *kind == wanted).unwrap();
    let last = |wanted: &str| kinds.iter().rposition(|kind| *kind == wanted).unwrap();
    assert!(last("CustomResourceDefinition") < first("Namespace"));
    assert!(last("Namespace") < first("ClusterRole"));
    assert!(last("ClusterRole") < first("ServiceAccount"));
    assert!(last("ServiceAccount") < first("Deployment"));
}

#[test]
fn no_build_without_workload_identity_may_create_tokens() {
    for version in ["=2.6.4", "=2.9.5"] {
        let mut fields = all_components(version);
        for identity in [json!({}), json!({"objectLevelWorkloadIdentity": false})] {
            fields["cluster"] = identity;
            let text = yaml_stream(&built(&fields).objects);
            assert!(!text.contains(TOKENS), "{version}");
        }
        fields["cluster"] = json!({"objectLevelWorkloadIdentity": true});
        assert!(yaml_stream(&built(&fields).objects).contains(TOKENS), "{version}");
    }
}

/// The embedded distribution with every list turned round that a patch by position would depend on, and a
/// second container in front of every controller.
struct Shuffled;

impl Distribution for Shuffled {
    fn origin(&self) -> &'static str {
        "shuffled"
    }

    fn versions(&self) -> Result<Vec<String>, DistributionError> {
        Embedded.versions()
    }

    fn objects(&self, version: &str, file: &str) -> Result<Option<Vec<Value>>, DistributionError> {
        let mut objects = Embedded.objects(version, file)?;
        objects.iter_mut().flatten().for_each(turn_round);
        Ok(objects)
    }

    fn images(&self, version: &str, variant: &str) -> Result<Option<Value>, DistributionError> {
        Embedded.images(version, variant)
    }
}

fn turn_round(object: &mut Value) {
    for list in ["/rules", "/spec/versions", "/spec/template/spec/volumes"] {
        if let Some(list) = object.pointer_mut(list).and_then(Value::as_array_mut) {
            list.reverse();
        }
    }
    let Some(containers) = object.pointer_mut("/spec/template/spec/containers").and_then(Value::as_array_mut)
    else {
        return;
    };
    for container in containers.iter_mut() {
        for list in ["args", "volumeMounts", "env"] {
            if let Some(list) = container.get_mut(list).and_then(Value::as_array_mut) {
                list.reverse();
            }
        }
    }
    containers.insert(0, json!({"name": "sidecar", "image": "sidecar:v1", "args": ["--log-level=trace"]}));
}

/// The object with its lists in one order and without the second container.
fn normal(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(containers) =
        object.pointer_mut("/spec/template/spec/containers").and_then(Value::as_array_mut)
    {
        containers.retain(|container| container["name"] != "sidecar");
        for container in containers {
            for list in ["args", "volumeMounts", "env"] {
                sort(container.get_mut(list));
            }
        }
    }
    for list in ["/rules", "/spec/versions", "/spec/template/spec/volumes"] {
        sort(object.pointer_mut(list));
    }
    object
}

fn sort(list: Option<&mut Value>) {
    if let Some(list) = list.and_then(Value::as_array_mut) {
        list.sort_by_key(Value::to_string);
    }
}

#[test]
fn manifests_in_another_order_build_the_same() {
    for (spec, instance) in specs() {
        // Patches of users may go by position; those of the operator do not.
        if instance.spec.kustomize.is_some() {
            continue;
        }
        let namespace = instance.metadata.namespace.clone().unwrap_or("flux-system".to_owned());
        let (Ok(plain), Ok(shuffled)) =
            (build(&instance, &namespace, &Embedded), build(&instance, &namespace, &Shuffled))
        else {
            continue;
        };
        let plain: Vec<Value> = plain.objects.iter().map(normal).collect();
        let shuffled: Vec<Value> = shuffled.objects.iter().map(normal).collect();
        for (plain, shuffled) in plain.iter().zip(&shuffled) {
            assert_eq!(plain, shuffled, "{spec}: {}", display(plain));
        }
        assert_eq!(plain.len(), shuffled.len(), "{spec}");
    }
}

#[test]
fn every_object_names_its_owner_and_is_safe_from_an_older_owner() {
    for object in built(&all_components("2.x")).objects {
        let metadata = &object["metadata"];
        assert_eq!(metadata["labels"]["fluxcd.controlplane.io/name"], "flux", "{}", display(&object));
        assert_eq!(metadata["labels"]["fluxcd.controlplane.io/namespace"], "flux-system");
        assert_eq!(metadata["labels"]["app.kubernetes.io/managed-by"], "flux-operator");
        assert_eq!(metadata["labels"]["app.kubernetes.io/version"], "v2.9.5");
        assert_eq!(metadata["annotations"]["kustomize.toolkit.fluxcd.io/ssa"], "Ignore");
        assert_eq!(metadata["annotations"]["kustomize.toolkit.fluxcd.io/prune"], "Disabled");
    }
}

#[test]
fn common_metadata_is_part_of_the_digest() {
    let plain = built(&json!({}));
    let labelled = built(&json!({"commonMetadata": {"labels": {"team": "a"}}}));
    assert_ne!(plain.digest(), labelled.digest());
}

/// The embedded distribution with one file cut short.
struct CutShort(Keep);

type Keep = fn(&Value) -> bool;

impl Distribution for CutShort {
    fn origin(&self) -> &'static str {
        "cut short"
    }

    fn versions(&self) -> Result<Vec<String>, DistributionError> {
        Embedded.versions()
    }

    fn objects(&self, version: &str, file: &str) -> Result<Option<Vec<Value>>, DistributionError> {
        let mut objects = Embedded.objects(version, file)?;
        if let ("source-controller", Some(objects)) = (file, &mut objects) {
            objects.retain(self.0);
        }
        Ok(objects)
    }

    fn images(&self, version: &str, variant: &str) -> Result<Option<Value>, DistributionError> {
        Embedded.images(version, variant)
    }
}

#[test]
fn a_file_that_is_cut_short_deletes_nothing() {
    let rows: [(Keep, &str); 3] = [
        (|_| false, "CustomResourceDefinition"),
        (|object| kind(object) != "CustomResourceDefinition", "CustomResourceDefinition"),
        (|object| kind(object) != "Deployment", "Deployment of the controller"),
    ];
    for (kept, lacks) in rows {
        let error =
            build(&with_spec(&json!({})), "flux-system", &CutShort(kept)).map(|_| "built").unwrap_err();
        let expected = format!("source-controller.yaml of Flux v2.9.5 in cut short has no {lacks}");
        assert!(error.to_string().contains(&expected), "{error}");
    }
}

#[test]
fn common_metadata_cannot_take_an_object_from_its_owner() {
    let built = built(&json!({"commonMetadata": {
        "labels": {"fluxcd.controlplane.io/name": "other", "app.kubernetes.io/part-of": "platform"},
        "annotations": {"fluxcd.controlplane.io/prune": "enabled"}
    }}));
    for object in &built.objects {
        assert_eq!(object["metadata"]["labels"]["fluxcd.controlplane.io/name"], "flux");
        assert_eq!(object["metadata"]["labels"]["app.kubernetes.io/part-of"], "platform");
    }
    let namespace = built.objects.iter().find(|object| kind(object) == "Namespace").unwrap();
    assert_eq!(namespace["metadata"]["annotations"]["fluxcd.controlplane.io/prune"], "disabled");
}

#[test]
fn a_field_that_no_object_can_be_made_of_is_named_with_a_good_value() {
    let registry = |registry: &str| json!({"distribution": {"version": "2.x", "registry": registry}});
    let sync = |fields: Value| {
        let mut sync =
            json!({"kind": "GitRepository", "url": "https://git.example.com/a", "ref": "main", "path": "a"});
        for (field, value) in fields.as_object().unwrap() {
            sync[field] = value.clone();
        }
        json!({"sync": sync})
    };
    let old = |cluster: Value| json!({"distribution": {"version": "2.6.x", "registry": "fluxcd"}, "cluster": cluster});
    let rows = [
        (json!({"sharding": {"key": "a,b", "shards": ["a"]}}), "spec.sharding.key: 'a,b' is not a label key"),
        (json!({"sharding": {"key": "", "shards": ["a"]}}), "spec.sharding.key: '' is not a label key"),
        (json!({"cluster": {"domain": "a b"}}), "spec.cluster.domain: 'a b' is not a DNS name"),
        (
            registry("https://ghcr.io/fluxcd"),
            "spec.distribution.registry: must be a registry and path without a scheme",
        ),
        (
            registry("user:hunter2@ghcr.io/fluxcd"),
            "spec.distribution.registry: must not have credentials or a digest in it: name a Secret",
        ),
        (registry("GHCR.io/Flux CD"), "spec.distribution.registry: 'GHCR.io/Flux CD' is not a registry"),
        (
            json!({"sharding": {"shards": ["a", "A"]}}),
            "spec.sharding.shards[1]: 'A' must consist of small letters",
        ),
        (json!({"sharding": {"shards": ["a", "a"]}}), "spec.sharding.shards[1]: 'a' is named twice"),
        (json!({"sharding": {"shards": ["a"], "storage": "persistent"}}), "spec.storage"),
        (
            json!({"storage": {"class": "standard", "size": "ten"}}),
            "spec.storage.size: 'ten' is not a size such as 10Gi",
        ),
        (
            sync(json!({"url": "git@git.example.com:a"})),
            "spec.sync.url: must start with https:// or http:// or ssh://",
        ),
        (sync(json!({"kind": "OCIRepository"})), "spec.sync.url: must start with oci://"),
        (
            json!({"components": ["source-watcher"], "distribution": {"version": "2.6.x", "registry": "fluxcd"}}),
            "Flux v2.6.4 has no source-watcher in embedded: remove it from spec.components, or choose Flux 2.7",
        ),
        (
            old(json!({"objectLevelWorkloadIdentity": true, "multitenantWorkloadIdentity": true})),
            "spec.cluster.multitenantWorkloadIdentity: true needs Flux 2.7 or later, and spec.distribution.version elects v2.6.4",
        ),
        (json!({"kustomize": {"patches": [{"patch": "a: ["}]}}), "spec.kustomize.patches[0]"),
        (sync(json!({"name": "A B"})), "GitRepository/flux-system/A B has a name that no object can have"),
        (
            json!({"kustomize": {"patches": [
                {"patch": "[{op: replace, path: /metadata/name, value: helm controller}]", "target": {"kind": "Deployment", "name": "helm-controller"}}
            ]}}),
            "Deployment/flux-system/helm controller has a name that no object can have",
        ),
        (
            json!({"kustomize": {"patches": [
                {"patch": "[{op: test, path: /kind, value: Deployment}]", "target": {"kind": "Deployment"}},
                {"patch": "[{op: add, path: /spec/no/where, value: 1}]", "target": {"kind": "Deployment", "name": "helm-controller"}}
            ]}}),
            "spec.kustomize.patches[1] (target kind=Deployment,name=helm-controller)",
        ),
        (
            json!({"kustomize": {"patches": [
                {"patch": "[{op: add, path: /metadata/labels/a, value: b}]", "target": {"kind": "Deployment"}},
                {"patch": "[{op: replace, path: /spec/template/spec/containers, value: 5}]", "target": {"kind": "Deployment", "name": "helm-controller"}},
                {"patch": "[{op: add, path: /metadata/labels/c, value: d}]", "target": {"kind": "Deployment"}},
            ]}}),
            "spec.kustomize.patches[1] leaves an object that cannot be used: ",
        ),
        (
            json!({"commonMetadata": {"labels": {"a b": "c"}}}),
            "spec.commonMetadata.labels: 'a b' is no key of labels",
        ),
        (
            json!({"commonMetadata": {"annotations": {"/a": "c"}}}),
            "spec.commonMetadata.annotations: '/a' is no key of annotations",
        ),
        (
            json!({"commonMetadata": {"labels": {"team": "a b"}}}),
            "spec.commonMetadata.labels['team']: 'a b' is no value of a label",
        ),
        (
            json!({"distribution": {"version": "x".repeat(200), "registry": "fluxcd"}}),
            &format!("spec.distribution.version '{}…' is not a version range", "x".repeat(80)),
        ),
    ];
    for (fields, expected) in rows {
        let message = error(&fields);
        assert!(message.contains(expected), "{message}\n  should contain: {expected}");
        assert!(!message.contains("hunter2"), "{message}");
    }
}

#[test]
fn what_has_no_effect_is_a_warning() {
    let warnings =
        |fields: &Value| -> Vec<String> { built(fields).warnings.iter().map(ToString::to_string).collect() };
    let repeated = warnings(&json!({"components": ["source-controller", "source-controller"]}));
    assert_eq!(repeated, ["spec.components names source-controller more than once"]);
    let patch = warnings(&json!({"kustomize": {"patches": [
        {"patch": "[{op: add, path: /metadata/labels/a, value: b}]", "target": {"kind": "Deployment", "name": "helm"}}
    ]}}));
    assert_eq!(patch.len(), 1);
    assert!(patch[0].contains("patches[0] (target kind=Deployment,name=helm)"), "{}", patch[0]);
}

#[test]
fn what_is_probably_not_meant_is_a_warning() {
    let warned = |fields: &Value, expected: &str| {
        let warnings: Vec<String> = built(fields).warnings.iter().map(ToString::to_string).collect();
        assert!(warnings.iter().any(|warning| warning.starts_with(expected)), "{warnings:?}: {expected}");
    };
    let sync = |field: &str, value: &str| {
        let mut sync =
            json!({"kind": "GitRepository", "url": "https://git.example.com/a", "ref": "main", "path": "a"});
        sync[field] = value.into();
        json!({"sync": sync})
    };
    warned(&sync("url", "https://user:hunter2@git.example.com/a"), "spec.sync.url: has a password in it");
    warned(&sync("ref", ""), "spec.sync.ref: is empty: name what to follow, such as refs/heads/main");
    warned(&sync("interval", "0s"), "spec.sync.interval: the source is read once and never again");
    warned(&sync("pullSecret", "My Secret"), "spec.sync.pullSecret: 'My Secret' is a name that no object");
    let mut without = sync("path", "b");
    without["components"] = json!(["source-controller"]);
    warned(&without, "spec.sync needs kustomize-controller, which is not in spec.components");
    warned(
        &json!({"cluster": {"multitenant": true, "tenantDefaultServiceAccount": "A"}}),
        "spec.cluster.tenantDefaultServiceAccount: 'A' is a name that no object",
    );
    let shards: Vec<String> = (0..51).map(|number| format!("shard-{number}")).collect();
    warned(&json!({"sharding": {"shards": shards}}), "spec.sharding.shards: 51 shards");
    warned(
        &json!({"kustomize": {"patches": [
            {"patch": "{$patch: delete, apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: buckets.source.toolkit.fluxcd.io}}"}
        ]}}),
        "spec.kustomize.patches deletes CustomResourceDefinition buckets.source.toolkit.fluxcd.io: ",
    );
}

#[test]
fn a_usual_instance_has_no_warnings() {
    let usual = json!({
        "sync": {"kind": "GitRepository", "url": "https://git.example.com/a", "ref": "refs/heads/main", "path": "a"},
        "commonMetadata": {
            "labels": {"example.com/team": "platform"},
            "annotations": {"Example.com/Owner": "Team A, 3rd floor"},
        },
        "sharding": {"shards": ["apps"]},
    });
    assert!(built(&usual).warnings.is_empty());
}

#[test]
fn components_without_a_choice_are_the_default_ones() {
    let names = |fields: &Value| -> Vec<String> {
        built(fields).components.iter().map(|component| component.name.clone()).collect()
    };
    let default = names(&json!({}));
    assert_eq!(
        default,
        ["helm-controller", "kustomize-controller", "notification-controller", "source-controller"]
    );
    assert_eq!(names(&json!({"components": []})), default);
}

#[test]
fn the_status_shows_the_images_that_run_patches_included() {
    let built = built(&json!({"kustomize": {"patches": [
        {"patch": "[{op: replace, path: /spec/template/spec/containers/0/image, value: 'registry.example.com:5000/helm:dev'}]",
         "target": {"kind": "Deployment", "name": "helm-controller"}}
    ]}}));
    let image = |name: &str| built.components.iter().find(|component| component.name == name).unwrap();
    assert_eq!(image("helm-controller").repository, "registry.example.com:5000/helm");
    assert_eq!(image("helm-controller").tag, "dev");
    assert_eq!(image("source-controller").repository, "ghcr.io/fluxcd/source-controller");
    assert_eq!(image("source-controller").tag, "v1.9.5");
}

#[test]
fn a_user_patch_sees_shards_by_the_name_of_the_controller() {
    let text = "
metadata: {name: flux, namespace: flux-system}
spec:
  distribution: {version: 2.x, registry: ghcr.io/fluxcd}
  sharding: {shards: [apps]}
  kustomize:
    patches:
    - target: {kind: Deployment, name: source-controller}
      patch: '[{op: add, path: /spec/template/spec/containers/0/args/-, value: --concurrent=10}]'
";
    let built = build(&instance(text), "flux-system", &Embedded).unwrap();
    for wanted in ["source-controller", "source-controller-apps"] {
        let deployment = built
            .objects
            .iter()
            .find(|object| kind(object) == "Deployment" && name(object) == wanted)
            .unwrap();
        let args = deployment["spec"]["template"]["spec"]["containers"][0]["args"].as_array().unwrap();
        assert_eq!(args.last().unwrap(), "--concurrent=10", "{wanted}");
    }
}
