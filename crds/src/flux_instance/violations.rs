//! The rules of the CustomResourceDefinition that types cannot hold, for specs that no API server has seen.

use std::fmt;

use super::{FluxInstance, ShardStorage, Sync, SyncKind, SyncProvider};
use crate::INSTANCE_NAME;

/// The most characters of `spec.sync.name`: it becomes a label value.
const MAX_SYNC_NAME: usize = 63;

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Path of the field, from the root of the object.
    pub field: &'static str,
    /// What the rule asks for; for CEL rules the very message of the API server.
    pub message: &'static str,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.field, self.message)
    }
}

impl FluxInstance {
    /// Every rule of the definition that this object breaks, in the order of its fields. An object that an
    /// API server admitted breaks none.
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        let spec = &self.spec;
        let cluster = spec.cluster.as_ref();
        let sharding = spec.sharding.as_ref();
        let rules = [
            (
                self.metadata.name.as_deref() != Some(INSTANCE_NAME),
                "metadata.name",
                "the only accepted name for a FluxInstance is 'flux'",
            ),
            (
                spec.distribution.artifact.as_deref().is_some_and(|artifact| !artifact.starts_with("oci://")),
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
        let broken = rules
            .into_iter()
            .filter(|(is_broken, ..)| *is_broken)
            .map(|(_, field, message)| Violation { field, message });
        broken.chain(spec.sync.iter().flat_map(sync_violations)).collect()
    }
}

fn sync_violations(sync: &Sync) -> Vec<Violation> {
    let is_git = sync.kind == SyncKind::GitRepository;
    let rules = [
        (
            sync.name.as_ref().is_some_and(|name| name.chars().count() > MAX_SYNC_NAME),
            "spec.sync.name",
            "must have at most 63 characters",
        ),
        (
            !is_flux_duration(&sync.interval),
            "spec.sync.interval",
            "must be a duration of numbers with the units ms, s, m and h, such as 1m30s",
        ),
        (
            is_git && sync.provider == Some(SyncProvider::Gcp),
            "spec.sync",
            ".provider cannot be set to 'gcp' when .kind is set to 'GitRepository'",
        ),
        (
            !is_git && sync.provider == Some(SyncProvider::Github),
            "spec.sync",
            ".provider can only be set to 'github' when .kind is set to 'GitRepository'",
        ),
    ];
    rules
        .into_iter()
        .filter(|(is_broken, ..)| *is_broken)
        .map(|(_, field, message)| Violation { field, message })
        .collect()
}

/// The language of `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`.
fn is_flux_duration(text: &str) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        let Some(after_number) = skip_number(rest) else { return false };
        let unit = ["ms", "s", "m", "h"].into_iter().find_map(|unit| after_number.strip_prefix(unit));
        let Some(after_unit) = unit else { return false };
        rest = after_unit;
    }
    !text.is_empty()
}

fn skip_number(text: &str) -> Option<&str> {
    let after_digits = skip_digits(text)?;
    match after_digits.strip_prefix('.') {
        Some(fraction) => skip_digits(fraction),
        None => Some(after_digits),
    }
}

fn skip_digits(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|character: char| character.is_ascii_digit());
    (rest.len() < text.len()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::is_flux_duration;

    #[test]
    fn durations_are_numbers_with_units() {
        for good in ["1m", "30s", "1h30m", "1.5h", "250ms", "1m30.5s", "0s"] {
            assert!(is_flux_duration(good), "{good}");
        }
        for bad in ["", "1", "m", "1d", "-1m", "1.m", ".5s", "1m ", " 1m", "1m30", "1us", "1,5h"] {
            assert!(!is_flux_duration(bad), "{bad}");
        }
    }
}
