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
        violations.extend(spec.sync.iter().flat_map(Sync::violations));
        violations
    }
}

impl Sync {
    /// Every rule of the definition that this sync breaks, by paths from the root of its instance.
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        [general_violations(self), kind_violations(self), verify_violations(self)].concat()
    }
}

fn general_violations(sync: &Sync) -> Vec<Violation> {
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

/// Fields that a kind of source does not have.
fn kind_violations(sync: &Sync) -> Vec<Violation> {
    let (is_git, is_bucket) = (sync.kind == SyncKind::GitRepository, sync.kind == SyncKind::Bucket);
    let is_broken = |duration: &Option<String>| duration.as_deref().is_some_and(|text| !is_duration(text));
    let checks = [
        (is_broken(&sync.timeout), ".timeout", NO_DURATION),
        (is_broken(&sync.retry_interval), ".retryInterval", NO_DURATION),
        (sync.semver.is_some() && is_bucket, "", ".semver cannot be set when .kind is set to 'Bucket'"),
        (sync.semver.is_some() && !sync.reference.is_empty(), "", ".ref must be empty when .semver is set"),
        (
            sync.insecure == Some(true) && is_git,
            "",
            ".insecure cannot be set to true when .kind is set to 'GitRepository'",
        ),
        (
            sync.cert_secret_ref.is_some() && is_git,
            "",
            ".certSecretRef cannot be set when .kind is set to 'GitRepository'",
        ),
        (sync.verify.is_some() && is_bucket, "", ".verify cannot be set when .kind is set to 'Bucket'"),
    ];
    broken("spec.sync", checks)
}

/// Fields of a verification that a kind of source does not have.
fn verify_violations(sync: &Sync) -> Vec<Violation> {
    let Some(verify) = &sync.verify else { return Vec::new() };
    let is_git = sync.kind == SyncKind::GitRepository;
    let is_artifact = sync.kind == SyncKind::OCIRepository;
    let checks = [
        (
            verify.mode.is_some() && !is_git,
            "",
            ".verify.mode can only be set when .kind is set to 'GitRepository'",
        ),
        (
            verify.secret_ref.is_none() && is_git,
            "",
            ".verify.secretRef must be set when .kind is set to 'GitRepository'",
        ),
        (
            verify.provider.is_some() && !is_artifact,
            "",
            ".verify.provider can only be set when .kind is set to 'OCIRepository'",
        ),
        (
            verify.match_oidc_identity.is_some() && !is_artifact,
            "",
            ".verify.matchOIDCIdentity can only be set when .kind is set to 'OCIRepository'",
        ),
        (
            verify.trusted_root_secret_ref.is_some() && !is_artifact,
            "",
            ".verify.trustedRootSecretRef can only be set when .kind is set to 'OCIRepository'",
        ),
    ];
    broken("spec.sync", checks)
}
