//! What no source or Kustomization can be made of, and what the elected Flux does not know yet.

use crds::flux_instance::{Sync, SyncKind, SyncProvider};

use super::{super::InvalidField, BuildError, named};
use crate::semver::{Range, Version};

/// The first minor of Flux whose source-controller takes AWS identities for Git.
const AWS_FOR_GIT_SINCE: (u64, u64) = (2, 9);

/// The first minor of Flux that verifies artifacts with a trusted root of one's own.
const TRUSTED_ROOT_SINCE: (u64, u64) = (2, 9);

/// Refuses a sync that the API server or the controllers of the version would not take.
pub(super) fn check(sync: &Sync, version: &Version) -> Result<(), BuildError> {
    check_version(sync, version)?;
    check_reference(sync)?;
    check_url(sync)?;
    // Fields that the kind does not have, in specs that no API server has seen.
    match sync.violations().into_iter().next() {
        Some(violation) => Err(InvalidField::new(violation.field, violation.message).into()),
        None => Ok(()),
    }
}

fn check_version(sync: &Sync, version: &Version) -> Result<(), BuildError> {
    let is_aws_for_git = sync.kind == SyncKind::GitRepository && sync.provider == Some(SyncProvider::Aws);
    let has_root = sync.verify.as_ref().is_some_and(|verify| verify.trusted_root_secret_ref.is_some());
    let needs = [
        (is_aws_for_git, "spec.sync.provider", "aws (with kind GitRepository)", AWS_FOR_GIT_SINCE),
        (has_root, "spec.sync.verify", "trustedRootSecretRef", TRUSTED_ROOT_SINCE),
    ];
    let elected = (version.major(), version.minor());
    let unmet = needs.into_iter().find(|(is_asked, _, _, since)| *is_asked && elected < *since);
    match unmet {
        Some((_, field, value, (major, minor))) => Err(BuildError::NeedsFlux {
            field,
            value,
            since: format!("{major}.{minor}"),
            version: version.clone(),
        }),
        None => Ok(()),
    }
}

fn check_reference(sync: &Sync) -> Result<(), InvalidField> {
    let Some(range) = named(sync.semver.as_deref()) else { return Ok(()) };
    match Range::parse(range) {
        Ok(_) => Ok(()),
        Err(error) => Err(InvalidField::new(
            "spec.sync.semver",
            format!("is no range of versions such as 1.x or >=1.2.0 <2.0.0: {error}"),
        )),
    }
}

fn check_url(sync: &Sync) -> Result<(), InvalidField> {
    let schemes: &[&str] = match sync.kind {
        SyncKind::GitRepository => &["https://", "http://", "ssh://"],
        SyncKind::OCIRepository => &["oci://"],
        SyncKind::Bucket => &[],
    };
    if schemes.is_empty() || schemes.iter().any(|scheme| sync.url.starts_with(scheme)) {
        return Ok(());
    }
    Err(InvalidField::new(
        "spec.sync.url",
        format!("must start with {} for kind {}", schemes.join(" or "), sync.kind.as_str()),
    ))
}
