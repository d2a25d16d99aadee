//! The parts of a status that several kinds share.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most snapshots that a history keeps; the oldest one falls out.
pub const MAX_HISTORY: usize = 5;

/// The longest message of a condition, in bytes; longer ones are cut at the end.
pub const MAX_MESSAGE_BYTES: usize = 32_768;

/// One observation of the object's state, in the form that all Kubernetes tools read.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Type of the condition in CamelCase: Ready, Reconciling or Stalled.
    #[serde(rename = "type")]
    #[schemars(length(max = 316))]
    pub type_: String,

    /// Status of the condition: True, False or Unknown.
    pub status: ConditionStatus,

    /// The generation of the spec that this condition speaks of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,

    /// When the status of this condition last changed, in RFC 3339.
    #[schemars(schema_with = "date_time")]
    pub last_transition_time: String,

    /// One word in CamelCase that says why; scripts match on it.
    #[schemars(length(min = 1, max = 1024), regex(pattern = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"))]
    pub reason: String,

    /// What happened and what to do about it, for people.
    #[schemars(length(max = 32768))]
    pub message: String,
}

/// Whether the state that a condition names holds.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the word is the documentation")]
pub enum ConditionStatus {
    True,
    False,
    Unknown,
}

/// The objects that belong to this one: all of them are deleted with it.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// The objects, in the order in which they were applied.
    pub entries: Vec<InventoryEntry>,
}

/// A reference to a managed object.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
pub struct InventoryEntry {
    /// The object as `<namespace>_<name>_<group>_<kind>`; namespace and group are empty where the object has none.
    pub id: String,

    /// The API version of the object, without the group.
    pub v: String,

    /// The uid of the object, once it was seen. An object of the same name with another uid belongs to somebody else and is never deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
}

/// What one desired state came to.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// Digest of the desired state, `sha256:<hex>`.
    pub digest: String,

    /// When this state was first reconciled, in RFC 3339.
    #[schemars(schema_with = "date_time")]
    pub first_reconciled: String,

    /// When this state was last reconciled, in RFC 3339.
    #[schemars(schema_with = "date_time")]
    pub last_reconciled: String,

    /// How long the last reconciliation took, as a Go duration such as `4.2s`.
    pub last_reconciled_duration: String,

    /// The reason of the Ready condition that the last reconciliation ended with.
    pub last_reconciled_status: String,

    /// How many reconciliations of this state ended with this status.
    pub total_reconciliations: i64,

    /// Facts about this state, such as the version of Flux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<BTreeMap<String, String>>,
}

pub(crate) fn date_time(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "string", "format": "date-time"})
}
