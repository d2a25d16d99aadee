//! What others do while objects are rewritten.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use crds::FluxInstance;
use e2e::{
    Installation, Operator,
    proxy::{Answer, Fault, FaultProxy, Moment, Verb},
    ready, wait_for, wait_for_any,
};
use http::StatusCode;
use k8s_openapi::api::core::v1::Event;
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams, PostParams},
    core::DynamicObject,
};
use serde_json::json;

use crate::{
    IMAGE_DEFINITIONS, LONG, behind, definitions, new, objects, old_flux, stored_versions, version, versions,
};

const REPOSITORIES: &str = IMAGE_DEFINITIONS[1];

#[tokio::test]
async fn objects_that_others_change_and_delete_meanwhile_are_no_obstacle() {
    let (flux, proxy) = behind_a_proxy("upgrade-busy").await;
    let repositories = objects::api(&flux.client, "ImageRepository", "v1beta2");
    let replaced = repositories.get("app-003").await.unwrap();
    let done = Arc::new(Mutex::new(BTreeSet::new()));
    let others = (repositories.clone(), done.clone());
    proxy.set_rule(move |moment, record| {
        let request = &record.request;
        let is_ours = moment == Moment::Arrived && request.resource == "imagerepositories";
        let is_second_page = request.verb == Verb::List && request.path.contains("continue=");
        let is_write = request.verb == Verb::Patch;
        let step = if is_second_page { "page" } else { request.name.as_str() };
        if !is_ours || !(is_write || is_second_page) || !others.1.lock().unwrap().insert(step.to_owned()) {
            return None;
        }
        let api = others.0.clone();
        Some(match step {
            "page" => Fault::Answer(Answer::refuse(StatusCode::GONE, "the list is too old")),
            "app-000" => Fault::Hold(Fault::action(move || async move { label(&api, "app-000").await })),
            "app-001" => Fault::Hold(Fault::action(move || async move { delete(&api, "app-001").await })),
            "app-003" => Fault::Hold(Fault::action(move || async move { replace(&api, "app-003").await })),
            _ => return None,
        })
    });

    flux.apply(&new()).await;
    let upgraded = flux.wait_until_ready(LONG).await;
    assert_eq!(version(&upgraded), "v2.9.5");
    let steps: Vec<&str> = ["app-000", "app-001", "app-003", "page"].to_vec();
    assert!(steps.iter().all(|step| done.lock().unwrap().contains(*step)));
    let repositories = objects::api(&flux.client, "ImageRepository", "v1");
    assert_eq!(repositories.get("app-000").await.unwrap().labels()["changed"], "meanwhile");
    assert!(repositories.get_opt("app-001").await.unwrap().is_none());
    assert_ne!(repositories.get("app-003").await.unwrap().uid(), replaced.uid());
    let owned = objects::owned_versions(&flux.client, "v1").await;
    assert_eq!(owned, ["image.toolkit.fluxcd.io/v1", "source.toolkit.fluxcd.io/v1"]);
    let statuses: BTreeSet<Option<u16>> = proxy.since(0).into_iter().map(|record| record.status).collect();
    assert!([404, 409, 410].iter().all(|status| statuses.contains(&Some(*status))), "{statuses:?}");

    // A pass over the same revision looks at no definition and rewrites nothing.
    let mark = proxy.mark();
    request(&flux, "again", None).await;
    for record in proxy.since(mark) {
        let is_look =
            record.request.verb == Verb::Get && record.request.resource == "customresourcedefinitions";
        let is_rewrite =
            record.request.group == "image.toolkit.fluxcd.io" && record.request.verb != Verb::Watch;
        assert!(!is_look && !is_rewrite, "{record}");
    }
}

#[tokio::test]
async fn an_object_that_cannot_be_written_is_named_and_keeps_its_definition() {
    let (flux, proxy) = behind_a_proxy("upgrade-denied").await;
    let is_denied = Arc::new(AtomicBool::new(true));
    let gate = is_denied.clone();
    proxy.set_rule(move |moment, record| {
        let is_write = record.request.verb == Verb::Patch && record.request.name == "app-007";
        let denial = "admission webhook \"freeze.example.com\" denied the request: frozen";
        (is_write && moment == Moment::Arrived && gate.load(Ordering::SeqCst))
            .then(|| Fault::Answer(Answer::refuse(StatusCode::FORBIDDEN, denial)))
    });

    flux.apply(&new()).await;
    let failed = flux.wait_for_reason("ReconciliationFailed", LONG).await;
    assert_eq!(
        ready(&failed).unwrap().message,
        "failed to rewrite ImageRepository/tenant/app-007 to v1, and CustomResourceDefinition imagerepositories.image.toolkit.fluxcd.io keeps its old versions until that works: allow the write, or delete the object: admission webhook \"freeze.example.com\" denied the request: frozen"
    );
    let definition = definitions(&flux.client).get(REPOSITORIES).await.unwrap();
    assert_eq!(versions(&definition), ["v1", "v1beta1", "v1beta2"]);
    assert!(definition.spec.versions.iter().all(|version| version.served));
    assert_eq!(stored_versions(&definition), ["v1beta2", "v1"]);

    is_denied.store(false, Ordering::SeqCst);
    let upgraded = flux.wait_until_ready(LONG).await;
    assert_eq!(version(&upgraded), "v2.9.5");
    assert_eq!(versions(&definitions(&flux.client).get(REPOSITORIES).await.unwrap()), ["v1"]);

    // Once Flux runs, a migration that fails is told, and fails nothing.
    is_denied.store(true, Ordering::SeqCst);
    let forced = request(&flux, "force", Some("force")).await;
    assert_eq!(ready(&forced).unwrap().reason, "ReconciliationSucceeded");
    let events: Api<Event> = Api::namespaced(flux.client.clone(), "flux-system");
    let is_told = |event: &Event| {
        event.reason.as_deref() == Some("MigrationFailed")
            && event
                .message
                .as_deref()
                .is_some_and(|message| message.contains("ImageRepository/tenant/app-007"))
    };
    wait_for_any(&events, is_told, LONG).await.unwrap();
    assert_eq!(forced.status.unwrap().last_handled_force_at, None, "what was forced was not done");

    is_denied.store(false, Ordering::SeqCst);
    let forced = request(&flux, "again", Some("again")).await;
    assert_eq!(forced.status.unwrap().last_handled_force_at.as_deref(), Some("again"));
}

/// Flux 2.6.4 with objects, and an operator that works through a proxy.
async fn behind_a_proxy(name: &str) -> (Installation, FaultProxy) {
    let mut flux = old_flux(name).await;
    objects::create(&flux.client).await;
    flux.operator.kill();
    flux.operator.wait_for_exit(LONG).await.unwrap();
    let proxy = FaultProxy::start(&flux.plane).await.unwrap();
    flux.operator = Operator::start(&flux.plane, behind(&proxy)).unwrap();
    (flux, proxy)
}

/// Asks for a pass, and waits for its end.
pub(crate) async fn request(flux: &Installation, at: &str, force_at: Option<&str>) -> FluxInstance {
    let annotations = json!({"reconcile.fluxcd.io/requestedAt": at, "reconcile.fluxcd.io/forceAt": force_at});
    let patch = Patch::Merge(json!({"metadata": {"annotations": annotations}}));
    flux.instances().patch("flux", &PatchParams::default(), &patch).await.unwrap();
    let is_handled = |instance: &FluxInstance| {
        instance.status.as_ref().is_some_and(|status| status.last_handled_reconcile_at.as_deref() == Some(at))
    };
    let handled = wait_for(&flux.instances(), "flux", is_handled, LONG).await;
    handled.unwrap_or_else(|error| panic!("{error}\n{}", flux.operator.log_tail()))
}

async fn label(api: &Api<DynamicObject>, name: &str) {
    let label = json!({"metadata": {"labels": {"changed": "meanwhile"}}});
    api.patch(name, &PatchParams::default(), &Patch::Merge(&label)).await.unwrap();
}

async fn delete(api: &Api<DynamicObject>, name: &str) {
    api.delete(name, &DeleteParams::default()).await.unwrap();
}

async fn replace(api: &Api<DynamicObject>, name: &str) {
    let mut copy = api.get(name).await.unwrap();
    delete(api, name).await;
    copy.metadata =
        kube::core::ObjectMeta { name: Some(name.to_owned()), ..kube::core::ObjectMeta::default() };
    api.create(&PostParams::default(), &copy).await.unwrap();
}
