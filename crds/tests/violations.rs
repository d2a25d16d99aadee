//! The rules of the definitions, for objects that no API server has seen.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

use std::collections::BTreeSet;

use crds::{FluxInstance, FluxReport, ResourceSet, ResourceSetInputProvider, Violation, definitions};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The one rule that compares an object with its former self.
const NEEDS_TWO_VERSIONS: &str = "Sync name is immutable";

fn read<K: DeserializeOwned>(name: &str, spec: &Value) -> K {
    serde_json::from_value(json!({"metadata": {"name": name}, "spec": spec})).unwrap()
}

fn fields(violations: &[Violation]) -> Vec<&str> {
    violations.iter().map(|violation| violation.field.as_str()).collect()
}

fn instance() -> FluxInstance {
    let spec = json!({
        "distribution": {"version": "2.x", "registry": "r", "artifact": "https://a"},
        "cluster": {"multitenantWorkloadIdentity": true},
        "sharding": {"shards": [], "storage": "persistent"},
        "sync": {
            "name": "a".repeat(64), "interval": "1d", "kind": "GitRepository", "url": "u", "ref": "r", "path": "p",
            "provider": "gcp",
        },
    });
    read("other", &spec)
}

fn set(spec: &Value) -> Vec<Violation> {
    read::<ResourceSet>("apps", spec).violations()
}

fn provider(spec: &Value) -> Vec<Violation> {
    read::<ResourceSetInputProvider>("source", spec).violations()
}

/// Objects that together break every rule.
fn everything_broken() -> Vec<Violation> {
    let github = json!({
        "distribution": {"version": "2.x", "registry": "r"},
        "sync": {"kind": "Bucket", "url": "u", "ref": "r", "path": "p", "provider": "github"},
    });
    let sync = |kind: &str, fields: Value| {
        let mut sync = json!({"kind": kind, "url": "u", "ref": "r", "path": "p"});
        sync.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let spec = json!({"distribution": {"version": "2.x", "registry": "r"}, "sync": sync});
        read::<FluxInstance>("flux", &spec).violations()
    };
    let keyless = json!({
        "provider": "cosign", "matchOIDCIdentity": [], "trustedRootSecretRef": {"name": "root"},
    });
    let report = json!({"distribution": {"entitlement": "e", "status": "s"}});
    let with = |mut spec: Value, field: &str, value: Value| {
        spec[field] = value;
        spec
    };
    let of = |name: &str, url: &str| json!({"type": name, "url": url});
    [
        instance().violations(),
        read::<FluxInstance>("flux", &github).violations(),
        sync("Bucket", json!({"semver": "1.x", "verify": {"mode": "HEAD"}})),
        sync(
            "GitRepository",
            json!({"insecure": true, "certSecretRef": {"name": "tls"}, "verify": keyless, "timeout": "1d"}),
        ),
        read::<FluxReport>("other", &report).violations(),
        set(&json!({})),
        set(&broken_steps()),
        set(&json!({
            "resources": [], "inputStrategy": {"name": "Flatten", "includeEmptyProviders": false},
            "inputsFrom": [{"name": "a"}, {}],
        })),
        provider(&of("Static", "https://host")),
        provider(&json!({"type": "GitHubTag"})),
        provider(&of("GitHubTag", "oci://host/a")),
        provider(&of("AWSCodeCommitTag", "http://host")),
        provider(&of("OCIArtifactTag", "oci://host")),
        provider(&of("ExternalService", "http://host")),
        provider(&with(json!({"type": "Static"}), "insecure", json!(true))),
        provider(&with(json!({"type": "Static"}), "serviceAccountName", json!("a"))),
        provider(&with(json!({"type": "Static"}), "secretRef", json!({"name": "a"}))),
        provider(&with(json!({"type": "Static"}), "certSecretRef", json!({"name": "a"}))),
        provider(&with(json!({"type": "Static"}), "selectors", json!([{"name": "a", "matchLabels": {}}]))),
        provider(&json!({"type": "ExternalArtifact"})),
    ]
    .concat()
}

fn broken_steps() -> Value {
    json!({
        "resources": [{}],
        "steps": [{"name": "a"}, {"name": "a", "resources": []}, {"name": "B", "resources": [], "timeout": "1d"}],
    })
}

#[test]
fn every_rule_of_the_definitions_is_found_without_a_server() {
    let mut rules = BTreeSet::new();
    for definition in definitions() {
        collect_messages(&serde_json::to_value(definition.definition).unwrap(), &mut rules);
    }
    assert!(rules.remove(NEEDS_TWO_VERSIONS));
    let broken = everything_broken();
    let found: BTreeSet<&str> = broken.iter().map(|violation| violation.message).collect();
    let missing: Vec<&String> = rules.iter().filter(|rule| !found.contains(rule.as_str())).collect();
    assert!(missing.is_empty(), "no object broke {missing:#?}");
}

#[test]
fn all_broken_rules_of_an_instance_are_named_in_the_order_of_its_fields() {
    assert_eq!(
        fields(&instance().violations()),
        [
            "metadata.name",
            "spec.distribution.artifact",
            "spec.cluster",
            "spec.sharding.shards",
            "spec",
            "spec.sync.name",
            "spec.sync.interval",
            "spec.sync",
        ]
    );
}

#[test]
fn steps_are_named_by_their_place_in_the_list() {
    assert_eq!(
        fields(&set(&broken_steps())),
        ["spec.steps[0]", "spec.steps[2].name", "spec.steps[2].timeout", "spec.steps", "spec"]
    );
    let text = set(&broken_steps())[1].to_string();
    assert_eq!(text, "spec.steps[2].name: must be a DNS label of lower-case letters, digits and hyphens");
}

#[test]
fn a_list_of_many_steps_is_judged_at_once() {
    let steps: Vec<Value> = (0..100_000).map(|_| json!({"name": "a", "resources": []})).collect();
    assert_eq!(fields(&set(&json!({"steps": steps}))), ["spec.steps"]);
}

#[test]
fn empty_lists_beside_steps_break_nothing() {
    let steps = json!([{"name": "a", "resourcesTemplate": ""}]);
    assert!(set(&json!({"steps": steps, "resources": [], "resourcesTemplate": ""})).is_empty());
}

#[test]
fn fields_of_an_input_provider_are_named_by_their_place() {
    let spec = json!({
        "type": "ExternalArtifact", "url": "ssh://host", "filter": {"limit": 10_001},
        "schedule": [{"cron": "a"}, {"cron": "a", "window": "-1s"}],
        "selectors": [{}, {"name": "a", "matchExpressions": []}],
    });
    assert_eq!(
        fields(&provider(&spec)),
        ["spec.url", "spec.filter.limit", "spec.schedule[1].window", "spec.selectors[1]", "spec"]
    );
}

#[test]
fn the_repository_of_an_artifact_follows_its_host() {
    let of = |url: &str| provider(&json!({"type": "GARArtifactTag", "url": url}));
    for good in ["oci://host/a", "oci://host:5000/a/b", "oci://h//"] {
        assert!(of(good).is_empty(), "{good}");
    }
    for bad in ["oci://", "oci://host", "oci://host/", "oci:///a", "https://host/a"] {
        assert_eq!(fields(&of(bad)), ["spec"], "{bad}");
    }
}

fn collect_messages(value: &Value, messages: &mut BTreeSet<String>) {
    let rules = value.get("x-kubernetes-validations").and_then(Value::as_array);
    messages.extend(rules.into_iter().flatten().map(|rule| rule["message"].as_str().unwrap().to_owned()));
    match value {
        Value::Object(fields) => fields.values().for_each(|field| collect_messages(field, messages)),
        Value::Array(items) => items.iter().for_each(|item| collect_messages(item, messages)),
        _ => {}
    }
}
