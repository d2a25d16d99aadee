//! The API server admits what the charts render.

use std::collections::BTreeSet;

use e2e::{ControlPlane, Kubernetes, PlaneOptions, apply, apply_yaml};
use kube::api::{Api, DynamicObject, GroupVersionKind, Patch, PatchParams, ValidationDirective};
use kube::{Client, discovery};
use serde_json::Value;

use crate::helm::{CHARTS, NAMESPACE, OPERATOR};

/// What these kinds look like is decided by projects whose definitions are not in the test bed.
const FOREIGN_KINDS: [&str; 2] = ["HTTPRoute", "ServiceMonitor"];

#[tokio::test(flavor = "multi_thread")]
async fn the_api_server_admits_every_object_with_strict_validation() {
    let plane = own_plane("charts-admission").await;
    let client = plane.client().await.unwrap();
    apply_yaml(&client, &format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: {NAMESPACE}}}}}"))
        .await
        .unwrap();
    let values = &OPERATOR.value_files()["default"];
    for definition in OPERATOR.objects(values).into_iter().filter(is_definition) {
        apply(&client, definition).await.unwrap();
    }

    let (mut admitted, mut foreign) = (0, BTreeSet::new());
    for chart in CHARTS {
        for (name, values) in chart.value_files() {
            for object in chart.objects(&values) {
                let kind = object["kind"].as_str().unwrap().to_owned();
                if FOREIGN_KINDS.contains(&kind.as_str()) {
                    foreign.insert(kind);
                    continue;
                }
                try_out(&client, object)
                    .await
                    .unwrap_or_else(|error| panic!("{}, {name}: {kind}: {error}", chart.name));
                admitted += 1;
            }
        }
    }
    assert!(admitted > 30, "only {admitted} objects were tried");
    assert_eq!(foreign, FOREIGN_KINDS.map(str::to_owned).into());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_server_refuses_a_field_that_it_does_not_know() {
    // The test above would pass for the wrong reason if the server let everything through.
    let plane = own_plane("charts-strict").await;
    let client = plane.client().await.unwrap();
    let service = OPERATOR.objects("{image: {repository: x}}");
    let mut service = service.into_iter().find(|object| object["kind"] == "Service").unwrap();
    service["metadata"]["namespace"] = "default".into();
    try_out(&client, service.clone()).await.unwrap();
    service["spec"]["unknown"] = true.into();
    let error = try_out(&client, service).await.unwrap_err().to_string();
    assert!(error.contains("spec.unknown"), "{error}");
}

/// A control plane of ours, whatever cluster is lent: definitions are put into it.
pub(crate) async fn own_plane(name: &str) -> ControlPlane {
    let kubernetes = Kubernetes::from_environment().unwrap();
    let options = PlaneOptions { name: name.to_owned(), kubernetes, ..PlaneOptions::default() };
    ControlPlane::start_own(options).await.unwrap()
}

pub(crate) fn is_definition(object: &Value) -> bool {
    object["kind"] == "CustomResourceDefinition"
}

/// Applies an object without keeping it.
async fn try_out(client: &Client, object: Value) -> Result<DynamicObject, kube::Error> {
    let (group, version) = object["apiVersion"]
        .as_str()
        .unwrap()
        .split_once('/')
        .unwrap_or(("", object["apiVersion"].as_str().unwrap()));
    let kind = GroupVersionKind::gvk(group, version, object["kind"].as_str().unwrap());
    let (resource, _) = discovery::pinned_kind(client, &kind).await?;
    let api: Api<DynamicObject> = match object["metadata"]["namespace"].as_str() {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    let mut parameters = PatchParams::apply("charts").dry_run().force();
    parameters.field_validation = Some(ValidationDirective::Strict);
    let name = object["metadata"]["name"].as_str().unwrap().to_owned();
    api.patch(&name, &parameters, &Patch::Apply(object)).await
}
