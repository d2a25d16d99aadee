//! Releases in a real cluster: from another implementation of this API to this one, and gone again.
//!
//! No operator runs here: the pods are simulated.

use std::path::Path;

use e2e::{ControlPlane, apply_yaml};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Service, ServiceAccount};
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind};
use kube::{Client, Resource, ResourceExt};

use crate::cluster::own_plane;
use crate::helm::{INSTANCE, NAMESPACE, OPERATOR, command, run, text};

/// A release that another implementation of this API left: names, labels and definitions are what they share.
const STAND_IN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/charts/data/stand-in");
const NAME: &str = "flux-operator";
/// Longer than the simulated pods need on a busy machine.
const TIMEOUT: &str = "90s";

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_goes_over_the_release_of_another_implementation() {
    go_over_a_release("charts-upgrade", "--server-side=true").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_goes_over_a_release_that_helm_3_made() {
    // Helm 3 computes changes itself, and upgrades of its releases go on doing so.
    go_over_a_release("charts-upgrade-3", "--server-side=false").await;
}

async fn go_over_a_release(plane: &str, method: &str) {
    let plane = own_plane(plane).await;
    let cluster = Cluster { client: plane.client().await.unwrap(), plane: &plane };
    let foreign = &OPERATOR.value_files()["foreign"];
    cluster.helm(&["install", NAME, STAND_IN, method], foreign).unwrap();
    apply_yaml(&cluster.client, include_str!("data/instance.yaml")).await.unwrap();
    let before = cluster.identities().await;
    let instance = cluster.instance().await.unwrap();

    let notes = cluster.upgrade(NAME, &OPERATOR.folder(), foreign);
    assert!(notes.contains("fips"), "{notes}");

    assert_eq!(cluster.identities().await, before, "an object was deleted and created again");
    let after = cluster.instance().await.unwrap();
    assert_eq!(after.resource_version(), instance.resource_version(), "the upgrade touched the instance");
    let deployment =
        Api::<Deployment>::namespaced(cluster.client.clone(), NAMESPACE).get(NAME).await.unwrap();
    let pod = deployment.spec.unwrap().template.spec.unwrap();
    assert_eq!(pod.containers.len(), 1, "{:?}", pod.containers);
    assert!(pod.containers[0].args.as_ref().unwrap().contains(&"--web-server-port=0".to_owned()));
    let bindings = Api::<ClusterRoleBinding>::all(cluster.client.clone());
    assert!(bindings.get_opt(NAME).await.unwrap().is_none(), "the binding of the old release is still there");
    let binding = bindings.get("flux-operator:cluster-admin").await.unwrap();
    assert_eq!(binding.role_ref.name, "cluster-admin");
}

#[tokio::test(flavor = "multi_thread")]
async fn releases_are_installed_changed_and_uninstalled_and_the_definitions_stay() {
    let plane = own_plane("charts-releases").await;
    let cluster = Cluster { client: plane.client().await.unwrap(), plane: &plane };
    let operator = &OPERATOR.value_files()["default"];
    cluster.helm(&["install", NAME, OPERATOR.folder().to_str().unwrap()], operator).unwrap();
    let (release, chart) = (INSTANCE.release, INSTANCE.folder());
    cluster.helm(&["install", release, chart.to_str().unwrap()], "").unwrap();
    assert_eq!(cluster.instance().await.unwrap().data["spec"]["wait"], true);

    cluster.upgrade(release, &chart, &INSTANCE.value_files()["fleet"]);
    let instance = cluster.instance().await.unwrap();
    assert_eq!(instance.data["spec"]["sync"]["path"], "clusters/production");

    let again = cluster.helm(&["uninstall", NAME], "").unwrap();
    assert!(again.contains("fluxinstances.fluxcd.controlplane.io"), "Helm says what it keeps: {again}");
    let left = cluster.instance().await.unwrap();
    assert_eq!(left.uid(), instance.uid(), "the definition went, and the instance with it");
    let deployments = Api::<Deployment>::namespaced(cluster.client.clone(), NAMESPACE);
    assert!(deployments.get_opt(NAME).await.unwrap().is_none());

    cluster.helm(&["install", NAME, OPERATOR.folder().to_str().unwrap()], operator).unwrap();
    cluster.helm(&["uninstall", release], "").unwrap();
    assert!(cluster.instance().await.is_none());
}

/// A cluster with Helm.
struct Cluster<'a> {
    plane: &'a ControlPlane,
    client: Client,
}

impl Cluster<'_> {
    /// Runs Helm against the cluster, waits for what it does, and gives what it printed.
    fn helm(&self, arguments: &[&str], values: &str) -> Result<String, String> {
        let mut command = command();
        command.env("KUBECONFIG", self.plane.kubeconfig()).args(arguments);
        command.args(["--namespace", NAMESPACE, "--wait", "--timeout", TIMEOUT]);
        if arguments[0] != "uninstall" {
            command.args(["--create-namespace", "--values", "-"]);
        }
        text(run(&mut command, values))
    }

    /// Upgrades a release, and gives its notes.
    fn upgrade(&self, release: &str, chart: &Path, values: &str) -> String {
        self.helm(&["upgrade", "--install", release, chart.to_str().unwrap()], values).unwrap()
    }

    /// What tells objects of the operator's release from others of the same name.
    async fn identities(&self) -> Vec<String> {
        let definition = Api::<CustomResourceDefinition>::all(self.client.clone())
            .get("fluxinstances.fluxcd.controlplane.io")
            .await
            .unwrap();
        vec![
            definition.uid().unwrap(),
            self.identity::<Deployment>().await,
            self.identity::<Service>().await,
            self.identity::<ServiceAccount>().await,
        ]
    }

    async fn identity<K>(&self) -> String
    where
        K: Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>
            + Clone
            + std::fmt::Debug
            + serde::de::DeserializeOwned,
    {
        Api::<K>::namespaced(self.client.clone(), NAMESPACE).get(NAME).await.unwrap().uid().unwrap()
    }

    async fn instance(&self) -> Option<DynamicObject> {
        let kind = GroupVersionKind::gvk("fluxcd.controlplane.io", "v1", "FluxInstance");
        let resource = ApiResource::from_gvk(&kind);
        let api = Api::<DynamicObject>::namespaced_with(self.client.clone(), NAMESPACE, &resource);
        api.get_opt("flux").await.unwrap()
    }
}
