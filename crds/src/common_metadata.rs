use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::null;

/// Labels and annotations for all managed objects.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
pub struct CommonMetadata {
    /// Annotations, by key. They win over a key that an object already has.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "null::without_null_texts")]
    pub annotations: Option<BTreeMap<String, String>>,

    /// Labels, by key. They win over a key that an object already has.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "null::without_null_texts")]
    pub labels: Option<BTreeMap<String, String>>,
}
