//! The rules of the CustomResourceDefinition that types cannot hold, for specs that no API server has seen.

use super::{FluxInstance, ShardStorage, Sync, SyncKind, SyncProvider};
use crate::{
    INSTANCE_NAME,
    violation::{NO_DURATION, Violation, broken, is_duration, is_longer_than, is_url_of},
};

/// The most characters of `spec.sync.name`: it becomes a label value.
const MAX_SYNC_NAME: usize = 63;

impl FluxInstance {
    /// Every rule of the definition that this object breaks, in the order of its fields. An object that an
    /// API server admitted breaks none.
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        let spec = &self.spec;
        let cluster = spec.cluster.as_ref();
        let sharding = spec.sharding.as_ref();
        let checks = [
            (
                self.metadata.name.as_deref() != Some(INSTANCE_NAME),
                "metadata.name",
                "the only accepted name for a FluxInstance is 'flux'",
            ),
            (
                spec.distribution.artifact.as_deref().is_some_and(|artifact| !is_url_of(artifact, &["oci"])),
                "spec.distribution.artifact",
                "must start with oci://",
            ),
            (
                cluster.is_some_and(|cluster| {
                    cluster.multitenant_workload_identity
                        && cluster.object_level_workload_identity != Some(true)
                }),
                "spec.cluster",
                ".objectLevelWorkloadIdentity must be set to true when .multitenantWorkloadIdentity is set to true",
            ),
            (
                sharding.is_some_and(|sharding| sharding.shards.is_empty()),
                "spec.sharding.shards",
                "must name at least one shard",
            ),
            (
                spec.storage.is_none()
                    && sharding.is_some_and(|sharding| sharding.storage == Some(ShardStorage::Persistent)),
                "spec",
                ".spec.storage must be set when .spec.sharding.storage is 'persistent'",
            ),
        ];
        let mut violations = broken("", checks);
        violations.extend(spec.sync.iter().flat_map(sync_violations));
        violations
    }
}

fn sync_violations(sync: &Sync) -> Vec<Violation> {
    let is_git = sync.kind == SyncKind::GitRepository;
    let checks = [
        (
            sync.name.as_deref().is_some_and(|name| is_longer_than(MAX_SYNC_NAME, name)),
            ".name",
            "must have at most 63 characters",
        ),
        (!is_duration(&sync.interval), ".interval", NO_DURATION),
        (
            is_git && sync.provider == Some(SyncProvider::Gcp),
            "",
            ".provider cannot be set to 'gcp' when .kind is set to 'GitRepository'",
        ),
        (
            !is_git && sync.provider == Some(SyncProvider::Github),
            "",
            ".provider can only be set to 'github' when .kind is set to 'GitRepository'",
        ),
    ];
    broken("spec.sync", checks)
}
