//! What is shown of a FluxInstance.

use super::{Labels, label};
use crate::text::registry_without_userinfo;

/// The status of a Ready condition; `Unknown` also when there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// Nobody can say yet.
    Unknown,
}

impl Ready {
    fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

/// What `flux_instance_info` tells of a FluxInstance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceInfo {
    /// The uid of the object: there is one series for each.
    pub uid: String,
    /// The name of the object.
    pub name: String,
    /// The namespace of the object; its label is `exported_namespace`, for `namespace` is Prometheus' own.
    pub namespace: String,
    /// The status of its Ready condition.
    pub ready: Ready,
    /// The reason of its Ready condition; empty when it has none.
    pub reason: String,
    /// An annotation forbids to reconcile it.
    pub suspended: bool,
    /// Where its images come from, such as `ghcr.io/fluxcd`.
    pub registry: String,
    /// What was applied last, such as `v2.7.5@sha256:...`; empty before anything was.
    pub revision: String,
}

impl InstanceInfo {
    pub(super) fn labels(&self) -> Labels {
        let suspended = if self.suspended { "True" } else { "False" };
        vec![
            ("uid", label(&self.uid)),
            ("kind", "FluxInstance".to_owned()),
            ("name", label(&self.name)),
            ("exported_namespace", label(&self.namespace)),
            ("ready", self.ready.as_str().to_owned()),
            ("reason", label(&self.reason)),
            ("suspended", suspended.to_owned()),
            ("registry", label(&registry_without_userinfo(&self.registry))),
            ("revision", label(&self.revision)),
        ]
    }
}
