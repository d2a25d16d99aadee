//! Rows for `ResourceSetInputProvider`.

use crds::ResourceSetInputProvider;
use serde_json::{Value, json};

use crate::kind::{Kind, read};
use crate::table::{Base, Row};

pub(crate) const KIND: Kind = Kind {
    name: "ResourceSetInputProvider",
    plural: "resourcesetinputproviders",
    read: read::<ResourceSetInputProvider>,
};

const URL_FORBIDDEN: &str = ".url must be empty when .type is 'Static' or 'ExternalArtifact'";
const URL_MISSING: &str = ".url must be set unless .type is 'Static' or 'ExternalArtifact'";
const URL_NOT_HTTP: &str = ".url must start with 'http://' or 'https://' when .type is 'ExternalService' or starts with 'Git' or 'AzureDevOps'";
const URL_NOT_HTTPS: &str = ".url must start with 'https://' when .type starts with 'AWSCodeCommit'";
const URL_NOT_OCI: &str =
    ".url must have the form 'oci://HOST/REPOSITORY' when .type ends with 'ArtifactTag'";
const INSECURE_FORBIDDEN: &str =
    ".insecure can only be set to true when .type is 'ExternalService' or 'OCIArtifactTag'";
const INSECURE_MISSING: &str =
    ".insecure must be set to true when .type is 'ExternalService' and .url starts with 'http://'";
const SERVICE_ACCOUNT_FORBIDDEN: &str = ".serviceAccountName can only be set when .type is 'ExternalArtifact', starts with 'AzureDevOps' or 'AWSCodeCommit', or ends with 'ArtifactTag'";
const SECRET_FORBIDDEN: &str = ".secretRef cannot be set when .type is 'Static', 'ExternalArtifact', 'ACRArtifactTag', 'ECRArtifactTag' or 'GARArtifactTag', or starts with 'AWSCodeCommit'";
const CERTIFICATE_FORBIDDEN: &str = ".certSecretRef cannot be set when .type is 'Static', 'ExternalArtifact', 'ACRArtifactTag', 'ECRArtifactTag' or 'GARArtifactTag', or starts with 'AWSCodeCommit' or 'AzureDevOps'";
const SELECTORS_MISSING: &str =
    ".selectors must name at least one artifact or label when .type is 'ExternalArtifact'";
const SELECTORS_FORBIDDEN: &str = ".selectors can only be set when .type is 'ExternalArtifact'";
const NAME_AND_LABELS: &str = ".matchLabels and .matchExpressions cannot be set when .name is set";
const DURATION: &str = "must be a duration of numbers with the units ms, s, m and h, such as 1m30s";
const SCHEME: &str = "must start with http://, https:// or oci://";

/// A type, an address that it takes, and those of the fields that are not for all which it takes.
struct Type {
    name: &'static str,
    url: &'static str,
    takes: &'static [&'static str],
}

const ACCOUNT: &str = "serviceAccountName";
const SECRET: &str = "secretRef";
const CERTIFICATE: &str = "certSecretRef";
const INSECURE: &str = "insecure";
const SELECTORS: &str = "selectors";

const GIT: &str = "https://git.example.com/team/app";
const AZURE: &str = "https://dev.azure.com/org/project/_git/repo";
const AMAZON: &str = "https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/app";
const IMAGE: &str = "oci://registry.example.com/app";

/// Every type, with what it takes.
fn types() -> Vec<Type> {
    let row = |name, url, takes| Type { name, url, takes };
    vec![
        row("Static", "", &[]),
        row("GitHubBranch", GIT, &[SECRET, CERTIFICATE]),
        row("GitHubTag", GIT, &[SECRET, CERTIFICATE]),
        row("GitHubPullRequest", GIT, &[SECRET, CERTIFICATE]),
        row("GitLabBranch", GIT, &[SECRET, CERTIFICATE]),
        row("GitLabTag", GIT, &[SECRET, CERTIFICATE]),
        row("GitLabMergeRequest", GIT, &[SECRET, CERTIFICATE]),
        row("GitLabEnvironment", GIT, &[SECRET, CERTIFICATE]),
        row("GiteaBranch", GIT, &[SECRET, CERTIFICATE]),
        row("GiteaTag", GIT, &[SECRET, CERTIFICATE]),
        row("GiteaPullRequest", GIT, &[SECRET, CERTIFICATE]),
        row("AzureDevOpsBranch", AZURE, &[ACCOUNT, SECRET]),
        row("AzureDevOpsTag", AZURE, &[ACCOUNT, SECRET]),
        row("AzureDevOpsPullRequest", AZURE, &[ACCOUNT, SECRET]),
        row("AWSCodeCommitBranch", AMAZON, &[ACCOUNT]),
        row("AWSCodeCommitTag", AMAZON, &[ACCOUNT]),
        row("AWSCodeCommitPullRequest", AMAZON, &[ACCOUNT]),
        row("OCIArtifactTag", IMAGE, &[ACCOUNT, SECRET, CERTIFICATE, INSECURE]),
        row("ACRArtifactTag", IMAGE, &[ACCOUNT]),
        row("ECRArtifactTag", IMAGE, &[ACCOUNT]),
        row("GARArtifactTag", IMAGE, &[ACCOUNT]),
        row("ExternalService", "https://example.com/inputs?a=b", &[SECRET, CERTIFICATE, INSECURE]),
        row("ExternalArtifact", "", &[ACCOUNT, SELECTORS]),
    ]
}

/// The least that is accepted.
pub(crate) fn smallest() -> Value {
    json!({
        "apiVersion": "fluxcd.controlplane.io/v1",
        "kind": "ResourceSetInputProvider",
        "metadata": {"name": "source"},
        "spec": {"type": "Static"},
    })
}

/// Objects that together have every field.
pub(crate) fn whole() -> Vec<Value> {
    let mut image = smallest();
    image["spec"] = json!({
        "type": "OCIArtifactTag",
        "url": IMAGE,
        "serviceAccountName": "puller",
        "secretRef": {"name": "registry"},
        "certSecretRef": {"name": "certificates"},
        "insecure": true,
        "defaultValues": {"region": "eu", "flags": [null, {"on": null}], "nothing": null},
        "filter": {
            "includeBranch": "a", "excludeBranch": "b", "includeTag": "c", "excludeTag": "d",
            "includeEnvironment": "e", "excludeEnvironment": "f", "labels": ["g"], "limit": 5, "semver": ">=1.0.0",
        },
        "skip": {"labels": ["!tested"]},
        "schedule": [{"cron": "0 9 * * mon-fri", "timeZone": "Europe/Paris", "window": "1h30m"}],
    });
    let mut artifact = smallest();
    artifact["spec"] = json!({
        "type": "ExternalArtifact",
        "selectors": [{
            "matchLabels": {"a": "b"},
            "matchExpressions": [{"key": "c", "operator": "In", "values": ["d"]}],
            "namespace": "*",
        }],
    });
    let mut named = smallest();
    named["spec"] = json!({"type": "ExternalArtifact", "selectors": [{"name": "a", "namespace": "b"}]});
    vec![image, artifact, named]
}

pub(crate) fn rows() -> Vec<Row> {
    let mut rows = [object_rows(), address_rows(), selector_rows()].into_iter().flatten().collect::<Vec<_>>();
    rows.extend(types().iter().flat_map(type_rows));
    rows
}

/// What every type must and must not have.
fn type_rows(this: &Type) -> Vec<Row> {
    let needs_selectors = this.takes.contains(&SELECTORS);
    let start = || {
        let start = Base::new(smallest()).set("/spec/type", json!(this.name));
        let start = if this.url.is_empty() { start } else { start.set("/spec/url", json!(this.url)) };
        if needs_selectors { start.set("/spec/selectors", json!([{}])) } else { start }
    };
    let mut rows = vec![
        start().accepted(),
        start().set("/spec/insecure", json!(false)).accepted(),
        start().set("/spec/serviceAccountName", json!("")).accepted(),
    ];
    let special = [
        (ACCOUNT, json!("a"), SERVICE_ACCOUNT_FORBIDDEN),
        (SECRET, json!({"name": "a"}), SECRET_FORBIDDEN),
        (CERTIFICATE, json!({"name": "a"}), CERTIFICATE_FORBIDDEN),
        (INSECURE, json!(true), INSECURE_FORBIDDEN),
        (SELECTORS, json!([{"name": "a"}]), SELECTORS_FORBIDDEN),
    ];
    rows.extend(special.map(|(field, value, message)| {
        let changed = start().set(&format!("/spec/{field}"), value);
        if this.takes.contains(&field) { changed.accepted() } else { changed.breaks("spec", message) }
    }));
    let no_selectors = start().set("/spec/selectors", json!([]));
    rows.push(if needs_selectors {
        no_selectors.breaks("spec", SELECTORS_MISSING)
    } else {
        no_selectors.accepted()
    });
    let no_url = start().set("/spec/url", json!(""));
    if this.url.is_empty() {
        rows.push(no_url.accepted());
        rows.push(start().set("/spec/url", json!(GIT)).breaks("spec", URL_FORBIDDEN));
    } else {
        rows.push(no_url.breaks("spec", URL_MISSING));
        rows.push(start().without("/spec/url").breaks("spec", URL_MISSING));
    }
    rows
}

fn address_rows() -> Vec<Row> {
    let of = |name: &str, url: &str| {
        Base::new(smallest()).set("/spec/type", json!(name)).set("/spec/url", json!(url))
    };
    let mut rows = vec![
        of("GitLabTag", "http://git.example.com/a/b").accepted(),
        of("AzureDevOpsTag", "http://dev.example.com/a").accepted(),
        of("AWSCodeCommitTag", "http://git-codecommit.eu-west-1.amazonaws.com/v1/repos/app")
            .breaks("spec", URL_NOT_HTTPS),
        of("AWSCodeCommitTag", IMAGE).breaks("spec", URL_NOT_HTTPS),
        of("ExternalService", "http://example.com").breaks("spec", INSECURE_MISSING),
        of("ExternalService", "http://example.com")
            .set("/spec/insecure", json!(false))
            .breaks("spec", INSECURE_MISSING),
        of("ExternalService", "http://example.com").set("/spec/insecure", json!(true)).accepted(),
        of("OCIArtifactTag", "oci://host:5000/a/b").accepted(),
        of("OCIArtifactTag", "oci://host//").accepted(),
    ];
    rows.extend(
        ["GitHubTag", "GiteaTag", "AzureDevOpsTag", "ExternalService"]
            .map(|name| of(name, IMAGE).breaks("spec", URL_NOT_HTTP)),
    );
    rows.extend(
        ["oci://", "oci://host", "oci://host/", "oci:///a", "https://host/a", "http://host/a"]
            .map(|bad| of("OCIArtifactTag", bad).breaks("spec", URL_NOT_OCI)),
    );
    rows.extend(
        ["host", "git@host:a/b", "ssh://host/a", "HTTPS://host/a", " https://host/a", "https://host/a\n"]
            .map(|bad| of("GitHubTag", bad).violates("spec.url", "pattern", SCHEME)),
    );
    rows
}

fn object_rows() -> Vec<Row> {
    let base = Base::new(smallest());
    let schedule = |window: &str| base.set("/spec/schedule", json!([{"cron": "@daily", "window": window}]));
    let limit = |limit: i64| base.set("/spec/filter/limit", json!(limit));
    let nested = json!({"a": {"b": null}, "c": null, "": [], "d": 1e30});
    vec![
        base.set("/spec/defaultValues", json!({})).accepted(),
        base.set("/spec/defaultValues", nested).accepted(),
        base.set("/spec/filter", json!({})).accepted(),
        base.set("/spec/filter/includeTag", json!("(")).accepted(),
        base.set("/spec/filter/semver", json!("not a range")).accepted(),
        limit(10_000).accepted(),
        limit(0).accepted(),
        limit(-1).accepted(),
        limit(i64::MIN).accepted(),
        limit(10_001).violates("spec.filter.limit", "maximum", "must be at most 10000"),
        limit(i64::MAX).violates("spec.filter.limit", "maximum", "must be at most 10000"),
        base.set("/spec/skip", json!({})).accepted(),
        base.set("/spec/schedule", json!([])).accepted(),
        base.set("/spec/schedule", json!([{"cron": "not cron", "timeZone": "Mars/Olympus"}])).accepted(),
        base.set("/spec/schedule", json!([{"cron": "", "timeZone": null, "window": null}])).accepted(),
        schedule("10m").accepted(),
        schedule("-10m").violates("spec.schedule[0].window", "pattern", DURATION),
        schedule("").violates("spec.schedule[0].window", "pattern", DURATION),
    ]
}

fn selector_rows() -> Vec<Row> {
    let of = |selector: Value| {
        Base::new(smallest())
            .set("/spec/type", json!("ExternalArtifact"))
            .set("/spec/selectors", json!([{}, selector]))
    };
    vec![
        of(json!({"name": "a", "namespace": "*"})).accepted(),
        of(json!({"name": ""})).accepted(),
        of(json!({"name": "a", "matchLabels": null})).accepted(),
        of(json!({"matchLabels": {}, "matchExpressions": []})).accepted(),
        of(json!({"matchExpressions": [{"key": "a", "operator": "Near"}]})).accepted(),
        of(json!({"name": "a", "matchLabels": {"b": "c"}})).breaks("spec.selectors[1]", NAME_AND_LABELS),
        of(json!({"name": "a", "matchLabels": {}})).breaks("spec.selectors[1]", NAME_AND_LABELS),
        of(json!({"name": "a", "matchExpressions": [{"key": "a", "operator": "Exists"}]}))
            .breaks("spec.selectors[1]", NAME_AND_LABELS),
    ]
}
