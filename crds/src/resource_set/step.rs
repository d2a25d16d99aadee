#![expect(unreachable_pub, reason = "the derive of KubeSchema repeats the struct inside a function")]

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use super::violations;
use crate::{FreeForm, free_form, violation::DURATION};

/// The most steps of a set: each of them is waited for.
pub const MAX_STEPS: usize = 20;

/// The most characters of a step's name, as of a DNS label.
pub(super) const MAX_STEP_NAME: usize = 63;

/// A part of the set that is applied when the one before it is ready.
#[derive(Serialize, Deserialize, KubeSchema, Clone, Debug, Default, PartialEq)]
#[x_kube(
    validation = Rule::new("has(self.resources) || has(self.resourcesTemplate)")
        .message(violations::NOTHING_IN_STEP)
)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Name of the step, for messages: a DNS label of at most 63 characters that no other step has. Example: `databases`.
    #[schemars(length(max = MAX_STEP_NAME), regex(pattern = r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"))]
    pub name: String,

    /// Objects with template expressions, as in .spec.resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_form::list_of_objects")]
    pub resources: Option<Vec<FreeForm>>,

    /// A template that renders to YAML documents, as .spec.resourcesTemplate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources_template: Option<String>,

    /// How long the objects of this step may take to become ready, as a Go duration with units ms, s, m and h. Defaults to the annotation fluxcd.controlplane.io/reconcileTimeout, and without it to 5m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = DURATION))]
    pub timeout: Option<String>,
}
