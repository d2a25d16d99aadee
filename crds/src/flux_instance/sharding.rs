use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{keys::SHARDING_KEY, null};

/// How the work of the controllers is split.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
pub struct Sharding {
    /// The label that assigns a Flux object to a shard. Objects without it are served by the main controllers. Defaults to sharding.fluxcd.io/key.
    #[serde(default = "default_key", deserialize_with = "read_key")]
    pub key: String,

    /// Names of the shards, at least one: each gets controllers of its own, named <controller>-<shard>, which serve the objects whose label has that value. A source and the objects that use it must be on the same shard.
    #[schemars(length(min = 1))]
    pub shards: Vec<String>,

    /// Where the source-controllers of the shards keep artifacts: ephemeral, in the pod, or persistent, on a volume each, which needs .spec.storage. Defaults to ephemeral.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<ShardStorage>,
}

/// Where a shard keeps its artifacts.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the word is the documentation")]
pub enum ShardStorage {
    #[default]
    Ephemeral,
    Persistent,
}

/// The persistent volume of source-controller.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
pub struct Storage {
    /// Name of the StorageClass. Example: `standard`.
    pub class: String,

    /// Size of the volume, a Kubernetes quantity. Example: `10Gi`.
    pub size: String,
}

fn default_key() -> String {
    SHARDING_KEY.to_owned()
}

fn read_key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    null::or(deserializer, default_key)
}
