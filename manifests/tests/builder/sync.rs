//! What the fields of a sync become in the objects of Flux.

use manifests::{
    distribution::Embedded,
    flux_instance::build,
    objects::{kind, name},
};
use serde_json::{Value, json};

/// The source and the Kustomization of a sync.
fn synced(fields: &Value, others: &Value) -> Result<[Value; 2], String> {
    let mut sync =
        json!({"kind": "GitRepository", "url": "https://git.example.com/a", "ref": "main", "path": "a"});
    sync.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let mut spec = json!({"distribution": {"version": "2.x", "registry": "ghcr.io/fluxcd"}, "sync": sync});
    spec.as_object_mut().unwrap().extend(others.as_object().unwrap().clone());
    let object = json!({"metadata": {"name": "flux", "namespace": "flux-system"}, "spec": spec});
    let instance = serde_json::from_value(object).unwrap();
    let built = build(&instance, "flux-system", &Embedded).map_err(|error| error.to_string())?;
    let find = |wanted: &str| {
        let found =
            built.objects.iter().find(|object| kind(object) == wanted && name(object) == "flux-system");
        found.unwrap()["spec"].clone()
    };
    Ok([find(spec["sync"]["kind"].as_str().unwrap()), find("Kustomization")])
}

fn spec_of(fields: &Value) -> [Value; 2] {
    synced(fields, &json!({})).unwrap()
}

#[test]
fn what_is_not_asked_for_is_not_named() {
    assert_eq!(
        spec_of(&json!({})),
        [
            json!({"interval": "1m", "ref": {"name": "main"}, "url": "https://git.example.com/a"}),
            json!({
                "interval": "10m", "path": "a", "prune": true,
                "sourceRef": {"kind": "GitRepository", "name": "flux-system"},
            }),
        ]
    );
}

#[test]
fn fields_of_a_git_repository_and_of_the_kustomization_are_passed_on() {
    let verify = json!({"mode": "TagAndHEAD", "secretRef": {"name": "keys"}});
    let decryption = json!({"provider": "sops", "secretRef": {"name": "age"}, "serviceAccountName": "kms"});
    let [source, kustomization] = spec_of(&json!({
        "ref": "", "semver": ">=1.0.0", "verify": verify, "proxySecretRef": {"name": "proxy"}, "ignore": "/docs",
        "insecure": false, "suspend": true, "prune": false, "timeout": "5m", "retryInterval": "2m",
        "serviceAccountName": "fleet", "decryption": decryption,
    }));
    assert_eq!(
        source,
        json!({
            "interval": "1m", "url": "https://git.example.com/a", "ref": {"semver": ">=1.0.0"}, "verify": verify,
            "proxySecretRef": {"name": "proxy"}, "ignore": "/docs", "suspend": true,
        })
    );
    assert_eq!(
        kustomization,
        json!({
            "interval": "10m", "path": "a", "prune": false, "suspend": true, "timeout": "5m",
            "retryInterval": "2m", "serviceAccountName": "fleet", "decryption": decryption,
            "sourceRef": {"kind": "GitRepository", "name": "flux-system"},
        })
    );
}

#[test]
fn fields_of_artifacts_and_buckets_are_passed_on() {
    let verify = json!({
        "provider": "cosign", "matchOIDCIdentity": [{"issuer": "^a$", "subject": "^b$"}],
        "trustedRootSecretRef": {"name": "root"},
    });
    let [source, _] = spec_of(&json!({
        "kind": "OCIRepository", "url": "oci://registry.example.com/a", "ref": "", "semver": "1.x",
        "verify": verify, "insecure": true, "certSecretRef": {"name": "tls"}, "suspend": false,
    }));
    assert_eq!(
        source,
        json!({
            "interval": "1m", "url": "oci://registry.example.com/a", "ref": {"semver": "1.x"}, "verify": verify,
            "insecure": true, "certSecretRef": {"name": "tls"}, "suspend": false,
        })
    );
    let [source, _] = spec_of(&json!({
        "kind": "Bucket", "url": "minio.example.com:9000", "ref": "fleet", "insecure": true,
        "certSecretRef": {"name": "tls"}, "proxySecretRef": {"name": "proxy"}, "ignore": "*.md",
    }));
    assert_eq!(
        source,
        json!({
            "interval": "1m", "endpoint": "minio.example.com:9000", "bucketName": "fleet", "insecure": true,
            "certSecretRef": {"name": "tls"}, "proxySecretRef": {"name": "proxy"}, "ignore": "*.md",
        })
    );
}

#[test]
fn a_named_account_wins_over_the_controllers_in_a_cluster_of_tenants() {
    let account = |fields: &Value| {
        let [_, kustomization] = synced(fields, &json!({"cluster": {"multitenant": true}})).unwrap();
        kustomization["serviceAccountName"].clone()
    };
    assert_eq!(account(&json!({})), "kustomize-controller");
    assert_eq!(account(&json!({"serviceAccountName": ""})), "kustomize-controller");
    assert_eq!(account(&json!({"serviceAccountName": "fleet"})), "fleet");
}

#[test]
fn what_a_kind_or_the_elected_flux_does_not_have_is_refused() {
    let old = json!({"distribution": {"version": "2.6.x", "registry": "ghcr.io/fluxcd"}});
    let root = json!({
        "kind": "OCIRepository", "url": "oci://registry.example.com/a",
        "verify": {"trustedRootSecretRef": {"name": "root"}},
    });
    assert_eq!(
        synced(&root, &old).unwrap_err(),
        "spec.sync.verify: trustedRootSecretRef needs Flux 2.9 or later, and spec.distribution.version elects v2.6.4"
    );
    let rows = [
        (
            json!({"certSecretRef": {"name": "tls"}}),
            "spec.sync: .certSecretRef cannot be set when .kind is set to 'GitRepository'",
        ),
        (json!({"timeout": "1d"}), "spec.sync.timeout: must be a duration of numbers"),
        (json!({"semver": "1.x"}), "spec.sync: .ref must be empty when .semver is set"),
        (
            json!({"semver": "newest", "ref": ""}),
            "spec.sync.semver: is no range of versions such as 1.x or >=1.2.0 <2.0.0: ",
        ),
    ];
    for (fields, message) in rows {
        let refused = synced(&fields, &json!({})).unwrap_err();
        assert!(refused.starts_with(message), "{refused}\n  should start with: {message}");
    }
}
