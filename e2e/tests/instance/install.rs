//! Installing Flux and changing it.

use std::collections::BTreeMap;

use e2e::{Installation, apply_yaml, has_condition, wait_until_gone};
use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        core::v1::{Event, ServiceAccount},
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, ResourceExt as _,
    api::{ListParams, Patch, PatchParams},
};
use serde_json::json;

use crate::LONG;

#[tokio::test]
async fn flux_is_installed_changed_and_kept() {
    let flux = Installation::start("instance-install").await.unwrap();
    flux.apply(&json!({})).await;
    let instance = flux.wait_until_ready(LONG).await;
    let status = instance.status.clone().unwrap();
    let revision = status.last_applied_revision.clone().unwrap();
    assert!(revision.starts_with("v2.9.5@sha256:"), "{revision}");
    assert_eq!(status.last_attempted_revision.as_deref(), Some(revision.as_str()));
    let names: Vec<&str> = status.components.iter().map(|component| component.name.as_str()).collect();
    assert_eq!(
        names,
        ["helm-controller", "kustomize-controller", "notification-controller", "source-controller"]
    );
    assert_eq!(status.history.len(), 1);
    let entries = status.inventory.unwrap().entries;
    assert_eq!(entries.len(), 32);
    assert!(entries.iter().all(|entry| entry.uid.is_some()));

    let deployments: Api<Deployment> = Api::namespaced(flux.client.clone(), "flux-system");
    for deployment in deployments.list(&ListParams::default()).await.unwrap() {
        assert!(has_condition("Available", "True")(&deployment), "{}", deployment.name_any());
    }
    let before: BTreeMap<String, Option<String>> = uids(&deployments).await;

    // One more component, one less, a shard and a patch, all in one edit.
    flux.apply(&json!({
        "components": ["source-controller", "kustomize-controller", "helm-controller", "source-watcher"],
        "sharding": {"shards": ["apps"]},
        "kustomize": {"patches": [{
            "target": {"kind": "Deployment", "name": "source-controller"},
            "patch": "[{op: add, path: /spec/template/spec/containers/0/args/-, value: --concurrent=10}]"
        }]}
    }))
    .await;
    let changed = flux.wait_until_ready(LONG).await;
    wait_until_gone(&deployments, "notification-controller", LONG).await.unwrap();
    let after = uids(&deployments).await;
    for kept in ["source-controller", "kustomize-controller", "helm-controller"] {
        assert_eq!(before[kept], after[kept], "{kept} was recreated");
    }
    let sharded: Vec<&String> = after.keys().filter(|name| name.ends_with("-apps")).collect();
    assert_eq!(
        sharded,
        [
            "helm-controller-apps",
            "kustomize-controller-apps",
            "source-controller-apps",
            "source-watcher-apps"
        ]
    );
    let source = deployments.get("source-controller").await.unwrap();
    let arguments = source.spec.unwrap().template.spec.unwrap().containers[0].args.clone().unwrap();
    assert!(arguments.contains(&"--concurrent=10".to_owned()), "{arguments:?}");
    let definitions: Api<CustomResourceDefinition> = Api::all(flux.client.clone());
    wait_until_gone(&definitions, "alerts.notification.toolkit.fluxcd.io", LONG).await.unwrap();
    let accounts: Api<ServiceAccount> = Api::namespaced(flux.client.clone(), "flux-system");
    wait_until_gone(&accounts, "notification-controller", LONG).await.unwrap();

    let status = changed.status.unwrap();
    assert_eq!(status.history.len(), 2);
    assert_ne!(status.last_applied_revision.as_deref(), Some(revision.as_str()));
}

#[tokio::test]
async fn an_older_install_is_taken_over() {
    let flux = Installation::start("instance-takeover").await.unwrap();
    let deployments: Api<Deployment> = Api::namespaced(flux.client.clone(), "flux-system");
    // As `flux bootstrap` leaves it: applied by another manager, with labels of its Kustomization, and a field
    // that the new manifests do not name.
    let old = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "source-controller",
            "labels": {"kustomize.toolkit.fluxcd.io/name": "flux-system", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"},
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}
        },
        "spec": {
            "paused": false,
            "minReadySeconds": 1,
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": {"app": "source-controller"}},
            "template": {
                "metadata": {"labels": {"app": "source-controller"}},
                "spec": {"containers": [{"name": "manager", "image": "ghcr.io/fluxcd/source-controller:v1.6.0"}]}
            }
        }
    });
    let created = deployments
        .patch("source-controller", &PatchParams::apply("flux").force(), &Patch::Apply(&old))
        .await
        .unwrap();
    let foreign = json!({"metadata": {"labels": {"team": "platform"}}});
    deployments
        .patch(
            "source-controller",
            &PatchParams { field_manager: Some("a-tool".to_owned()), ..PatchParams::default() },
            &Patch::Merge(&foreign),
        )
        .await
        .unwrap();

    flux.apply(&json!({})).await;
    flux.wait_until_ready(LONG).await;
    let adopted = deployments.get("source-controller").await.unwrap();
    assert_eq!(adopted.metadata.uid, created.metadata.uid);
    let managers: Vec<&str> = adopted
        .metadata
        .managed_fields
        .iter()
        .flatten()
        .filter_map(|entry| entry.manager.as_deref())
        .collect();
    assert!(!managers.contains(&"flux"), "{managers:?}");
    assert_eq!(adopted.spec.as_ref().unwrap().min_ready_seconds, None, "a field of the former manager stays");
    let labels = adopted.labels();
    assert!(!labels.contains_key("kustomize.toolkit.fluxcd.io/name"), "{labels:?}");
    assert_eq!(labels["team"], "platform", "a label of somebody else goes");
    assert!(!adopted.annotations().contains_key("kubectl.kubernetes.io/last-applied-configuration"));

    // Later edits of fields that the manifests do not name stay.
    let edit = json!({"spec": {"minReadySeconds": 2}});
    let parameters = PatchParams { field_manager: Some("kubectl-edit".to_owned()), ..PatchParams::default() };
    deployments.patch("source-controller", &parameters, &Patch::Merge(&edit)).await.unwrap();
    flux.apply(&json!({"commonMetadata": {"labels": {"round": "2"}}})).await;
    flux.wait_until_ready(LONG).await;
    let edited = deployments.get("source-controller").await.unwrap();
    assert_eq!(edited.labels()["round"], "2");
    assert_eq!(edited.spec.unwrap().min_ready_seconds, Some(2));
}

#[tokio::test]
async fn an_instance_elsewhere_is_told_where_it_belongs() {
    let flux = Installation::start("instance-elsewhere").await.unwrap();
    let text = "
apiVersion: v1
kind: Namespace
metadata: {name: elsewhere}
---
apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata: {name: flux, namespace: elsewhere}
spec: {distribution: {version: 2.x, registry: ghcr.io/fluxcd}}
";
    apply_yaml(&flux.client, text).await.unwrap();
    let events: Api<Event> = Api::namespaced(flux.client.clone(), "elsewhere");
    let told = e2e::wait_for_any(
        &events,
        |event| event.involved_object.kind.as_deref() == Some("FluxInstance"),
        LONG,
    )
    .await
    .unwrap();
    assert_eq!(told.type_.as_deref(), Some("Warning"));
    assert!(told.message.unwrap().contains("the one in namespace flux-system"));
}

async fn uids(deployments: &Api<Deployment>) -> BTreeMap<String, Option<String>> {
    let list = deployments.list(&ListParams::default()).await.unwrap();
    list.into_iter().map(|deployment| (deployment.name_any(), deployment.uid())).collect()
}
