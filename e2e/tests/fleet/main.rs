//! The operator as its users have it: installed by Helm, with real controllers of Flux and a real Git server.
//!
//! Its pod runs the binary of this build with the command, the arguments and the rights that the chart gives it.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod guide;
mod life;
mod rights;

use std::time::Duration;

use e2e::Fleet;
use kube::{
    Api,
    core::{ApiResource, DynamicObject, GroupVersionKind},
};

/// Enough for a busy machine; a good run takes a fraction of it.
const LONG: Duration = Duration::from_mins(2);

/// Objects of one of Flux's kinds in its namespace.
fn objects(fleet: &Fleet, group: &str, version: &str, kind: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk(&format!("{group}.toolkit.fluxcd.io"), version, kind);
    Api::namespaced_with(fleet.client.clone(), crds::DEFAULT_NAMESPACE, &ApiResource::from_gvk(&kind))
}
