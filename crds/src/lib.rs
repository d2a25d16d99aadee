//! The API that this project serves: group `fluxcd.controlplane.io`, version `v1`.
//!
//! Types, defaults, validation rules and printer columns of the kinds are written once, here: the
//! `crdgen` binary prints the CustomResourceDefinitions in `crds/yaml` from them, and a test fails when
//! those are stale. The documentation of a field is what `kubectl explain` shows.
//!
//! The vocabulary that users and scripts depend on lives here too: [condition types and
//! reasons](conditions), [annotation and label keys](keys), [what names may look like](names).

mod columns;
mod common_metadata;
pub mod conditions;
mod definitions;
mod duration;
pub mod flux_instance;
pub mod flux_report;
mod free_form;
pub mod keys;
mod label_selector;
pub mod names;
mod null;
mod object_id;
pub mod resource_set;
pub mod resource_set_input_provider;
pub mod status;
mod violation;

pub use common_metadata::CommonMetadata;
pub use definitions::{Definition, definitions};
pub use duration::{GoDuration, NoDuration, duration};
pub use flux_instance::{FluxInstance, FluxInstanceSpec, FluxInstanceStatus};
pub use flux_report::{FluxReport, FluxReportSpec, FluxReportStatus};
pub use free_form::FreeForm;
pub use label_selector::{LabelSelector, MatchExpression};
pub use object_id::ObjectId;
pub use resource_set::{ResourceSet, ResourceSetSpec, ResourceSetStatus};
pub use resource_set_input_provider::{
    ResourceSetInputProvider, ResourceSetInputProviderSpec, ResourceSetInputProviderStatus,
};
pub use violation::Violation;

/// The API group of all kinds.
pub const GROUP: &str = "fluxcd.controlplane.io";

/// The one served version.
pub const VERSION: &str = "v1";

/// Field manager of every write of the operator, source of its events and name of its lease.
pub const FIELD_MANAGER: &str = "flux-operator";

/// The only name that a `FluxInstance` may have: a cluster runs one Flux.
pub const INSTANCE_NAME: &str = "flux";

/// The only name that a `FluxReport` may have.
pub const REPORT_NAME: &str = "flux";

/// The namespace that Flux is installed in when nothing else is said.
pub const DEFAULT_NAMESPACE: &str = "flux-system";
