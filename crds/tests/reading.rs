//! Objects read without an API server: defaults, nulls, and what other implementations of this API stored.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crds::flux_instance::{Cluster, Component};
use crds::resource_set_input_provider::{DEFAULT_LIMIT, ProviderType};
use crds::{FluxInstance, FluxReport, ResourceSet, ResourceSetInputProvider};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn read<K: DeserializeOwned>(spec: &Value, status: &Value) -> K {
    serde_json::from_value(json!({
        "apiVersion": "fluxcd.controlplane.io/v1", "kind": "Any", "metadata": {"name": "flux"},
        "spec": spec, "status": status,
    }))
    .unwrap()
}

#[test]
fn null_is_the_default_in_a_flux_instance() {
    let instance: FluxInstance = read(
        &json!({
            "distribution": {"version": "2.x", "registry": "r", "variant": null},
            "components": null, "wait": null, "migrateResources": null,
            "cluster": {
                "domain": null, "type": null, "networkPolicy": null, "multitenant": null,
                "multitenantWorkloadIdentity": null, "size": null,
            },
            "sharding": {"shards": ["a"], "key": null},
            "kustomize": {"patches": null},
            "commonMetadata": {"labels": {"a": null, "b": "c"}, "annotations": null},
            "sync": {"kind": "Bucket", "url": "u", "ref": "r", "path": "p", "interval": null, "name": null},
        }),
        &Value::Null,
    );
    let spec = instance.spec;
    assert_eq!(spec.components, Component::DEFAULT);
    assert!(spec.wait && spec.migrate_resources);
    assert_eq!(spec.cluster, Some(Cluster::default()));
    assert_eq!(spec.sharding.unwrap().key, "sharding.fluxcd.io/key");
    assert!(spec.kustomize.unwrap().patches.is_empty());
    let metadata = spec.common_metadata.unwrap();
    assert_eq!(metadata.labels.unwrap().into_iter().collect::<Vec<_>>(), [("b".to_owned(), "c".to_owned())]);
    assert_eq!(metadata.annotations, None);
    assert_eq!(spec.sync.unwrap().interval, "1m");
}

#[test]
fn null_is_the_default_in_a_resource_set_and_stays_inside_of_values() {
    let set: ResourceSet = read(
        &json!({
            "inputs": [{"a": null, "b": {"c": null}}], "inputsFrom": null, "dependsOn": null, "wait": null,
            "resources": [{"a": null}], "steps": null,
        }),
        &Value::Null,
    );
    assert_eq!(serde_json::to_value(&set.spec.inputs).unwrap(), json!([{"b": {"c": null}}]));
    assert_eq!(serde_json::to_value(&set.spec.resources).unwrap(), json!([{"a": null}]));
    assert!(set.spec.inputs_from.is_empty() && set.spec.depends_on.is_empty());
    assert!(set.spec.steps.is_none() && !set.spec.wait);
}

#[test]
fn null_is_the_default_in_an_input_provider() {
    let provider: ResourceSetInputProvider = read(
        &json!({
            "type": "Static", "url": null, "insecure": null, "defaultValues": {"a": null, "b": [null]},
            "filter": {"limit": null, "labels": null}, "skip": {"labels": null}, "selectors": null,
            "schedule": [{"cron": "@daily", "timeZone": null, "window": null}],
        }),
        &Value::Null,
    );
    let spec = provider.spec;
    assert_eq!(spec.type_, ProviderType::Static);
    assert_eq!(serde_json::to_value(&spec.default_values).unwrap(), json!({"b": [null]}));
    assert_eq!(spec.filter.unwrap().limit, DEFAULT_LIMIT);
    let [schedule] = &spec.schedule[..] else { panic!("{:?}", spec.schedule) };
    assert_eq!((schedule.time_zone.as_str(), schedule.window.as_str()), ("UTC", "0s"));
    assert!(!spec.insecure && spec.selectors.is_empty());
}

#[test]
fn a_limit_outside_of_a_filter_is_not_made_up() {
    let provider: ResourceSetInputProvider = read(&json!({"type": "Static"}), &Value::Null);
    assert_eq!(provider.spec.filter, None);
}

#[test]
fn the_status_of_a_resource_set_is_read_as_others_wrote_it() {
    let status = json!({
        "lastHandledReconcileAt": "2026-01-01T00:00:00Z",
        "conditions": [condition()],
        "inventory": {"entries": [{"id": "ns_app_apps_Deployment", "v": "v1"}]},
        "lastAppliedRevision": "sha256:0",
        "externalChecksumRefs": ["ConfigMap/ns/a"],
        "history": [{
            "digest": "sha256:0", "firstReconciled": "2026-01-01T00:00:00Z",
            "lastReconciled": "2026-01-01T00:00:00Z", "lastReconciledDuration": "4.2s",
            "lastReconciledStatus": "ReconciliationSucceeded", "totalReconciliations": 3,
            "metadata": {"inputs": "1", "resources": "2"},
        }],
    });
    let set: ResourceSet = read(&json!({"resources": []}), &status);
    assert_eq!(serde_json::to_value(set.status).unwrap(), status);
}

#[test]
fn the_status_of_an_input_provider_is_read_as_others_wrote_it() {
    let status = json!({
        "lastHandledReconcileAt": "a", "lastHandledForceAt": "a",
        "conditions": [condition()],
        "exportedInputs": [{"id": "1", "labels": ["a"], "nested": {"b": 0.5}}],
        "lastExportedRevision": "sha256:0",
        "nextSchedule": {"cron": "@daily", "timeZone": "UTC", "window": "0s", "when": "2026-01-01T00:00:00Z"},
    });
    let provider: ResourceSetInputProvider = read(&json!({"type": "Static"}), &status);
    assert_eq!(serde_json::to_value(provider.status).unwrap(), status);
}

#[test]
fn a_report_is_read_as_others_wrote_it() {
    let spec = json!({
        "distribution": {"entitlement": "Unknown", "status": "Unknown"},
        "cluster": {"serverVersion": "v1.36.3", "platform": "linux/amd64"},
        "components": [{"name": "a", "ready": true, "status": "Current", "image": "i"}],
        "reconcilers": [
            {"apiVersion": "a/v1", "kind": "A"},
            {"apiVersion": "a/v1", "kind": "B", "stats": {"failing": 0, "running": 1, "suspended": 0}},
        ],
        "sync": {"id": "kustomization/a", "ready": false, "status": "s"},
    });
    let report: FluxReport = read(&spec, &json!({"conditions": [condition()]}));
    assert_eq!(serde_json::to_value(report.spec).unwrap(), spec);
}

fn condition() -> Value {
    json!({
        "type": "Ready", "status": "True", "observedGeneration": 1, "reason": "ReconciliationSucceeded",
        "message": "done", "lastTransitionTime": "2026-01-01T00:00:00Z",
    })
}
