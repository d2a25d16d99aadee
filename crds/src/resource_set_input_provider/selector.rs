#![expect(unreachable_pub, reason = "the derive of KubeSchema repeats the struct inside a function")]

use std::collections::BTreeMap;

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use super::violations;
use crate::{MatchExpression, null};

/// Chooses artifacts by name or by labels. An empty selector chooses all of the namespace.
#[derive(Serialize, Deserialize, KubeSchema, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(
    validation = Rule::new("!has(self.name) || !(has(self.matchLabels) || has(self.matchExpressions))")
        .message(violations::NAME_AND_LABELS)
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct ArtifactSelector {
    /// Labels that an artifact must have, by key, with the very value. Example: `{team: web}`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "null::without_null_texts")]
    pub match_labels: Option<BTreeMap<String, String>>,

    /// Conditions on labels; all of them must hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub match_expressions: Option<Vec<MatchExpression>>,

    /// Name of the artifact, instead of labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,

    /// The namespace to look in, or * for all. Defaults to the namespace of the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}
