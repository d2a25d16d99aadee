//! Controllers of the shards, and persistent volumes for artifacts.

use std::collections::{BTreeMap, BTreeSet};

use crds::{
    flux_instance::{Component, ShardStorage, Sharding, Storage},
    keys::SHARDING_ROLE,
    names::{MAX_LABEL, is_dns_label, is_label_key},
};
use manifests_kustomize::{Reach, Resources};
use serde_json::{Value, json};

use super::{
    BuildError, InvalidField,
    controllers::{append_argument, edit_pod_list, remount},
};
use crate::{
    distribution::Release,
    objects::{edit_map, kind, name},
    semver::Version,
};

/// Where source-controller and source-watcher keep artifacts.
const ARTIFACTS_PATH: &str = "/data";

/// The volume of the artifacts in the manifests.
const ARTIFACTS_VOLUME: &str = "data";

/// The volume that takes its place.
const PERSISTENT_VOLUME: &str = "persistent-data";

/// The first minor of Flux whose source-watcher can be sharded.
const SHARDED_WATCHER_SINCE: (u64, u64) = (2, 9);

/// What all shards share with the main controllers.
const SHARED_KINDS: [&str; 7] = [
    "Namespace",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleBinding",
    "ServiceAccount",
    "NetworkPolicy",
    "ResourceQuota",
];

/// Whether the work of a component can be split in this version.
pub(super) fn is_shardable(component: Component, version: &Version) -> bool {
    match component {
        Component::NotificationController => false,
        Component::SourceWatcher => (version.major(), version.minor()) >= SHARDED_WATCHER_SINCE,
        _ => true,
    }
}

/// Refuses shards that cannot be told apart or cannot be part of a name.
pub(super) fn check(sharding: &Sharding, components: &[Component]) -> Result<(), InvalidField> {
    if !is_label_key(&sharding.key) {
        return Err(InvalidField::new(
            "spec.sharding.key",
            format!("'{}' is not a label key such as sharding.fluxcd.io/key", sharding.key),
        ));
    }
    let mut seen = BTreeSet::new();
    let longest = components.iter().map(|component| component.as_str().len()).max().unwrap_or_default();
    for (index, shard) in sharding.shards.iter().enumerate() {
        let field = || format!("spec.sharding.shards[{index}]");
        if !is_dns_label(shard) {
            return Err(InvalidField::new(
                field(),
                format!(
                    "'{shard}' must consist of small letters, digits and dashes, and start and end with a letter or digit"
                ),
            ));
        }
        if longest + 1 + shard.len() > MAX_LABEL {
            let most = MAX_LABEL.saturating_sub(longest + 1);
            return Err(InvalidField::new(
                field(),
                format!(
                    "'{shard}' must have at most {most} characters, so that <controller>-<shard> has at most {MAX_LABEL}"
                ),
            ));
        }
        if !seen.insert(shard) {
            return Err(InvalidField::new(field(), format!("'{shard}' is named twice")));
        }
    }
    Ok(())
}

/// The objects of one shard.
pub(super) struct Shard<'a> {
    pub(super) name: &'a str,
    pub(super) sharding: &'a Sharding,
    pub(super) storage: Option<&'a Storage>,
    /// The cluster domain, for the addresses of services.
    pub(super) domain: &'a str,
}

impl Shard<'_> {
    /// Builds the shard's own copies of the controllers.
    pub(super) fn build(&self, release: &Release) -> Result<Resources, BuildError> {
        let components = release.components.iter();
        let sharded = components.filter(|(component, _)| is_shardable(*component, &release.version));
        let mut objects = Vec::new();
        for (component, manifests) in sharded {
            let own = manifests.iter().filter(|object| !SHARED_KINDS.contains(&kind(object)));
            for manifest in own {
                let mut object = manifest.clone();
                self.adapt(&mut object, *component);
                objects.push(object);
            }
            if let (Component::SourceController, Some(storage)) = (component, self.persistent_storage()) {
                objects.push(claim(Component::SourceController.as_str(), storage));
            }
        }
        let mut resources = Resources::new(objects)?;
        resources.name_suffix(&format!("-{}", self.name))?;
        let role = BTreeMap::from([(SHARDING_ROLE.to_owned(), "shard".to_owned())]);
        resources.annotations(&role, Reach::Templates)?;
        Ok(resources)
    }

    fn adapt(&self, object: &mut Value, component: Component) {
        let app = format!("{component}-{}", self.name);
        let selected = |labels: &mut serde_json::Map<String, Value>| {
            labels.insert("app".to_owned(), app.as_str().into());
        };
        match kind(object) {
            "Service" => edit_map(object, &["spec", "selector"], selected),
            "Deployment" => {
                edit_map(object, &["spec", "selector", "matchLabels"], selected);
                edit_map(object, &["spec", "template", "metadata", "labels"], selected);
                self.adapt_arguments(object, component, &app);
            }
            _ => {}
        }
    }

    fn adapt_arguments(&self, deployment: &mut Value, component: Component, service: &str) {
        if matches!(component, Component::SourceController | Component::SourceWatcher) {
            append_argument(deployment, storage_address(service, self.domain));
        }
        if component == Component::SourceController && self.persistent_storage().is_some() {
            let volume = format!("{PERSISTENT_VOLUME}-{}", self.name);
            edit_pod_list(deployment, "volumes", |volumes| {
                volumes.iter_mut().filter(|volume| volume["name"] == ARTIFACTS_VOLUME).for_each(|data| {
                    // The name suffix of the shard is added where the claim's name gets it.
                    *data = claim_volume(&volume, component.as_str());
                });
            });
            remount(deployment, ARTIFACTS_PATH, &volume);
        }
        append_argument(deployment, format!("--watch-label-selector={}={}", self.sharding.key, self.name));
    }

    fn persistent_storage(&self) -> Option<&Storage> {
        self.storage.filter(|_| self.sharding.storage == Some(ShardStorage::Persistent))
    }
}

/// `--storage-adv-addr` of a controller that serves artifacts.
pub(super) fn storage_address(service: &str, domain: &str) -> String {
    format!("{STORAGE_ADDRESS}={}", storage_host(service, domain))
}

/// The flag that tells other controllers where artifacts are.
pub(super) const STORAGE_ADDRESS: &str = "--storage-adv-addr";

/// The address of a service; the namespace is that of the pod.
pub(super) fn storage_host(service: &str, domain: &str) -> String {
    format!("{service}.$(RUNTIME_NAMESPACE).svc.{domain}.")
}

/// Moves the artifacts of the main source-controller to a persistent volume.
pub(super) fn persist(deployment: &mut Value) {
    let volume = claim_volume(PERSISTENT_VOLUME, name(deployment));
    edit_pod_list(deployment, "volumes", |volumes| volumes.push(volume));
    remount(deployment, ARTIFACTS_PATH, PERSISTENT_VOLUME);
}

/// The claim for the volume of a source-controller.
pub(super) fn claim(name: &str, storage: &Storage) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": storage.size}},
            "storageClassName": storage.class,
        },
    })
}

/// Refuses a size that is no quantity.
pub(super) fn check_storage(storage: &Storage) -> Result<(), InvalidField> {
    const SUFFIXES: [&str; 13] = ["", "k", "Ki", "M", "Mi", "G", "Gi", "T", "Ti", "P", "Pi", "E", "Ei"];
    let size = storage.size.as_str();
    let number = size.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let suffix = size.strip_prefix(number).unwrap_or_default();
    let is_number = !number.is_empty() && number.parse::<f64>().is_ok_and(|bytes| bytes > 0.0);
    if is_number && SUFFIXES.contains(&suffix) {
        return Ok(());
    }
    Err(InvalidField::new("spec.storage.size", format!("'{size}' is not a size such as 10Gi")))
}

fn claim_volume(volume: &str, claim: &str) -> Value {
    json!({"name": volume, "persistentVolumeClaim": {"claimName": claim}})
}

#[cfg(test)]
mod tests {
    use crds::flux_instance::{Component, Sharding, Storage};

    use super::{check, check_storage};

    fn check_shards(shards: &[&str]) -> Result<(), String> {
        let sharding = Sharding {
            key: "k".to_owned(),
            shards: shards.iter().map(|&shard| shard.to_owned()).collect(),
            storage: None,
        };
        check(&sharding, &Component::ALL).map_err(|error| error.to_string())
    }

    #[test]
    fn shards_must_be_parts_of_names_and_differ() {
        assert_eq!(check_shards(&["a", "team-1", "x9"]), Ok(()));
        assert!(
            check_shards(&["a", "Team"]).unwrap_err().starts_with("spec.sharding.shards[1]: 'Team' must")
        );
        assert!(check_shards(&["a", "b", "a"]).unwrap_err().contains("shards[2]: 'a' is named twice"));
        for bad in ["", "-a", "a-", "a.b", "ä", &"x".repeat(64)] {
            assert!(check_shards(&[bad]).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_shard_leaves_room_for_the_longest_controller() {
        assert_eq!(check_shards(&[&"x".repeat(63 - "image-automation-controller-".len())]), Ok(()));
        let error = check_shards(&[&"x".repeat(36)]).unwrap_err();
        assert!(error.contains("at most 35 characters"), "{error}");
    }

    #[test]
    fn sizes_are_quantities() {
        let size = |size: &str| check_storage(&Storage { class: "c".to_owned(), size: size.to_owned() });
        for good in ["10Gi", "1.5Ti", "500M", "1000000", "1e9"] {
            assert!(size(good).is_ok(), "{good}");
        }
        for bad in ["", "ten", "10GB", "Gi", "-1Gi", "10 Gi", "infinity", "NaN"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
