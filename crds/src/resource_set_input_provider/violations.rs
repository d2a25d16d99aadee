//! The rules of the definition that types cannot hold, for specs that no API server has seen.

use super::{
    ArtifactSelector, MAX_LIMIT, ResourceSetInputProvider, ResourceSetInputProviderSpec, Schedule,
    provider_type::Family,
};
use crate::violation::{Check, NO_DURATION, Violation, broken, is_duration, is_url_of};

pub(super) const URL_FORBIDDEN: &str = ".url must be empty when .type is 'Static' or 'ExternalArtifact'";
pub(super) const URL_MISSING: &str = ".url must be set unless .type is 'Static' or 'ExternalArtifact'";
pub(super) const URL_NOT_HTTP: &str = ".url must start with 'http://' or 'https://' when .type is 'ExternalService' or starts with 'Git' or 'AzureDevOps'";
pub(super) const URL_NOT_HTTPS: &str =
    ".url must start with 'https://' when .type starts with 'AWSCodeCommit'";
pub(super) const URL_NOT_OCI: &str =
    ".url must have the form 'oci://HOST/REPOSITORY' when .type ends with 'ArtifactTag'";
pub(super) const INSECURE_FORBIDDEN: &str =
    ".insecure can only be set to true when .type is 'ExternalService' or 'OCIArtifactTag'";
pub(super) const INSECURE_MISSING: &str =
    ".insecure must be set to true when .type is 'ExternalService' and .url starts with 'http://'";
pub(super) const SERVICE_ACCOUNT_FORBIDDEN: &str = ".serviceAccountName can only be set when .type is 'ExternalArtifact', starts with 'AzureDevOps' or 'AWSCodeCommit', or ends with 'ArtifactTag'";
pub(super) const SECRET_FORBIDDEN: &str = ".secretRef cannot be set when .type is 'Static', 'ExternalArtifact', 'ACRArtifactTag', 'ECRArtifactTag' or 'GARArtifactTag', or starts with 'AWSCodeCommit'";
pub(super) const CERTIFICATE_FORBIDDEN: &str = ".certSecretRef cannot be set when .type is 'Static', 'ExternalArtifact', 'ACRArtifactTag', 'ECRArtifactTag' or 'GARArtifactTag', or starts with 'AWSCodeCommit' or 'AzureDevOps'";
pub(super) const SELECTORS_MISSING: &str =
    ".selectors must name at least one artifact or label when .type is 'ExternalArtifact'";
pub(super) const SELECTORS_FORBIDDEN: &str = ".selectors can only be set when .type is 'ExternalArtifact'";
pub(super) const NAME_AND_LABELS: &str = ".matchLabels and .matchExpressions cannot be set when .name is set";

impl ResourceSetInputProvider {
    /// Every rule of the definition that this object breaks, those for the whole spec last. An object that
    /// an API server admitted breaks none.
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        let spec = &self.spec;
        let mut violations = field_violations(spec);
        let schedules = spec.schedule.iter().enumerate();
        violations.extend(schedules.flat_map(|(index, schedule)| schedule_violations(index, schedule)));
        let selectors = spec.selectors.iter().enumerate();
        violations.extend(selectors.flat_map(|(index, selector)| selector_violations(index, selector)));
        violations.extend(broken("spec", address_checks(spec)));
        violations.extend(broken("spec", access_checks(spec)));
        violations.extend(broken("spec", selectors_checks(spec)));
        violations
    }
}

fn field_violations(spec: &ResourceSetInputProviderSpec) -> Vec<Violation> {
    let url = spec.url.as_deref().unwrap_or_default();
    broken(
        "spec",
        [
            (
                !url.is_empty() && !is_url_of(url, &["http", "https", "oci"]),
                ".url",
                "must start with http://, https:// or oci://",
            ),
            (
                spec.filter.as_ref().is_some_and(|filter| filter.limit > MAX_LIMIT),
                ".filter.limit",
                "must be at most 10000",
            ),
        ],
    )
}

fn schedule_violations(index: usize, schedule: &Schedule) -> Vec<Violation> {
    let is_broken = !is_duration(&schedule.window);
    broken(&format!("spec.schedule[{index}]"), [(is_broken, ".window", NO_DURATION)])
}

fn selector_violations(index: usize, selector: &ArtifactSelector) -> Vec<Violation> {
    let has_labels = selector.match_labels.is_some() || selector.match_expressions.is_some();
    let is_broken = selector.name.is_some() && has_labels;
    broken(&format!("spec.selectors[{index}]"), [(is_broken, "", NAME_AND_LABELS)])
}

fn address_checks(spec: &ResourceSetInputProviderSpec) -> [Check; 7] {
    let family = spec.type_.family();
    let url = spec.url.as_deref().unwrap_or_default();
    let has_no_address = matches!(family, Family::Static | Family::Artifact);
    let is_web = matches!(family, Family::Git | Family::AzureDevOps | Family::Service);
    let is_registry = matches!(family, Family::Registry | Family::CloudRegistry);
    let is_http = url.starts_with("http://");
    let is_https = url.starts_with("https://");
    [
        (has_no_address && !url.is_empty(), "", URL_FORBIDDEN),
        (!has_no_address && url.is_empty(), "", URL_MISSING),
        (is_web && !url.is_empty() && !is_http && !is_https, "", URL_NOT_HTTP),
        (family == Family::CodeCommit && !url.is_empty() && !is_https, "", URL_NOT_HTTPS),
        (is_registry && !url.is_empty() && !has_repository(url), "", URL_NOT_OCI),
        (spec.insecure && !matches!(family, Family::Service | Family::Registry), "", INSECURE_FORBIDDEN),
        (family == Family::Service && is_http && !spec.insecure, "", INSECURE_MISSING),
    ]
}

fn access_checks(spec: &ResourceSetInputProviderSpec) -> [Check; 3] {
    let family = spec.type_.family();
    let has_account = spec.service_account_name.as_ref().is_some_and(|name| !name.is_empty());
    let takes_no_account = matches!(family, Family::Static | Family::Git | Family::Service);
    let takes_no_secret =
        matches!(family, Family::Static | Family::Artifact | Family::CloudRegistry | Family::CodeCommit);
    let takes_no_certificate = takes_no_secret || family == Family::AzureDevOps;
    [
        (has_account && takes_no_account, "", SERVICE_ACCOUNT_FORBIDDEN),
        (spec.secret_ref.is_some() && takes_no_secret, "", SECRET_FORBIDDEN),
        (spec.cert_secret_ref.is_some() && takes_no_certificate, "", CERTIFICATE_FORBIDDEN),
    ]
}

fn selectors_checks(spec: &ResourceSetInputProviderSpec) -> [Check; 2] {
    let is_artifact = spec.type_.family() == Family::Artifact;
    [
        (is_artifact && spec.selectors.is_empty(), "", SELECTORS_MISSING),
        (!is_artifact && !spec.selectors.is_empty(), "", SELECTORS_FORBIDDEN),
    ]
}

/// The language of `^oci://[^/]+/.+$`.
fn has_repository(url: &str) -> bool {
    let path = url.strip_prefix("oci://").and_then(|rest| rest.split_once('/'));
    path.is_some_and(|(host, repository)| !host.is_empty() && !repository.is_empty()) && !url.contains('\n')
}
