//! Objects that are not in the version that is stored, without any upgrade.

use kube::api::{Patch, PatchParams};
use serde_json::json;

use crate::{IMAGE_DEFINITIONS, definitions, objects, obstacles::request, old_flux, stored_versions};

const REPOSITORIES: &str = IMAGE_DEFINITIONS[1];

#[tokio::test]
async fn objects_leave_old_versions_when_the_definition_or_a_person_says_so() {
    let flux = old_flux("upgrade-migration").await;
    objects::create(&flux.client).await;
    let before = objects::snapshot(&flux.client, "v1beta2").await;

    // Without need or force, a pass leaves the objects as they are.
    request(&flux, "first", None).await;
    let owned = objects::owned_versions(&flux.client, "v1beta2").await;
    assert!(owned.contains(&"image.toolkit.fluxcd.io/v1beta1".to_owned()), "{owned:?}");

    // Somebody came from a Flux that stored another version.
    let stored = json!({"status": {"storedVersions": ["v1beta1", "v1beta2"]}});
    let definitions = definitions(&flux.client);
    definitions.patch_status(REPOSITORIES, &PatchParams::default(), &Patch::Merge(&stored)).await.unwrap();
    request(&flux, "second", None).await;
    assert_eq!(stored_versions(&definitions.get(REPOSITORIES).await.unwrap()), ["v1beta2"]);
    let owned = objects::owned_versions(&flux.client, "v1beta2").await;
    assert_eq!(owned, ["image.toolkit.fluxcd.io/v1beta2", "source.toolkit.fluxcd.io/v1beta2"]);

    // The definition of Git repositories needs nothing: only force helps.
    request(&flux, "third", Some("another")).await;
    let owned = objects::owned_versions(&flux.client, "v1beta2").await;
    assert_eq!(owned, ["image.toolkit.fluxcd.io/v1beta2", "source.toolkit.fluxcd.io/v1beta2"]);
    let forced = request(&flux, "fourth", Some("fourth")).await;
    assert_eq!(forced.status.unwrap().last_handled_force_at.as_deref(), Some("fourth"));
    let owned = objects::owned_versions(&flux.client, "v1beta2").await;
    assert_eq!(owned, ["image.toolkit.fluxcd.io/v1beta2", "source.toolkit.fluxcd.io/v1"]);
    objects::assert_unchanged(&flux.client, "v1beta2", &before).await;
}
