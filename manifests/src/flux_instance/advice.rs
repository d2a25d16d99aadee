//! What is allowed in a spec, and probably not meant.

use crds::{
    flux_instance::{Component, FluxInstanceSpec, Sync, SyncKind},
    names::is_domain,
};

use super::{BuildWarning, InvalidField};
use crate::text::shortened;

/// So many shards are a typing error, or more controllers than a cluster is for.
const MANY_SHARDS: usize = 50;

/// What a user should look at before it is applied.
pub(super) fn warnings(spec: &FluxInstanceSpec, components: &[Component]) -> Vec<BuildWarning> {
    let mut warnings = Vec::new();
    let mut warn = |field: &str, problem: String| {
        warnings.push(BuildWarning::Field(InvalidField::new(field, problem)));
    };
    for (field, name) in named_objects(spec) {
        if !name.is_empty() && !is_domain(name) {
            warn(field, format!("'{}' is a name that no object can have", shortened(name)));
        }
    }
    let shards = spec.sharding.as_ref().map_or(0, |sharding| sharding.shards.len());
    if shards > MANY_SHARDS {
        warn("spec.sharding.shards", format!("{shards} shards are that many copies of each controller"));
    }
    if let Some(sync) = &spec.sync {
        if has_password(&sync.url) {
            let advice = "has a password in it, which everybody can read who can read the instance: keep it in a Secret and name that in spec.sync.pullSecret";
            warn("spec.sync.url", advice.to_owned());
        }
        if let Some(problem) = reference(sync) {
            warn("spec.sync.ref", problem.to_owned());
        }
        if sync.interval.as_str().chars().all(|character| !matches!(character, '1'..='9')) {
            warn(
                "spec.sync.interval",
                "the source is read once and never again: set it to 1m or longer".to_owned(),
            );
        }
        let needed = [Component::SourceController, Component::KustomizeController];
        let missing = needed.into_iter().filter(|component| !components.contains(component));
        warnings.extend(missing.map(|component| BuildWarning::SyncWithoutController { component }));
    }
    warnings
}

/// Whether a URL has a password before its host.
fn has_password(url: &str) -> bool {
    let authority = url.split_once("://").and_then(|(_, rest)| rest.split('/').next());
    let user = authority.and_then(|authority| authority.rsplit_once('@'));
    user.is_some_and(|(user, _)| user.contains(':'))
}

/// The objects in the instance's namespace that a spec names.
fn named_objects(spec: &FluxInstanceSpec) -> Vec<(&'static str, &str)> {
    let cluster = spec.cluster.as_ref();
    let account = cluster.and_then(|cluster| cluster.tenant_default_service_account.as_deref());
    let decryption = cluster.and_then(|cluster| cluster.tenant_default_decryption_service_account.as_deref());
    let remote = cluster.and_then(|cluster| cluster.tenant_default_kube_config_service_account.as_deref());
    let fields = [
        ("spec.distribution.imagePullSecret", spec.distribution.image_pull_secret.as_deref()),
        ("spec.distribution.artifactPullSecret", spec.distribution.artifact_pull_secret.as_deref()),
        ("spec.cluster.tenantDefaultServiceAccount", account),
        ("spec.cluster.tenantDefaultDecryptionServiceAccount", decryption),
        ("spec.cluster.tenantDefaultKubeConfigServiceAccount", remote),
    ];
    let fields = fields.into_iter().filter_map(|(field, name)| Some((field, name?)));
    let of_sync = spec.sync.iter().flat_map(|sync| [sync.named_secrets(), sync.named_accounts()].concat());
    fields.chain(of_sync).collect()
}

/// What is wrong with an empty reference.
fn reference(sync: &Sync) -> Option<&'static str> {
    if !sync.reference.is_empty() || sync.semver.as_deref().is_some_and(|range| !range.is_empty()) {
        return None;
    }
    Some(match sync.kind {
        SyncKind::GitRepository => "is empty: name what to follow, such as refs/heads/main",
        SyncKind::OCIRepository => "is empty: name the tag to follow, such as latest",
        SyncKind::Bucket => "is empty: name the bucket",
    })
}
