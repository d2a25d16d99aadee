#![expect(unreachable_pub, reason = "the derive of KubeSchema repeats the struct inside a function")]

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::violations;
use crate::LabelSelector;

/// How the input sets of several sources come together.
#[derive(Serialize, Deserialize, KubeSchema, Clone, Debug, PartialEq, Eq)]
#[x_kube(
    validation = Rule::new("!has(self.includeEmptyProviders) || self.name == 'Permute'")
        .message(violations::EMPTY_PROVIDERS)
)]
#[serde(rename_all = "camelCase")]
pub struct InputStrategy {
    /// Flatten: the sets of all sources, one after the other. Permute: one set for each combination of one set of every source, with the values of a source below its name in lower case with underscores, and an id of the combination; at most 10000 combinations.
    pub name: InputStrategyName,

    /// With Permute: a source without input sets leaves no combinations, instead of being left out of them. Defaults to false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_empty_providers: Option<bool>,
}

/// A way in which input sets come together.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the word is the documentation")]
pub enum InputStrategyName {
    #[default]
    Flatten,
    Permute,
}

/// Providers of input sets, in the namespace of the ResourceSet: one by its name, or all that a selector chooses.
#[derive(Serialize, Deserialize, KubeSchema, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(
    validation = Rule::new("has(self.name) != has(self.selector)").message(violations::NAME_OR_SELECTOR)
)]
#[serde(rename_all = "camelCase")]
pub struct InputsFrom {
    /// API version of the providers: fluxcd.controlplane.io/v1, which is the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_version: Option<ProviderApiVersion>,

    /// Kind of the providers: ResourceSetInputProvider, which is the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ProviderKind>,

    /// Name of one provider. It is an error if there is none of that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,

    /// Chooses providers by their labels. An empty selector, {}, chooses all of the namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
}

/// API version of a provider.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the word is the documentation")]
pub enum ProviderApiVersion {
    #[serde(rename = "fluxcd.controlplane.io/v1")]
    V1,
}

/// Kind of a provider.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the word is the documentation")]
pub enum ProviderKind {
    ResourceSetInputProvider,
}
