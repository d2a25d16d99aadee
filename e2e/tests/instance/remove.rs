//! Removing Flux.

use std::time::Duration;

use e2e::{Installation, apply_yaml, wait_until_gone};
use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Namespace, Pod},
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, ListParams, Patch, PatchParams},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use serde_json::json;

use crate::LONG;

/// A Kustomization and what stands for the workload that it applied.
const APPLICATION: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: workload, namespace: default}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: app, namespace: default, finalizers: [finalizers.fluxcd.io, example.com/other]}
spec: {interval: 10m, path: ./app, prune: true, sourceRef: {kind: GitRepository, name: app}}
";

#[tokio::test]
async fn controllers_are_gone_before_anything_else_is_touched() {
    let flux = Installation::start("instance-remove").await.unwrap();
    let Work { kustomizations, pods, pod } = start_work(&flux).await;

    flux.instances().delete("flux", &DeleteParams::default()).await.unwrap();
    let deployments: Api<Deployment> = Api::namespaced(flux.client.clone(), "flux-system");
    let is_leaving = |pod: &Pod| pod.metadata.deletion_timestamp.is_some();
    e2e::wait_for(&pods, &pod, is_leaving, LONG).await.unwrap();
    wait_until_gone(&deployments, "source-controller", LONG).await.unwrap();
    let held = kustomizations.get("app").await.unwrap();
    assert_eq!(held.finalizers(), ["finalizers.fluxcd.io", "example.com/other"]);
    assert!(held.metadata.deletion_timestamp.is_none());
    let definitions: Api<CustomResourceDefinition> = Api::all(flux.client.clone());
    definitions.get("kustomizations.kustomize.toolkit.fluxcd.io").await.unwrap();

    let says_so = |instance: &crds::FluxInstance| {
        e2e::ready(instance).is_some_and(|ready| {
            ready
                .message
                .starts_with("Waiting for Deployment/flux-system/kustomize-controller: it is being deleted")
        })
    };
    e2e::wait_for(&flux.instances(), "flux", says_so, LONG).await.unwrap();

    // The pod ends; the Kustomization loses Flux's finalizer and keeps the other one, which holds it.
    hold(&pods, &pod, &[]).await;
    let lost = |object: &DynamicObject| object.finalizers() == ["example.com/other"];
    let lost = e2e::wait_for(&kustomizations, "app", lost, LONG).await.unwrap();
    let free = json!({"metadata": {"finalizers": null}});
    kustomizations.patch(&lost.name_any(), &PatchParams::default(), &Patch::Merge(&free)).await.unwrap();

    wait_until_gone(&flux.instances(), "flux", LONG).await.unwrap();
    wait_until_gone(&definitions, "kustomizations.kustomize.toolkit.fluxcd.io", Duration::from_secs(1))
        .await
        .unwrap();
    assert!(deployments.list(&ListParams::default()).await.unwrap().items.is_empty());
    let namespaces: Api<Namespace> = Api::all(flux.client.clone());
    assert!(namespaces.get("flux-system").await.unwrap().metadata.deletion_timestamp.is_none());
    let maps: Api<ConfigMap> = Api::namespaced(flux.client.clone(), "default");
    maps.get("workload").await.unwrap();
}

#[tokio::test]
async fn a_component_that_leaves_is_gone_before_its_custom_resources_are_touched() {
    let flux = Installation::start("instance-component").await.unwrap();
    let Work { kustomizations, pods, pod } = start_work(&flux).await;

    flux.apply(&json!({"components": ["source-controller", "helm-controller"]})).await;
    let is_leaving = |pod: &Pod| pod.metadata.deletion_timestamp.is_some();
    e2e::wait_for(&pods, &pod, is_leaving, LONG).await.unwrap();
    let deployments: Api<Deployment> = Api::namespaced(flux.client.clone(), "flux-system");
    wait_until_gone(&deployments, "notification-controller", LONG).await.unwrap();
    let held = kustomizations.get("app").await.unwrap();
    assert!(held.metadata.deletion_timestamp.is_none(), "a running controller saw its custom resource go");
    assert_eq!(held.finalizers().len(), 2);

    hold(&pods, &pod, &[]).await;
    let lost = |object: &DynamicObject| object.finalizers() == ["example.com/other"];
    e2e::wait_for(&kustomizations, "app", lost, LONG).await.unwrap();
    let free = json!({"metadata": {"finalizers": null}});
    kustomizations.patch("app", &PatchParams::default(), &Patch::Merge(&free)).await.unwrap();
    flux.wait_until_ready(LONG).await;
    let definitions: Api<CustomResourceDefinition> = Api::all(flux.client.clone());
    wait_until_gone(&definitions, "kustomizations.kustomize.toolkit.fluxcd.io", LONG).await.unwrap();
    let maps: Api<ConfigMap> = Api::namespaced(flux.client.clone(), "default");
    maps.get("workload").await.unwrap();
}

#[tokio::test]
async fn a_paused_instance_leaves_flux_in_place() {
    let flux = Installation::start("instance-orphan").await.unwrap();
    flux.apply(&json!({})).await;
    flux.wait_until_ready(LONG).await;
    flux.annotate("fluxcd.controlplane.io/reconcile", json!("disabled")).await;
    flux.instances().delete("flux", &DeleteParams::default()).await.unwrap();
    wait_until_gone(&flux.instances(), "flux", LONG).await.unwrap();
    let deployments: Api<Deployment> = Api::namespaced(flux.client.clone(), "flux-system");
    assert_eq!(deployments.list(&ListParams::default()).await.unwrap().items.len(), 4);
}

/// A Kustomization at work, and the pod of its controller, which does not end when it is told to.
struct Work {
    kustomizations: Api<DynamicObject>,
    pods: Api<Pod>,
    pod: String,
}

/// Installs Flux and gives it work; the pod is held as one whose node is lost.
async fn start_work(flux: &Installation) -> Work {
    flux.apply(&json!({})).await;
    flux.wait_until_ready(LONG).await;
    apply_yaml(&flux.client, APPLICATION).await.unwrap();
    let kind = GroupVersionKind::gvk("kustomize.toolkit.fluxcd.io", "v1", "Kustomization");
    let kustomizations: Api<DynamicObject> =
        Api::namespaced_with(flux.client.clone(), "default", &ApiResource::from_gvk(&kind));
    let pods: Api<Pod> = Api::namespaced(flux.client.clone(), "flux-system");
    let selector = ListParams::default().labels("app=kustomize-controller");
    let pod = pods.list(&selector).await.unwrap().items[0].name_any();
    hold(&pods, &pod, &["example.com/node"]).await;
    Work { kustomizations, pods, pod }
}

async fn hold(pods: &Api<Pod>, pod: &str, finalizers: &[&str]) {
    let patch = json!({"metadata": {"finalizers": finalizers}});
    pods.patch(pod, &PatchParams::default(), &Patch::Merge(&patch)).await.unwrap();
}
