//! Custom resources of users, in versions that go.

use std::collections::BTreeMap;

use e2e::apply_yaml;
use kube::{
    Api, Client,
    api::{ListParams, Patch, PatchParams, PostParams},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use serde_json::{Value, json};

/// Every kind that has objects here, with its plural.
const KINDS: [(&str, &str, &str); 4] = [
    ("image.toolkit.fluxcd.io", "ImageRepository", "imagerepositories"),
    ("image.toolkit.fluxcd.io", "ImagePolicy", "imagepolicies"),
    ("image.toolkit.fluxcd.io", "ImageUpdateAutomation", "imageupdateautomations"),
    ("source.toolkit.fluxcd.io", "GitRepository", "gitrepositories"),
];

/// More than one page of a list, so that a kill may hit between two.
const REPOSITORIES: usize = 230;

/// The namespace of the objects.
pub(crate) const TENANT: &str = "tenant";

/// The API of a kind in a version.
pub(crate) fn api(client: &Client, kind: &str, version: &str) -> Api<DynamicObject> {
    let (group, kind, plural) = KINDS.iter().find(|(_, known, _)| *known == kind).unwrap();
    let resource = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), plural);
    Api::namespaced_with(client.clone(), TENANT, &resource)
}

/// Creates objects as people and controllers did it with Flux 2.6.
pub(crate) async fn create(client: &Client) {
    apply_yaml(client, &format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: {TENANT}}}}}"))
        .await
        .unwrap();
    for number in 0..REPOSITORIES {
        let spec = json!({"image": format!("ghcr.io/tenant/app-{number:03}"), "interval": "5m0s"});
        by_kubectl(client, "ImageRepository", "v1beta2", &format!("app-{number:03}"), &spec).await;
    }
    let policy = json!({"imageRepositoryRef": {"name": "app-000"}, "policy": {"semver": {"range": "1.x"}}});
    by_kubectl(client, "ImagePolicy", "v1beta2", "app", &policy).await;
    let automation = json!({
        "interval": "30m0s",
        "sourceRef": {"kind": "GitRepository", "name": "fleet"},
        "git": {"commit": {"author": {"email": "bot@example.com"}}},
        "update": {"path": "./apps", "strategy": "Setters"},
    });
    by_kubectl(client, "ImageUpdateAutomation", "v1beta2", "app", &automation).await;
    let source = json!({"url": "https://example.com/fleet", "interval": "1m0s"});
    by_kubectl(client, "GitRepository", "v1beta2", "fleet", &source).await;

    by_others(client).await;
}

async fn by_others(client: &Client) {
    // Applied by a GitOps tool, in two versions at once.
    let repositories = api(client, "ImageRepository", "v1beta2");
    let applied = json!({
        "apiVersion": "image.toolkit.fluxcd.io/v1beta2", "kind": "ImageRepository",
        "metadata": {"name": "app-000", "labels": {"team": "one"}},
        "spec": {"exclusionList": ["^.*\\.sig$"]},
    });
    let by =
        |manager: &str| PatchParams { field_manager: Some(manager.to_owned()), ..PatchParams::default() };
    repositories
        .patch("app-000", &PatchParams::apply("argocd-controller"), &Patch::Apply(&applied))
        .await
        .unwrap();
    let oldest = json!({"metadata": {"annotations": {"note": "by an old client"}}});
    let old_api = api(client, "ImageRepository", "v1beta1");
    old_api.patch("app-001", &by("old-client"), &Patch::Merge(&oldest)).await.unwrap();
    // What a controller reports.
    let status = json!({"status": {"canonicalImageName": "ghcr.io/tenant/app-000", "observedGeneration": 1}});
    repositories
        .patch_status("app-000", &by("image-reflector-controller"), &Patch::Merge(&status))
        .await
        .unwrap();
    // One in which nobody owns anything: it is stored in the old version, and nothing else tells.
    let nobody = json!({"metadata": {"managedFields": [{}]}});
    repositories.patch("app-002", &by("nobody"), &Patch::Merge(&nobody)).await.unwrap();
}

async fn by_kubectl(client: &Client, kind: &str, version: &str, name: &str, spec: &Value) {
    let api = api(client, kind, version);
    let group = KINDS.iter().find(|(_, known, _)| *known == kind).unwrap().0;
    let object = json!({
        "apiVersion": format!("{group}/{version}"), "kind": kind, "metadata": {"name": name}, "spec": spec,
    });
    let object: DynamicObject = serde_json::from_value(object).unwrap();
    let parameters =
        PostParams { field_manager: Some("kubectl-client-side-apply".to_owned()), ..PostParams::default() };
    api.create(&parameters, &object).await.unwrap();
}

/// All objects as they are in a version, without what a rewrite may change: the version that they are spoken
/// of, and in which fields are owned.
pub(crate) async fn snapshot(client: &Client, version: &str) -> BTreeMap<String, Value> {
    let mut objects = BTreeMap::new();
    for (_, kind, _) in KINDS {
        let version = if kind == "GitRepository" { "v1" } else { version };
        for object in api(client, kind, version).list(&ListParams::default()).await.unwrap() {
            let mut object = serde_json::to_value(object).unwrap();
            let name = object["metadata"]["name"].as_str().unwrap().to_owned();
            object.as_object_mut().unwrap().retain(|key, _| key != "apiVersion" && key != "kind");
            let metadata = object["metadata"].as_object_mut().unwrap();
            metadata.remove("resourceVersion");
            for entry in metadata.get_mut("managedFields").and_then(Value::as_array_mut).into_iter().flatten()
            {
                entry.as_object_mut().unwrap().remove("apiVersion");
            }
            objects.insert(format!("{kind}/{name}"), object);
        }
    }
    assert_eq!(objects.len(), REPOSITORIES + 3);
    objects
}

/// Panics with the objects that are not as they were before.
pub(crate) async fn assert_unchanged(client: &Client, version: &str, before: &BTreeMap<String, Value>) {
    let after = snapshot(client, version).await;
    let mut changed = before.iter().filter(|(id, object)| after.get(*id) != Some(object));
    if let Some((id, object)) = changed.next() {
        panic!(
            "{id} and {} more: {object:#} became {:#}",
            changed.count(),
            after.get(id).unwrap_or(&Value::Null)
        );
    }
}

/// The versions in which fields of any object are owned.
pub(crate) async fn owned_versions(client: &Client, version: &str) -> Vec<String> {
    let mut versions = Vec::new();
    for (_, kind, _) in KINDS {
        let version = if kind == "GitRepository" { "v1" } else { version };
        for object in api(client, kind, version).list(&ListParams::default()).await.unwrap() {
            let entries = object.metadata.managed_fields.unwrap_or_default();
            versions.extend(entries.into_iter().filter_map(|entry| entry.api_version));
        }
    }
    versions.sort();
    versions.dedup();
    versions
}
