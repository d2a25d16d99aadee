//! A fleet's cluster from its installation to its end.

use std::collections::BTreeMap;
use std::time::Duration;

use crds::FluxInstance;
use e2e::{Fleet, fleet_files, has_condition, wait_for, wait_until_gone};
use k8s_openapi::api::{
    apps::v1::Deployment,
    coordination::v1::Lease,
    core::v1::{ConfigMap, Namespace, Pod},
};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams},
};
use serde_json::json;

use crate::{LONG, objects};

/// What the operator promises for a change by hand.
const REPAIRED_WITHIN: Duration = Duration::from_secs(5);

#[tokio::test(flavor = "multi_thread")]
async fn two_releases_make_a_cluster_follow_its_repository() {
    let fleet = Fleet::start("fleet-life").await.unwrap();
    fleet.install_operator(&[]).await.unwrap();
    fleet.install_instance(&[]).await.unwrap_or_else(|error| {
        panic!("{error}\n{}", fleet.agent.log_tails("flux-operator"));
    });
    let instance = instances(&fleet).get("flux").await.unwrap();
    assert!(has_condition("Ready", "True")(&instance));
    let web = follows(&fleet).await;
    assert_eq!(environment(&web), [("CLUSTER".to_owned(), "staging".to_owned())].into());

    a_commit_arrives(&fleet).await;
    a_hand_edit_is_put_back(&fleet).await;
    another_operator_takes_over(&fleet).await;
    a_change_of_values_is_rolled_out(&fleet).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_may_be_uninstalled_first_and_applications_stay() {
    let fleet = Fleet::start("fleet-order").await.unwrap();
    fleet.install_operator(&[]).await.unwrap();
    fleet.install_instance(&[]).await.unwrap();
    let web = follows(&fleet).await;

    let notes = fleet.uninstall("flux-operator").await.unwrap();
    assert!(notes.contains("fluxinstances.fluxcd.controlplane.io"), "Helm says what it keeps: {notes}");
    wait_until_gone(&deployments(&fleet, "flux-system"), "flux-operator", LONG).await.unwrap();
    // Nobody is there who could end Flux: the instance stays, and Flux works on.
    instances(&fleet).delete("flux", &DeleteParams::default()).await.unwrap();
    let held = instances(&fleet).get("flux").await.unwrap();
    assert_eq!(held.finalizers(), [crds::keys::FINALIZER]);
    assert!(held.metadata.deletion_timestamp.is_some());
    deployments(&fleet, "flux-system").get("kustomize-controller").await.unwrap();

    fleet.install_operator(&[]).await.unwrap();
    wait_until_gone(&instances(&fleet), "flux", LONG).await.unwrap();
    let left = deployments(&fleet, "flux-system").list(&ListParams::default()).await.unwrap();
    let left: Vec<String> = left.iter().map(ResourceExt::name_any).collect();
    assert_eq!(left, ["flux-operator"]);
    let pods = Api::<Pod>::namespaced(fleet.client.clone(), "flux-system");
    let pods: Vec<String> =
        pods.list(&ListParams::default()).await.unwrap().iter().map(ResourceExt::name_any).collect();
    assert!(pods.iter().all(|pod| pod.starts_with("flux-operator-")), "{pods:?}");
    let after = deployments(&fleet, "web").get("web").await.unwrap();
    assert_eq!(after.uid(), web.uid(), "the application was deleted and created again");
    assert!(after.metadata.deletion_timestamp.is_none());
    let site = Api::<ConfigMap>::namespaced(fleet.client.clone(), "web");
    assert!(site.get("site").await.unwrap().metadata.deletion_timestamp.is_none());
    let namespaces = Api::<Namespace>::all(fleet.client.clone());
    assert!(namespaces.get("web").await.unwrap().metadata.deletion_timestamp.is_none());
}

/// Waits until everything of the repository is there, and gives its Deployment.
async fn follows(fleet: &Fleet) -> Deployment {
    for (group, version, kind, name) in [
        ("source", "v1", "GitRepository", "flux-system"),
        ("kustomize", "v1", "Kustomization", "flux-system"),
        ("kustomize", "v1", "Kustomization", "web"),
        ("helm", "v2", "HelmRelease", "site"),
    ] {
        let objects = objects(fleet, group, version, kind);
        let ready = wait_for(&objects, name, has_condition("Ready", "True"), LONG);
        ready.await.unwrap_or_else(|error| {
            panic!("{error}\n{}", fleet.agent.log_tails(&format!("{group}-controller")));
        });
    }
    wait_for(&deployments(fleet, "web"), "web", has_condition("Available", "True"), LONG).await.unwrap()
}

async fn a_commit_arrives(fleet: &Fleet) {
    let mut files = fleet_files().unwrap();
    let settings = files.get_mut("clusters/staging/settings.yaml").unwrap();
    *settings = settings.replace("replicas: \"1\"", "replicas: \"2\"");
    let commit = fleet.commit(&files).await.unwrap();
    let sources = objects(fleet, "source", "v1", "GitRepository");
    let now = json!({"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": commit}}});
    sources.patch("flux-system", &PatchParams::default(), &Patch::Merge(&now)).await.unwrap();
    let has_two = |web: &Deployment| web.spec.as_ref().and_then(|spec| spec.replicas) == Some(2);
    wait_for(&deployments(fleet, "web"), "web", has_two, LONG).await.unwrap();
}

async fn a_hand_edit_is_put_back(fleet: &Fleet) {
    let controllers = deployments(fleet, "flux-system");
    let before = arguments(&controllers.get("source-controller-apps").await.unwrap());
    assert!(before.contains(&"--concurrent=10".to_owned()), "{before:?}");
    let edit = json!([{"op": "replace", "path": "/spec/template/spec/containers/0/args", "value": ["--log-level=debug"]}]);
    let edit: Patch<()> = Patch::Json(serde_json::from_value(edit).unwrap());
    controllers.patch("source-controller-apps", &PatchParams::default(), &edit).await.unwrap();
    let is_back = |controller: &Deployment| arguments(controller) == before;
    wait_for(&controllers, "source-controller-apps", is_back, REPAIRED_WITHIN).await.unwrap();
}

/// The operator's pod is replaced in an upgrade of its chart: the instance stays as it is.
async fn another_operator_takes_over(fleet: &Fleet) {
    let before = instances(fleet).get("flux").await.unwrap();
    let leases: Api<Lease> = Api::namespaced(fleet.client.clone(), crds::DEFAULT_NAMESPACE);
    let holder = |lease: &Lease| lease.spec.as_ref().and_then(|spec| spec.holder_identity.clone());
    let former = holder(&leases.get("flux-operator").await.unwrap());
    fleet.install_operator(&["--set", "extraArgs={--log-level=debug}"]).await.unwrap();
    let is_another = |lease: &Lease| holder(lease).is_some_and(|now| !now.is_empty() && Some(now) != former);
    wait_for(&leases, "flux-operator", is_another, LONG).await.unwrap();
    let after = instances(fleet).get("flux").await.unwrap();
    assert_eq!(before.metadata.generation, after.metadata.generation);
    assert_eq!(before.metadata.uid, after.metadata.uid);
    assert!(has_condition("Ready", "True")(&after));
}

async fn a_change_of_values_is_rolled_out(fleet: &Fleet) {
    let change = ["--set", "instance.commonMetadata.labels.team=platform"];
    fleet.install_instance(&change).await.unwrap();
    let ready = instances(fleet).get("flux").await.unwrap();
    assert!(has_condition("Ready", "True")(&ready), "the health check passed");
    let controllers = deployments(fleet, "flux-system").get("helm-controller").await.unwrap();
    assert_eq!(controllers.labels()["team"], "platform");
}

fn arguments(deployment: &Deployment) -> Vec<String> {
    let pod = deployment.spec.as_ref().and_then(|spec| spec.template.spec.as_ref());
    pod.and_then(|pod| pod.containers.first())
        .and_then(|container| container.args.clone())
        .unwrap_or_default()
}

fn environment(deployment: &Deployment) -> BTreeMap<String, String> {
    let pod = deployment.spec.as_ref().and_then(|spec| spec.template.spec.as_ref());
    let variables =
        pod.into_iter().flat_map(|pod| &pod.containers).flat_map(|container| container.env.iter().flatten());
    variables.map(|variable| (variable.name.clone(), variable.value.clone().unwrap_or_default())).collect()
}

fn instances(fleet: &Fleet) -> Api<FluxInstance> {
    Api::namespaced(fleet.client.clone(), crds::DEFAULT_NAMESPACE)
}

fn deployments(fleet: &Fleet, namespace: &str) -> Api<Deployment> {
    Api::namespaced(fleet.client.clone(), namespace)
}
