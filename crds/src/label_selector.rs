use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::null;

/// Chooses objects by their labels: those for which every part holds. An empty selector chooses all.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct LabelSelector {
    /// Labels that an object must have, by key, with the very value. Example: `{team: web}`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "null::without_null_texts")]
    pub match_labels: Option<BTreeMap<String, String>>,

    /// Conditions on labels; all of them must hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null::as_default")]
    pub match_expressions: Vec<MatchExpression>,
}

/// A condition on one label.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchExpression {
    /// Key of the label.
    pub key: String,

    /// In (the value is one of values), NotIn (it is none of them, or the label is absent), Exists or DoesNotExist. Another word is reported when the selector is used.
    pub operator: String,

    /// The values for In and NotIn, at least one; none for Exists and DoesNotExist.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null::as_default")]
    pub values: Vec<String>,
}
