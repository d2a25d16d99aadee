//! Operators that end in the midst of an upgrade, and two of them at once.

use e2e::{Operator, wait_for};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::core::DynamicObject;

use crate::{
    IMAGE_DEFINITIONS, LONG, alone, definitions, new, objects, old_flux, stored_versions, uids, version,
    versions,
};

type Seen = fn(&CustomResourceDefinition) -> bool;

/// What becomes true on the way, in this order, and stays true.
const MOMENTS: [(&str, Seen); 4] = [
    ("the new version is served", |definition| versions(definition).contains(&"v1")),
    ("the old version is not served", |definition| {
        definition.spec.versions.iter().all(|version| version.name != "v1beta2" || !version.served)
    }),
    ("only the new version is stored", |definition| stored_versions(definition) == ["v1"]),
    ("the old versions are gone", |definition| versions(definition) == ["v1"]),
];

#[tokio::test]
async fn an_operator_that_is_killed_at_any_moment_goes_on_where_it_was() {
    let mut flux = old_flux("upgrade-killed").await;
    objects::create(&flux.client).await;
    let before = objects::snapshot(&flux.client, "v1beta2").await;
    let installed = uids(&flux.wait_until_ready(LONG).await);
    flux.apply(&new()).await;

    let repositories = definitions(&flux.client);
    let (served, later) = MOMENTS.split_first().unwrap();
    wait_for(&repositories, IMAGE_DEFINITIONS[1], served.1, LONG).await.unwrap();
    restart(&mut flux).await;
    // In the midst of the rewrite: the first of many objects is done.
    let in_new_version = |object: &DynamicObject| {
        let entries = object.metadata.managed_fields.iter().flatten();
        entries.clone().count() > 0
            && entries.clone().all(|entry| entry.api_version.as_deref() == Some("image.toolkit.fluxcd.io/v1"))
    };
    let objects_of_kind = objects::api(&flux.client, "ImageRepository", "v1");
    wait_for(&objects_of_kind, "app-000", in_new_version, LONG).await.unwrap();
    restart(&mut flux).await;
    for (moment, is_reached) in later {
        let reached = wait_for(&repositories, IMAGE_DEFINITIONS[1], is_reached, LONG).await;
        reached.unwrap_or_else(|error| panic!("{moment}: {error}"));
        restart(&mut flux).await;
    }

    let upgraded = flux.wait_until_ready(LONG).await;
    assert_eq!(version(&upgraded), "v2.9.5");
    objects::assert_unchanged(&flux.client, "v1", &before).await;
    let owned = objects::owned_versions(&flux.client, "v1").await;
    assert_eq!(owned, ["image.toolkit.fluxcd.io/v1", "source.toolkit.fluxcd.io/v1"]);
    let after = uids(&upgraded);
    assert!(installed.iter().all(|(id, uid)| after.get(id) == Some(uid)), "something was recreated");
    for name in IMAGE_DEFINITIONS {
        let definition = repositories.get(name).await.unwrap();
        assert_eq!(
            (versions(&definition), stored_versions(&definition)),
            (vec!["v1"], vec!["v1".to_owned()])
        );
    }
}

#[tokio::test]
async fn two_operators_at_once_come_to_the_same_end() {
    let flux = old_flux("upgrade-two").await;
    objects::create(&flux.client).await;
    let before = objects::snapshot(&flux.client, "v1beta2").await;
    let second = Operator::start(&flux.plane, alone()).unwrap();
    flux.apply(&new()).await;
    let upgraded = flux.wait_until_ready(LONG).await;
    assert_eq!(version(&upgraded), "v2.9.5");
    let repositories = definitions(&flux.client);
    for name in IMAGE_DEFINITIONS {
        let is_done = |definition: &CustomResourceDefinition| {
            versions(definition) == ["v1"] && stored_versions(definition) == ["v1"]
        };
        wait_for(&repositories, name, is_done, LONG).await.unwrap();
    }
    objects::assert_unchanged(&flux.client, "v1", &before).await;
    assert!(second.process().exit_status().is_none(), "{}", second.log_tail());
}

/// Ends the operator as a node that loses power does, and starts another one.
async fn restart(flux: &mut e2e::Installation) {
    flux.operator.kill();
    flux.operator.wait_for_exit(LONG).await.unwrap();
    flux.operator = Operator::start(&flux.plane, alone()).unwrap();
}
