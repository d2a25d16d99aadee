//! `ResourceSet`: objects from templates and inputs, managed as one.

#![expect(unreachable_pub, reason = "the derive of KubeSchema repeats the struct inside a function")]

mod dependency;
mod inputs;
mod step;
mod violations;

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    CommonMetadata, FreeForm, free_form, null,
    status::{Condition, Inventory, Snapshot},
};

pub use dependency::Dependency;
pub use inputs::{InputStrategy, InputStrategyName, InputsFrom, ProviderApiVersion, ProviderKind};
pub use step::{MAX_STEPS, Step};

/// Asks for a set of objects: every template is rendered with every input set, and the results are applied and kept as rendered. Objects that are no longer rendered are deleted.
#[derive(CustomResource, Serialize, Deserialize, KubeSchema, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "fluxcd.controlplane.io",
    version = "v1",
    kind = "ResourceSet",
    namespaced,
    status = "ResourceSetStatus",
    derive = "PartialEq",
    shortname = "rset",
    category = "all",
    category = "fluxcd",
    category = "fluxcd-appliers",
    doc = "ResourceSet declares a group of objects by templates and the inputs that they are rendered with. The objects are applied, watched and deleted together."
)]
#[x_kube(
    validation = Rule::new("!has(self.steps) || ((!has(self.resources) || size(self.resources) == 0) && (!has(self.resourcesTemplate) || self.resourcesTemplate == ''))")
        .message(violations::STEPS_EXCLUDE),
    validation = Rule::new("has(self.resources) || has(self.resourcesTemplate) || has(self.steps)")
        .message(violations::NOTHING_TO_APPLY)
)]
#[serde(rename_all = "camelCase")]
pub struct ResourceSetSpec {
    /// Labels and annotations for every object of the set. They win over keys that an object already has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common_metadata: Option<CommonMetadata>,

    /// How the input sets of several sources come together. Without it they are used one after the other (Flatten).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_strategy: Option<InputStrategy>,

    /// Input sets, each any values by name: templates are rendered once for each set. They come before those of inputsFrom. Names without a value (null) are dropped. Example: `[{tenant: web, replicas: 2}, {tenant: shop, replicas: 5}]`.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "free_form::read_list_of_values"
    )]
    #[schemars(schema_with = "free_form::list_of_values")]
    pub inputs: Vec<FreeForm>,

    /// The ResourceSetInputProviders of the same namespace whose input sets are used too. With this list, no input sets at all mean no objects: those that exist are deleted.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null::as_default")]
    pub inputs_from: Vec<InputsFrom>,

    /// Objects with template expressions between << and >>. An object that two templates render is applied as the first one has it. Without inputs and inputsFrom they are rendered once. Example: `[{apiVersion: v1, kind: Namespace, metadata: {name: << inputs.tenant >>}}]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_form::list_of_objects")]
    pub resources: Option<Vec<FreeForm>>,

    /// A template that renders to YAML documents, for what resources cannot express, such as objects that exist only under a condition. Objects of resources win over those rendered here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources_template: Option<String>,

    /// Parts of the set that are applied in order, each when the objects of the one before are ready: 1 to 20, instead of resources and resourcesTemplate. An object may be in one step alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_STEPS))]
    #[x_kube(
        validation = Rule::new("self.all(step, self.exists_one(other, other.name == step.name))")
            .message(violations::STEP_NAMES)
    )]
    pub steps: Option<Vec<Step>>,

    /// Objects that must exist, and be ready where that is asked for, before anything is applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null::as_default")]
    pub depends_on: Vec<Dependency>,

    /// Name of a ServiceAccount of the same namespace: objects are applied and deleted with its rights. Defaults to the account that the operator is started with as the default, and without one to the operator's own rights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<String>,

    /// Wait until the applied objects are ready before the set becomes ready; with steps, those of the last one (the others are always waited for). Defaults to false.
    #[serde(default, deserialize_with = "null::as_default")]
    pub wait: bool,
}

/// What the operator observed.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ResourceSetStatus {
    /// The last value of the annotation reconcile.fluxcd.io/requestedAt that was acted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,

    /// Ready, and while they hold Reconciling or Stalled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,

    /// The objects that belong to this set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inventory: Option<Inventory>,

    /// The digest of the objects that were last applied with success, `sha256:<hex>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_applied_revision: Option<String>,

    /// The ConfigMaps and Secrets outside of the set that checksums are made of, as `<kind>/<namespace>/<name>`, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub external_checksum_refs: Vec<String>,

    /// The last states of this set and what they came to, newest first, at most 5.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Snapshot>,
}
