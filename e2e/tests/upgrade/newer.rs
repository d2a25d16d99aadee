//! Definitions of a newer Flux.

use e2e::{ready, wait_for_any};
use k8s_openapi::api::core::v1::Event;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use serde_json::json;

use crate::{IMAGE_DEFINITIONS, LONG, definitions, new, old_flux, uids, version, versions};

#[tokio::test]
async fn a_definition_of_a_newer_flux_is_left_alone_and_named() {
    let flux = old_flux("upgrade-newer").await;
    let [newer, others @ ..] = IMAGE_DEFINITIONS;
    let label = json!({"metadata": {"labels": {"app.kubernetes.io/version": "v2.99.0"}}});
    let definitions = definitions(&flux.client);
    let labelled = definitions.patch(newer, &PatchParams::default(), &Patch::Merge(&label)).await.unwrap();

    flux.apply(&new()).await;
    let upgraded = flux.wait_until_ready(LONG).await;
    assert_eq!(version(&upgraded), "v2.9.5");
    let message = &ready(&upgraded).unwrap().message;
    let named = "; these CustomResourceDefinitions are newer than v2.9.5 and were left as they are: imagepolicies.image.toolkit.fluxcd.io (v2.99.0); choose a newer Flux with spec.distribution.version";
    assert!(message.ends_with(named), "{message}");
    let events: Api<Event> = Api::namespaced(flux.client.clone(), "flux-system");
    let is_told = |event: &Event| {
        event.type_.as_deref() == Some("Warning") && event.reason.as_deref() == Some("DefinitionNewer")
    };
    let event = wait_for_any(&events, is_told, LONG).await.unwrap();
    assert!(event.message.unwrap().contains("imagepolicies.image.toolkit.fluxcd.io is of Flux v2.99.0"));

    let left = definitions.get(newer).await.unwrap();
    assert_eq!((&left.spec, &left.metadata), (&labelled.spec, &labelled.metadata));
    let id = format!("_{newer}_apiextensions.k8s.io_CustomResourceDefinition");
    assert_eq!(uids(&upgraded).get(&id), Some(&left.metadata.uid), "it left the inventory");
    for name in others {
        assert_eq!(versions(&definitions.get(name).await.unwrap()), ["v1"]);
    }

    // A request of the same revision does not lower it either.
    flux.annotate("reconcile.fluxcd.io/requestedAt", json!("now")).await;
    let is_handled = |instance: &crds::FluxInstance| {
        instance
            .status
            .as_ref()
            .is_some_and(|status| status.last_handled_reconcile_at.as_deref() == Some("now"))
    };
    let handled = e2e::wait_for(&flux.instances(), "flux", is_handled, LONG).await.unwrap();
    assert!(ready(&handled).unwrap().message.ends_with(named));
    assert_eq!(definitions.get(newer).await.unwrap().metadata, labelled.metadata);
}
