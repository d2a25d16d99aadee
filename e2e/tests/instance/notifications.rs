//! What notification-controller is told.

use crds::status::ConditionStatus;
use e2e::{ControlPlane, Installation, Operator, OperatorOptions, install_definitions, ready};
use k8s_openapi::api::{apps::v1::Deployment, core::v1::Event};
use kube::{
    Api,
    api::{DeleteParams, ListParams, Patch, PatchParams},
};
use serde_json::{Value, json};

use crate::{LONG, receiver::Receiver};

const REVISION: &str = "fluxcd.controlplane.io/revision";
const ALL: [&str; 4] =
    ["source-controller", "kustomize-controller", "helm-controller", "notification-controller"];

#[tokio::test]
async fn notification_controller_is_told_of_changes_and_failures() {
    let mut receiver = Receiver::start().await;
    let flux = start("notify-changes", vec![format!("--events-addr={}", receiver.url)]).await;
    flux.apply(&json!({"components": ALL})).await;
    flux.annotate("event.toolkit.fluxcd.io/team", json!("platform")).await;
    let instance = flux.wait_until_ready(LONG).await;

    let installed = receiver.next("ReconciliationSucceeded", LONG).await;
    let lines = lines(&installed);
    assert_eq!(lines[0], "Flux v2.9.5 installed");
    for expected in [
        "CustomResourceDefinition/gitrepositories.source.toolkit.fluxcd.io created",
        "Deployment/flux-system/source-controller created",
        // It was there before.
        "Namespace/flux-system configured",
    ] {
        assert!(lines.iter().any(|line| line == expected), "no '{expected}' in {lines:#?}");
    }
    assert_eq!(lines.len(), 1 + 32, "{lines:#?}");
    let revision = instance.status.unwrap().last_applied_revision.unwrap();
    assert_eq!(installed["metadata"][REVISION], json!(revision));
    assert_eq!(installed["metadata"]["event.toolkit.fluxcd.io/team"], "platform");
    assert_eq!(installed["severity"], "info");
    assert_eq!(installed["reportingController"], "flux-operator");
    let involved = &installed["involvedObject"];
    assert_eq!((&involved["kind"], &involved["name"]), (&json!("FluxInstance"), &json!("flux")));
    assert_eq!(involved["uid"], json!(instance.metadata.uid));
    let events: Api<Event> = Api::namespaced(flux.client.clone(), "flux-system");
    let recorded = events.list(&ListParams::default()).await.unwrap().items;
    let progressing = recorded.iter().find(|event| event.reason.as_deref() == Some("Progressing")).unwrap();
    assert_eq!(progressing.message, Some(format!("Installing revision {revision}")));
    let told =
        |event: &&Event| event.message.as_deref().is_some_and(|it| it.starts_with("Flux v2.9.5 installed\n"));
    let told = recorded.iter().find(told).unwrap();
    assert_eq!(told.metadata.annotations.as_ref().unwrap()[REVISION], revision);

    // What only one of them has is told, and nothing else.
    flux.apply(&json!({"components": ALL[1..]})).await;
    flux.wait_until_ready(LONG).await;
    let updated = receiver.next("ReconciliationSucceeded", LONG).await;
    let lines = self::lines(&updated);
    assert_eq!(lines[0], "Flux v2.9.5 updated");
    assert!(
        lines.iter().any(|line| line == "Deployment/flux-system/source-controller deleted"),
        "{lines:#?}"
    );
    assert!(!lines.iter().any(|line| line.ends_with("created")), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("/helm-controller ")), "unchanged objects: {lines:#?}");

    let deployments: Api<Deployment> = Api::namespaced(flux.client.clone(), "flux-system");
    let edit = Patch::Merge(json!({"spec": {"replicas": 0}}));
    deployments.patch("helm-controller", &PatchParams::default(), &edit).await.unwrap();
    let repaired = receiver.next("ReconciliationSucceeded", LONG).await;
    assert_eq!(repaired["message"], "Corrected drift in Deployment/flux-system/helm-controller");

    flux.apply(&json!({"distribution": {"version": "3.x", "registry": "ghcr.io/fluxcd"}})).await;
    let refused = receiver.next("BuildFailed", LONG).await;
    assert_eq!(refused["severity"], "error");
    assert!(refused["message"].as_str().unwrap().contains("no version matches"), "{refused:#}");
}

#[tokio::test]
async fn a_failure_to_install_or_uninstall_is_told() {
    let mut receiver = Receiver::start().await;
    let flux = start("notify-failures", vec![format!("--events-addr={}", receiver.url)]).await;
    let patch = "[{op: add, path: /spec/template/spec/nodeSelector, value: {no: such-node}}]";
    let target = json!({"kind": "Deployment", "name": "source-controller"});
    flux.apply(&json!({"kustomize": {"patches": [{"patch": patch, "target": target}]}})).await;
    flux.annotate("fluxcd.controlplane.io/reconcileTimeout", json!("2s")).await;
    let failed = receiver.next("ReconciliationFailed", LONG).await;
    assert_eq!(failed["severity"], "error");
    let message = failed["message"].as_str().unwrap();
    assert!(message.contains("Deployment/flux-system/source-controller"), "{message}");
    assert!(failed["metadata"][REVISION].as_str().unwrap().starts_with("v2.9.5@sha256:"));

    let deployments: Api<Deployment> = Api::namespaced(flux.client.clone(), "flux-system");
    let keep = json!({"metadata": {"annotations": {"fluxcd.controlplane.io/prune": "disabled"}}});
    deployments.patch("source-controller", &PatchParams::default(), &Patch::Merge(keep)).await.unwrap();
    flux.instances().delete("flux", &DeleteParams::default()).await.unwrap();
    let kept = loop {
        let failed = receiver.next("ReconciliationFailed", LONG).await;
        if failed["message"].as_str().unwrap().starts_with("Uninstalling Flux is not finished") {
            break failed;
        }
    };
    assert!(kept["message"].as_str().unwrap().contains("source-controller"), "{kept:#}");
}

#[tokio::test]
async fn a_receiver_that_does_not_answer_holds_nothing_up() {
    let mut receiver = Receiver::start().await;
    receiver.set_answering(false);
    let flux = start("notify-silence", vec![format!("--events-addr={}", receiver.url)]).await;
    flux.apply(&json!({})).await;
    flux.wait_until_ready(LONG).await;
    receiver.next("ReconciliationSucceeded", LONG).await;
    // While nobody answers, the operator goes on.
    flux.apply(&json!({"distribution": {"version": "3.x", "registry": "ghcr.io/fluxcd"}})).await;
    let refused = flux.wait_for_reason("BuildFailed", LONG).await;
    assert_eq!(ready(&refused).unwrap().status, ConditionStatus::False);
    receiver.set_answering(true);
    receiver.next("BuildFailed", LONG).await;
}

async fn start(name: &str, arguments: Vec<String>) -> Installation {
    let plane = ControlPlane::start(name).await.unwrap();
    let client = plane.client().await.unwrap();
    install_definitions(&client).await.unwrap();
    let options = OperatorOptions { arguments, ..OperatorOptions::default() };
    let operator = Operator::start(&plane, options).unwrap();
    Installation { operator, client, plane }
}

/// The lines of an event's message.
fn lines(event: &Value) -> Vec<String> {
    event["message"].as_str().unwrap().lines().map(str::to_owned).collect()
}
