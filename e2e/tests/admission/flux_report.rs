//! Rows for `FluxReport`.

use crds::FluxReport;
use serde_json::{Value, json};

use crate::kind::{Kind, read};
use crate::table::{Base, Row};

pub(crate) const KIND: Kind = Kind { name: "FluxReport", plural: "fluxreports", read: read::<FluxReport> };

/// The least that is accepted.
pub(crate) fn smallest() -> Value {
    json!({
        "apiVersion": "fluxcd.controlplane.io/v1",
        "kind": "FluxReport",
        "metadata": {"name": "flux"},
        "spec": {"distribution": {"entitlement": "Unknown", "status": "Unknown"}},
    })
}

/// Objects that together have every field.
pub(crate) fn whole() -> Vec<Value> {
    let mut object = smallest();
    object["spec"] = json!({
        "distribution": {
            "entitlement": "Issued by somebody", "status": "Installed", "version": "v2.9.4",
            "managedBy": "flux-operator",
        },
        "cluster": {"serverVersion": "v1.36.3", "platform": "linux/amd64", "nodes": 3},
        "operator": {"apiVersion": "fluxcd.controlplane.io/v1", "version": "v1.0.0", "platform": "linux/arm64"},
        "components": [{
            "name": "source-controller", "ready": true, "status": "Current", "image": "registry/image:v1",
        }],
        "reconcilers": [{
            "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "Bucket",
            "stats": {"running": 3, "failing": 1, "suspended": 0, "totalSize": "1.5 MiB"},
        }],
        "sync": {
            "id": "kustomization/flux-system", "ready": true, "status": "Applied", "path": "clusters/a",
            "source": "https://h/r",
        },
    });
    vec![object]
}

pub(crate) fn rows() -> Vec<Row> {
    let base = Base::new(smallest());
    vec![
        base.unchanged().accepted(),
        base.set("/metadata/name", json!("other"))
            .breaks("metadata.name", "the only accepted name for a FluxReport is 'flux'"),
        base.set("/spec/components", json!([])).accepted(),
        base.set("/spec/reconcilers", json!([{"apiVersion": "a/v1", "kind": "A"}])).accepted(),
        base.set("/spec/cluster", json!({"serverVersion": "", "platform": "", "nodes": 0})).accepted(),
    ]
}
