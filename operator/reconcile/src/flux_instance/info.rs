//! What metrics tell of an instance.

use crds::{
    FluxInstance,
    conditions::READY,
    keys::{self, is_disabled},
    status::ConditionStatus,
};
use operator_telemetry::{InstanceInfo, Ready};

use crate::conditions::find;

/// What metrics tell of an instance.
pub(super) fn of(instance: &FluxInstance) -> InstanceInfo {
    let metadata = &instance.metadata;
    let status = instance.status.as_ref();
    let ready = status.and_then(|status| find(&status.conditions, READY));
    let paused = metadata.annotations.as_ref().and_then(|annotations| annotations.get(keys::RECONCILE));
    InstanceInfo {
        uid: metadata.uid.clone().unwrap_or_default(),
        name: metadata.name.clone().unwrap_or_default(),
        namespace: metadata.namespace.clone().unwrap_or_default(),
        ready: ready.map_or(Ready::Unknown, |ready| match ready.status {
            ConditionStatus::True => Ready::True,
            ConditionStatus::False => Ready::False,
            ConditionStatus::Unknown => Ready::Unknown,
        }),
        reason: ready.map(|ready| ready.reason.clone()).unwrap_or_default(),
        suspended: paused.is_some_and(|value| is_disabled(value)),
        registry: instance.spec.distribution.registry.clone(),
        revision: status.and_then(|status| status.last_applied_revision.clone()).unwrap_or_default(),
    }
}
