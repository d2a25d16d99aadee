//! Rows for `FluxInstance`.

use crds::FluxInstance;
use serde_json::{Value, json};

use crate::kind::{Kind, read};
use crate::table::{Base, Row};

pub(crate) const KIND: Kind =
    Kind { name: "FluxInstance", plural: "fluxinstances", read: read::<FluxInstance> };

const IDENTITY: &str =
    ".objectLevelWorkloadIdentity must be set to true when .multitenantWorkloadIdentity is set to true";
const STORAGE: &str = ".spec.storage must be set when .spec.sharding.storage is 'persistent'";
const GCP: &str = ".provider cannot be set to 'gcp' when .kind is set to 'GitRepository'";
const GITHUB: &str = ".provider can only be set to 'github' when .kind is set to 'GitRepository'";
const DURATION: &str = "must be a duration of numbers with the units ms, s, m and h, such as 1m30s";

/// The least that is accepted.
pub(crate) fn smallest() -> Value {
    json!({
        "apiVersion": "fluxcd.controlplane.io/v1",
        "kind": "FluxInstance",
        "metadata": {"name": "flux"},
        "spec": {"distribution": {"version": "2.x", "registry": "ghcr.io/fluxcd"}},
    })
}

/// Objects that together have every field.
pub(crate) fn whole() -> Vec<Value> {
    let mut object = smallest();
    object["spec"] = json!({
        "distribution": {
            "version": ">=2.8.0 <2.10.0",
            "registry": "registry.example.com/flux",
            "variant": "upstream-alpine",
            "imagePullSecret": "images",
            "artifact": "oci://registry.example.com/manifests:v1",
            "artifactPullSecret": "artifacts",
        },
        "components": ["source-controller", "source-watcher"],
        "commonMetadata": {"annotations": {"a": "b"}, "labels": {"c": "d"}},
        "cluster": {
            "domain": "example.local",
            "multitenant": true,
            "tenantDefaultServiceAccount": "tenant",
            "objectLevelWorkloadIdentity": true,
            "multitenantWorkloadIdentity": true,
            "tenantDefaultDecryptionServiceAccount": "decrypt",
            "tenantDefaultKubeConfigServiceAccount": "remote",
            "networkPolicy": false,
            "type": "openshift",
            "size": "large",
        },
        "sharding": {"key": "example.com/shard", "shards": ["one", "two"], "storage": "ephemeral"},
        "storage": {"class": "standard", "size": "10Gi"},
        "kustomize": {"patches": [{
            "patch": "- {op: remove, path: /spec}",
            "target": {
                "group": "apps", "version": "v1", "kind": "Deployment", "name": "(a|b)", "namespace": "n",
                "labelSelector": "a=b", "annotationSelector": "c=d",
            },
        }]},
        "wait": false,
        "migrateResources": false,
        "sync": {
            "name": "fleet", "interval": "1h30m", "kind": "GitRepository", "url": "https://example.com/a",
            "ref": "refs/heads/main", "path": "clusters/a", "pullSecret": "git", "provider": "github",
            "verify": {"mode": "TagAndHEAD", "secretRef": {"name": "keys"}},
            "proxySecretRef": {"name": "proxy"}, "ignore": "/docs", "suspend": false, "prune": false,
            "timeout": "5m", "retryInterval": "2m", "serviceAccountName": "fleet",
            "decryption": {"provider": "sops", "secretRef": {"name": "age"}, "serviceAccountName": "kms"},
        },
    });
    vec![object, artifact()]
}

/// With the fields of a sync that a GitRepository does not have.
fn artifact() -> Value {
    let mut object = smallest();
    object["spec"]["sync"] = json!({
        "kind": "OCIRepository", "url": "oci://h/r", "ref": "", "path": ".", "semver": "1.x", "insecure": true,
        "certSecretRef": {"name": "tls"},
        "verify": {
            "provider": "cosign", "secretRef": {"name": "keys"}, "trustedRootSecretRef": {"name": "root"},
            "matchOIDCIdentity": [{"issuer": "^https://a$", "subject": "^https://b$"}],
        },
    });
    object
}

pub(crate) fn rows() -> Vec<Row> {
    [object_rows(), cluster_rows(), sync_rows(), sync_settings_rows(), verification_rows()]
        .into_iter()
        .flatten()
        .collect()
}

fn object_rows() -> Vec<Row> {
    let base = Base::new(smallest());
    let artifact = "/spec/distribution/artifact";
    vec![
        base.unchanged().accepted(),
        base.set("/metadata/name", json!("other"))
            .breaks("metadata.name", "the only accepted name for a FluxInstance is 'flux'"),
        base.set("/spec/distribution/version", json!("not a version")).accepted(),
        base.set("/spec/distribution/registry", json!("")).accepted(),
        base.set(artifact, json!("oci://")).accepted(),
        base.set(artifact, json!("oci://host/manifests@sha256:0")).accepted(),
        base.set(artifact, json!("https://host/manifests")).violates(
            "spec.distribution.artifact",
            "pattern",
            "must start with oci://",
        ),
        base.set(artifact, json!("OCI://host/manifests")).violates(
            "spec.distribution.artifact",
            "pattern",
            "must start with oci://",
        ),
        base.set(artifact, json!("")).violates(
            "spec.distribution.artifact",
            "pattern",
            "must start with oci://",
        ),
        base.set(artifact, json!("oci://host\n")).violates(
            "spec.distribution.artifact",
            "pattern",
            "must start with oci://",
        ),
        base.set("/spec/components", json!([])).accepted(),
        base.set("/spec/components", json!(["helm-controller", "helm-controller"])).accepted(),
        base.set("/spec/commonMetadata", json!({})).accepted(),
        base.set("/spec/kustomize", json!({})).accepted(),
        base.set("/spec/kustomize", json!({"patches": []})).accepted(),
        base.set("/spec/kustomize", json!({"patches": [{"patch": ""}]})).accepted(),
        base.set("/spec/storage", json!({"class": "c", "size": "not a quantity"})).accepted(),
    ]
}

fn cluster_rows() -> Vec<Row> {
    let base = Base::new(smallest());
    let shards = json!({"shards": ["a"], "storage": "persistent"});
    vec![
        base.set("/spec/cluster", json!({})).accepted(),
        base.set("/spec/cluster/multitenantWorkloadIdentity", json!(false)).accepted(),
        base.set(
            "/spec/cluster",
            json!({"multitenantWorkloadIdentity": true, "objectLevelWorkloadIdentity": true}),
        )
        .accepted(),
        base.set("/spec/cluster/multitenantWorkloadIdentity", json!(true)).breaks("spec.cluster", IDENTITY),
        base.set(
            "/spec/cluster",
            json!({"multitenantWorkloadIdentity": true, "objectLevelWorkloadIdentity": false}),
        )
        .breaks("spec.cluster", IDENTITY),
        base.set("/spec/sharding/shards", json!(["a"])).accepted(),
        base.set("/spec/sharding/shards", json!(["a", "a"])).accepted(),
        base.set("/spec/sharding/shards", json!([])).violates(
            "spec.sharding.shards",
            "minItems",
            "must name at least one shard",
        ),
        base.set("/spec/sharding", shards.clone()).breaks("spec", STORAGE),
        base.set("/spec/sharding", shards)
            .set("/spec/storage", json!({"class": "c", "size": "1Gi"}))
            .accepted(),
    ]
}

fn sync_rows() -> Vec<Row> {
    let mut object = smallest();
    object["spec"]["sync"] =
        json!({"kind": "GitRepository", "url": "https://h/r", "ref": "main", "path": "."});
    let base = Base::new(object);
    let mut rows = vec![
        base.unchanged().accepted(),
        base.set("/spec/sync/url", json!("")).accepted(),
        base.set("/spec/sync/name", json!("")).accepted(),
        base.set("/spec/sync/name", json!("a".repeat(63))).accepted(),
        base.set("/spec/sync/name", json!("ä".repeat(63))).accepted(),
        base.set("/spec/sync/name", json!("a".repeat(64))).violates(
            "spec.sync.name",
            "maxLength",
            "must have at most 63 characters",
        ),
        base.set("/spec/sync/provider", json!("aws")).accepted(),
        base.set("/spec/sync/provider", json!("azure")).accepted(),
        base.set("/spec/sync/provider", json!("github")).accepted(),
        base.set("/spec/sync/provider", json!("gcp")).breaks("spec.sync", GCP),
        base.set("/spec/sync/kind", json!("Bucket")).set("/spec/sync/provider", json!("gcp")).accepted(),
        base.set("/spec/sync/kind", json!("Bucket"))
            .set("/spec/sync/provider", json!("github"))
            .breaks("spec.sync", GITHUB),
        base.set("/spec/sync/kind", json!("OCIRepository"))
            .set("/spec/sync/provider", json!("github"))
            .breaks("spec.sync", GITHUB),
    ];
    let interval = |text: &str| base.set("/spec/sync/interval", json!(text));
    rows.extend(["30s", "1h30m", "1.5h", "250ms", "0s"].map(|good| interval(good).accepted()));
    rows.extend(
        ["", "1", "1d", "-1m", "1.m", ".5s", "1m ", "1m\n", "1us"]
            .map(|bad| interval(bad).violates("spec.sync.interval", "pattern", DURATION)),
    );
    rows
}

/// A sync of each kind.
fn sync_of(kind: &str) -> Base {
    let mut object = smallest();
    object["spec"]["sync"] = json!({"kind": kind, "url": "https://h/r", "ref": "", "path": "."});
    Base::new(object)
}

fn sync_settings_rows() -> Vec<Row> {
    let [git, artifact, bucket] = ["GitRepository", "OCIRepository", "Bucket"].map(sync_of);
    let secret = json!({"name": "a"});
    let mut rows = vec![
        git.set("/spec/sync/semver", json!(">=1.0.0")).accepted(),
        artifact.set("/spec/sync/semver", json!("1.x")).accepted(),
        bucket
            .set("/spec/sync/semver", json!("1.x"))
            .breaks("spec.sync", ".semver cannot be set when .kind is set to 'Bucket'"),
        git.set("/spec/sync/semver", json!("1.x"))
            .set("/spec/sync/ref", json!("main"))
            .breaks("spec.sync", ".ref must be empty when .semver is set"),
        git.set("/spec/sync/insecure", json!(false)).accepted(),
        git.set("/spec/sync/insecure", json!(true))
            .breaks("spec.sync", ".insecure cannot be set to true when .kind is set to 'GitRepository'"),
        artifact.set("/spec/sync/insecure", json!(true)).accepted(),
        bucket.set("/spec/sync/insecure", json!(true)).accepted(),
        git.set("/spec/sync/certSecretRef", secret.clone())
            .breaks("spec.sync", ".certSecretRef cannot be set when .kind is set to 'GitRepository'"),
        artifact.set("/spec/sync/certSecretRef", secret.clone()).accepted(),
        bucket.set("/spec/sync/certSecretRef", secret.clone()).accepted(),
        git.set("/spec/sync/decryption", json!({"provider": "sops"})).accepted(),
    ];
    for base in [git, artifact, bucket] {
        rows.push(base.set("/spec/sync/proxySecretRef", secret.clone()).accepted());
        rows.push(base.set("/spec/sync/ignore", json!("/docs")).accepted());
        rows.push(base.set("/spec/sync/suspend", json!(true)).accepted());
        for field in ["timeout", "retryInterval"] {
            let pointer = format!("/spec/sync/{field}");
            rows.push(base.set(&pointer, json!("1h1.5m")).accepted());
            for bad in ["", "1d", "5"] {
                rows.push(base.set(&pointer, json!(bad)).violates(
                    &format!("spec.sync.{field}"),
                    "pattern",
                    DURATION,
                ));
            }
        }
    }
    rows
}

fn verification_rows() -> Vec<Row> {
    let [git, artifact, bucket] = ["GitRepository", "OCIRepository", "Bucket"].map(sync_of);
    let keys = json!({"secretRef": {"name": "a"}});
    let git_keys = git.set("/spec/sync/verify", keys.clone());
    let mut rows = vec![
        git_keys.accepted(),
        git.set("/spec/sync/verify", json!({}))
            .breaks("spec.sync", ".verify.secretRef must be set when .kind is set to 'GitRepository'"),
        artifact.set("/spec/sync/verify", json!({})).accepted(),
        artifact
            .set("/spec/sync/verify", json!({"provider": "notation", "secretRef": {"name": "a"}}))
            .accepted(),
        bucket
            .set("/spec/sync/verify", keys.clone())
            .breaks("spec.sync", ".verify cannot be set when .kind is set to 'Bucket'"),
        artifact
            .set("/spec/sync/verify/mode", json!("HEAD"))
            .breaks("spec.sync", ".verify.mode can only be set when .kind is set to 'GitRepository'"),
    ];
    for mode in ["HEAD", "Tag", "TagAndHEAD"] {
        rows.push(
            git.set("/spec/sync/verify", keys.clone()).set("/spec/sync/verify/mode", json!(mode)).accepted(),
        );
    }
    let of_artifacts = [
        (
            "provider",
            json!("cosign"),
            ".verify.provider can only be set when .kind is set to 'OCIRepository'",
        ),
        (
            "matchOIDCIdentity",
            json!([{"issuer": "a", "subject": "b"}]),
            ".verify.matchOIDCIdentity can only be set when .kind is set to 'OCIRepository'",
        ),
        (
            "trustedRootSecretRef",
            json!({"name": "a"}),
            ".verify.trustedRootSecretRef can only be set when .kind is set to 'OCIRepository'",
        ),
    ];
    for (field, value, message) in of_artifacts {
        let pointer = format!("/spec/sync/verify/{field}");
        rows.push(artifact.set(&pointer, value.clone()).accepted());
        rows.push(
            git.set("/spec/sync/verify", keys.clone()).set(&pointer, value).breaks("spec.sync", message),
        );
    }
    rows
}
