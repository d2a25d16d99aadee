//! What stands in the way of removing Flux: then nothing is harmed, and the instance says what to do.

use crds::{FluxInstance, keys::OWNER_NAME, keys::PRUNE};
use e2e::{Installation, Operator, OperatorOptions, apply_yaml, ready, wait_for, wait_until_gone};
use k8s_openapi::{
    api::{apps::v1::Deployment, core::v1::Pod},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, ListParams, Patch, PatchParams},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use serde_json::{Value, json};

use crate::LONG;

/// Work for a controller; its finalizer is served by nobody here.
const APPLICATION: &str = "
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: app, namespace: default, finalizers: [finalizers.fluxcd.io]}
spec: {interval: 10m, path: ./app, prune: true, sourceRef: {kind: GitRepository, name: app}}
";

/// A pod that looks like one of a controller and that no Deployment takes along.
const STRAY_POD: &str = "
apiVersion: v1
kind: Pod
metadata:
  name: stray
  namespace: flux-system
  labels: {app: helm-controller, app.kubernetes.io/part-of: flux}
spec: {containers: [{name: main, image: example.com/main:1}]}
";

const DEFINITION: &str = "kustomizations.kustomize.toolkit.fluxcd.io";

#[tokio::test]
async fn a_controller_that_is_not_ours_any_more_keeps_what_it_serves() {
    let mut flux = Installation::start("instance-foreign").await.unwrap();
    install_with_work(&flux).await;
    let deployments: Api<Deployment> = Api::namespaced(flux.client.clone(), "flux-system");
    let before = deployments.list(&ListParams::default()).await.unwrap().items.len();
    // Nobody puts it back while the operator is away.
    flux.operator.kill();
    flux.operator.wait_for_exit(LONG).await.unwrap();
    merge(&deployments, "kustomize-controller", json!({"metadata": {"labels": {OWNER_NAME: null}}})).await;
    flux.instances().delete("flux", &DeleteParams::default()).await.unwrap();
    let alone = vec!["--enable-leader-election=false".to_owned()];
    let options = OperatorOptions { arguments: alone, ..OperatorOptions::default() };
    flux.operator = Operator::start(&flux.plane, options).unwrap();

    let stopped = flux.wait_for_reason("ReconciliationFailed", LONG).await;
    let message = &ready(&stopped).unwrap().message;
    let named = "Deployment/flux-system/kustomize-controller must stop before";
    assert!(message.contains(named) && message.contains("; delete it, or "), "{message}");
    assert_eq!(deployments.list(&ListParams::default()).await.unwrap().items.len(), before);
    let kustomization = kustomizations(&flux).get("app").await.unwrap();
    assert_eq!(kustomization.finalizers(), ["finalizers.fluxcd.io"]);
    assert!(kustomization.metadata.deletion_timestamp.is_none());

    deployments.delete("kustomize-controller", &DeleteParams::default()).await.unwrap();
    wait_until_gone(&flux.instances(), "flux", LONG).await.unwrap();
    let definitions: Api<CustomResourceDefinition> = Api::all(flux.client.clone());
    assert!(definitions.get_opt(DEFINITION).await.unwrap().is_none());
}

#[tokio::test]
async fn a_protected_definition_stays_with_the_finalizers_of_its_objects_and_a_stray_pod_is_named() {
    let flux = Installation::start("instance-protected").await.unwrap();
    install_with_work(&flux).await;
    let definitions: Api<CustomResourceDefinition> = Api::all(flux.client.clone());
    merge(&definitions, DEFINITION, json!({"metadata": {"annotations": {PRUNE: "disabled"}}})).await;
    apply_yaml(&flux.client, STRAY_POD).await.unwrap();
    flux.instances().delete("flux", &DeleteParams::default()).await.unwrap();
    let is_named = |instance: &FluxInstance| {
        ready(instance).is_some_and(|ready| ready.message == "Waiting for Pod/flux-system/stray: it runs")
    };
    wait_for(&flux.instances(), "flux", is_named, LONG).await.unwrap();
    let pods: Api<Pod> = Api::namespaced(flux.client.clone(), "flux-system");
    pods.delete("stray", &DeleteParams::default().grace_period(0)).await.unwrap();

    wait_until_gone(&flux.instances(), "flux", LONG).await.unwrap();
    assert!(definitions.get(DEFINITION).await.unwrap().metadata.deletion_timestamp.is_none());
    let kustomization = kustomizations(&flux).get("app").await.unwrap();
    assert_eq!(kustomization.finalizers(), ["finalizers.fluxcd.io"]);
    let gone = definitions.get_opt("gitrepositories.source.toolkit.fluxcd.io").await.unwrap();
    assert!(gone.is_none(), "one that is not protected");
}

async fn install_with_work(flux: &Installation) {
    flux.apply(&json!({})).await;
    flux.wait_until_ready(LONG).await;
    apply_yaml(&flux.client, APPLICATION).await.unwrap();
}

fn kustomizations(flux: &Installation) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("kustomize.toolkit.fluxcd.io", "v1", "Kustomization");
    Api::namespaced_with(flux.client.clone(), "default", &ApiResource::from_gvk(&kind))
}

async fn merge<K>(api: &Api<K>, name: &str, patch: Value)
where
    K: kube::Resource + Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
}
