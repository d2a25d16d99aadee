//! An instance that this version of the operator cannot read, because other definitions are installed.

use crds::{FluxInstance, INSTANCE_NAME};
use e2e::{Installation, apply, has_condition, wait_for};
use k8s_openapi::api::core::v1::Event;
use kube::{
    Api,
    api::{ListParams, Patch, PatchParams},
    core::{ApiResource, DynamicObject},
};
use serde_json::{Value, json};

use crate::LONG;

#[tokio::test]
async fn an_instance_that_cannot_be_read_says_so_and_heals() {
    let flux = Installation::start("instance-unreadable").await.unwrap();
    flux.apply(&json!({})).await;
    let ready = flux.wait_until_ready(LONG).await;
    let inventory = ready.status.unwrap().inventory.unwrap();
    let definition =
        crds::definitions().into_iter().find(|it| it.definition.spec.names.kind == "FluxInstance");
    let mut lax = serde_json::to_value(definition.unwrap().definition).unwrap();
    lax["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] =
        json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    apply(&flux.client, lax).await.unwrap();

    let instances: Api<DynamicObject> =
        Api::namespaced_with(flux.client.clone(), "flux-system", &ApiResource::erase::<FluxInstance>(&()));
    let change = async |spec: Value| {
        let patch = Patch::Merge(json!({"spec": spec}));
        instances.patch(INSTANCE_NAME, &PatchParams::default(), &patch).await.unwrap();
    };
    change(json!({"components": "all"})).await;
    let unreadable =
        wait_for(&instances, INSTANCE_NAME, has_condition("Stalled", "True"), LONG).await.unwrap();
    let conditions = unreadable.data["status"]["conditions"].as_array().unwrap();
    let find = |type_: &str| conditions.iter().find(|condition| condition["type"] == type_).unwrap();
    let ready = find("Ready");
    assert_eq!((&ready["status"], &ready["reason"]), (&json!("False"), &json!("BuildFailed")));
    assert_eq!(ready["observedGeneration"], json!(unreadable.metadata.generation));
    let message = ready["message"].as_str().unwrap();
    assert!(message.starts_with("the FluxInstance cannot be read: "), "{message}");
    assert!(message.contains("\"all\""), "the value: {message}");
    assert_eq!(unreadable.data["status"]["inventory"], serde_json::to_value(&inventory).unwrap());
    assert_eq!(events(&flux).await, 1);

    // A change that does not help is told again only when it is another mistake.
    change(json!({"wait": true})).await;
    let is_seen = |instance: &DynamicObject| {
        instance.data["status"]["conditions"][0]["observedGeneration"] == json!(instance.metadata.generation)
    };
    wait_for(&instances, INSTANCE_NAME, is_seen, LONG).await.unwrap();
    change(json!({"components": null})).await;
    let healed = flux.wait_until_ready(LONG).await;
    let status = healed.status.unwrap();
    assert_eq!(status.conditions.len(), 1, "{:?}", status.conditions);
    assert_eq!(status.inventory, Some(inventory));
    assert_eq!(events(&flux).await, 1);
}

/// How often it was told that the build failed.
async fn events(flux: &Installation) -> usize {
    let events: Api<Event> = Api::namespaced(flux.client.clone(), "flux-system");
    let told = events.list(&ListParams::default()).await.unwrap().items;
    told.iter().filter(|event| event.reason.as_deref() == Some("BuildFailed")).count()
}
