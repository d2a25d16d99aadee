//! Annotation and label keys: an interface to users, scripts and the Flux controllers.

/// Finalizer of our objects: they go when what they manage is gone.
pub const FINALIZER: &str = "fluxcd.controlplane.io/finalizer";

/// On an object of ours: `disabled` (any case) pauses it; deleting a paused `FluxInstance` leaves all that
/// it manages in place.
pub const RECONCILE: &str = "fluxcd.controlplane.io/reconcile";

/// On an object of ours: how long between two passes over an unchanged spec, a Go duration such as `30m`.
pub const RECONCILE_EVERY: &str = "fluxcd.controlplane.io/reconcileEvery";

/// On an object of ours: how long one pass may wait for readiness, a Go duration; 5 minutes by default.
pub const RECONCILE_TIMEOUT: &str = "fluxcd.controlplane.io/reconcileTimeout";

/// On a managed object: `disabled` (any case) keeps it when the operator would delete it.
pub const PRUNE: &str = "fluxcd.controlplane.io/prune";

/// On a Flux Deployment: the sizing profile that it was built with, `small`, `medium` or `large`.
pub const PROFILE: &str = "fluxcd.controlplane.io/profile";

/// On an object of ours: any new value asks for a pass at once; it is echoed in
/// `status.lastHandledReconcileAt`.
pub const REQUESTED_AT: &str = "reconcile.fluxcd.io/requestedAt";

/// On an object of ours: equal to the annotation that asks for a pass, it asks for every custom resource of
/// Flux to be written anew. It is echoed in `status.lastHandledForceAt`.
pub const FORCE_AT: &str = "reconcile.fluxcd.io/forceAt";

/// Label of a managed object: name of the `FluxInstance` that it belongs to.
pub const OWNER_NAME: &str = "fluxcd.controlplane.io/name";

/// Label of a managed object: namespace of the `FluxInstance` that it belongs to.
pub const OWNER_NAMESPACE: &str = "fluxcd.controlplane.io/namespace";

/// The role of an object in a sharded install; the value `shard` marks what belongs to one shard.
pub const SHARDING_ROLE: &str = "sharding.fluxcd.io/role";

/// Default label key that assigns Flux objects to a shard.
pub const SHARDING_KEY: &str = "sharding.fluxcd.io/key";

/// The values of keys that switch something off are compared without regard to case.
#[must_use]
pub fn is_disabled(value: &str) -> bool {
    value.eq_ignore_ascii_case("disabled")
}
