//! A cluster that somebody lends to the tests.

use std::env;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt};
use tokio::time::Instant;

use crate::BedError;

/// Names the cluster. Never `KUBECONFIG`: tests strip finalizers and delete what they find, and that
/// variable often names a cluster that somebody needs.
const VARIABLE: &str = "E2E_KUBECONFIG";
/// Another test file may run all of its tests first.
const LEASE_DEADLINE: Duration = Duration::from_mins(15);
/// Between two attempts to get the lease.
const LEASE_INTERVAL: Duration = Duration::from_millis(200);
/// Ends of the names of definitions that belong to Flux or to us.
const OURS: [&str; 2] = [".toolkit.fluxcd.io", ".fluxcd.controlplane.io"];

/// The kubeconfig of the lent cluster, if there is one.
pub(crate) fn kubeconfig() -> Option<PathBuf> {
    env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The right to use a lent cluster: one test at a time, over all processes of this machine.
#[derive(Debug)]
pub(crate) struct Lease {
    _lock: File,
}

impl Lease {
    /// Waits for the right to use the cluster.
    pub(crate) async fn acquire(kubeconfig: &Path) -> Result<Self, BedError> {
        Self::acquire_within(kubeconfig, LEASE_DEADLINE).await
    }

    async fn acquire_within(kubeconfig: &Path, within: Duration) -> Result<Self, BedError> {
        let failed = |source| BedError::State { path: kubeconfig.to_owned(), source };
        // The file itself is what all users of the cluster share, and a lock does not change it.
        let lock = File::open(kubeconfig).map_err(failed)?;
        let began = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(Self { _lock: lock }),
                Err(TryLockError::Error(source)) => return Err(failed(source)),
                Err(TryLockError::WouldBlock) if began.elapsed() >= within => {
                    return Err(BedError::Busy { kubeconfig: kubeconfig.to_owned(), within });
                }
                Err(TryLockError::WouldBlock) => tokio::time::sleep(LEASE_INTERVAL).await,
            }
        }
    }
}

/// Refuses a cluster that holds definitions of Flux or of ours.
pub(crate) async fn refuse_occupied(kubeconfig: &Path, client: Client) -> Result<(), BedError> {
    let definitions = Api::<CustomResourceDefinition>::all(client);
    let found = definitions.list_metadata(&ListParams::default()).await.map_err(|source| {
        BedError::Request { step: "list the cluster's definitions".to_owned(), source: Box::new(source) }
    })?;
    let definitions = ours(found.iter().map(ResourceExt::name_any));
    if definitions.is_empty() {
        return Ok(());
    }
    Err(BedError::Occupied { kubeconfig: kubeconfig.to_owned(), definitions })
}

/// The definitions that belong to Flux or to us, sorted.
fn ours(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<_> = names.filter(|name| OURS.iter().any(|end| name.ends_with(end))).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_of_flux_and_ours_are_told_from_others() {
        let names = [
            "kustomizations.kustomize.toolkit.fluxcd.io",
            "fluxinstances.fluxcd.controlplane.io",
            "certificates.cert-manager.io",
            "toolkit.fluxcd.io.example.com",
            "things.nottoolkit.fluxcd.io",
        ];
        let found = ours(names.iter().map(ToString::to_string));
        assert_eq!(
            found,
            ["fluxinstances.fluxcd.controlplane.io", "kustomizations.kustomize.toolkit.fluxcd.io"]
        );
    }

    #[tokio::test]
    async fn a_lent_cluster_serves_one_test_at_a_time() {
        let kubeconfig = tempfile::NamedTempFile::new().unwrap();
        let within = Duration::from_millis(1);
        let first = Lease::acquire_within(kubeconfig.path(), within).await.unwrap();
        let error = Lease::acquire_within(kubeconfig.path(), within).await.unwrap_err();
        assert!(matches!(error, BedError::Busy { .. }), "{error}");
        drop(first);
        Lease::acquire_within(kubeconfig.path(), within).await.unwrap();
    }
}
