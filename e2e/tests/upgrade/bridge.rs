//! From 2.6.4 to 2.9.5 and not back.

use e2e::{has_condition, ready, wait_for_any};
use k8s_openapi::api::{apps::v1::Deployment, core::v1::Event};
use kube::{Api, ResourceExt as _, api::ListParams};

use crate::{
    IMAGE_DEFINITIONS, LONG, definitions, new, objects, old, old_flux, stored_versions, uids, version,
    versions,
};

#[tokio::test]
async fn an_upgrade_that_drops_stored_versions_keeps_every_object() {
    let flux = old_flux("upgrade-bridge").await;
    objects::create(&flux.client).await;
    let before = objects::snapshot(&flux.client, "v1beta2").await;
    let owned = objects::owned_versions(&flux.client, "v1beta2").await;
    assert_eq!(
        owned,
        [
            "image.toolkit.fluxcd.io/v1beta1",
            "image.toolkit.fluxcd.io/v1beta2",
            "source.toolkit.fluxcd.io/v1beta2"
        ]
    );
    let installed = uids(&flux.wait_until_ready(LONG).await);

    flux.apply(&new()).await;
    let upgraded = flux.wait_until_ready(LONG).await;
    assert_eq!(version(&upgraded), "v2.9.5");
    for name in IMAGE_DEFINITIONS {
        let definition = definitions(&flux.client).get(name).await.unwrap();
        assert_eq!(
            (versions(&definition), stored_versions(&definition)),
            (vec!["v1"], vec!["v1".to_owned()])
        );
    }
    // Objects can be read, so that none is left in a version that is gone.
    objects::assert_unchanged(&flux.client, "v1", &before).await;
    let owned = objects::owned_versions(&flux.client, "v1").await;
    assert_eq!(owned, ["image.toolkit.fluxcd.io/v1", "source.toolkit.fluxcd.io/v1"]);

    let after = uids(&upgraded);
    for (id, uid) in &installed {
        assert!(uid.is_some(), "{id}");
        assert_eq!(after.get(id), Some(uid), "{id} was deleted or recreated");
    }
    let deployments: Api<Deployment> = Api::namespaced(flux.client.clone(), "flux-system");
    let list = deployments.list(&ListParams::default()).await.unwrap();
    assert_eq!(list.items.len(), 7);
    for deployment in list {
        assert!(has_condition("Available", "True")(&deployment), "{}", deployment.name_any());
    }
    let events: Api<Event> = Api::namespaced(flux.client.clone(), "flux-system");
    let is_told = |event: &Event| {
        event.message.as_deref().is_some_and(|message| {
            message.contains("230 objects of imagerepositories.image.toolkit.fluxcd.io in v1, and v1beta1, v1beta2 dropped from it")
        })
    };
    wait_for_any(&events, is_told, LONG).await.unwrap();

    // Back is refused, and touches nothing.
    let versions_before = resource_versions(&flux.client).await;
    flux.apply(&old()).await;
    let refused = flux.wait_for_reason("BuildFailed", LONG).await;
    let message = &ready(&refused).unwrap().message;
    assert!(message.contains("2.6.4") && message.contains("2.9.5"), "{message}");
    assert_eq!(resource_versions(&flux.client).await, versions_before);
    assert_eq!(uids(&refused), after);
}

async fn resource_versions(client: &kube::Client) -> Vec<(String, Option<String>)> {
    let list = definitions(client).list(&ListParams::default()).await.unwrap();
    list.into_iter().map(|definition| (definition.name_any(), definition.resource_version())).collect()
}
