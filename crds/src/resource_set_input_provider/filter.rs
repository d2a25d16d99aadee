use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::null;

/// How many sets are exported when the limit is not set.
pub const DEFAULT_LIMIT: i64 = 100;

/// The most sets that are exported: they live in the status of one object.
pub const MAX_LIMIT: i64 = 10_000;

/// Which of the found items are exported. Regular expressions are RE2 and match anywhere in the text.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Filter {
    /// A regular expression for branches, or for the source branch of pull requests. Example: `^(main|release/.*)$`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_branch: Option<String>,

    /// A regular expression for branches, or the source branch of pull requests, that are left out. It wins over includeBranch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude_branch: Option<String>,

    /// A regular expression for tags of repositories and artifacts. Example: `^v[0-9]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_tag: Option<String>,

    /// A regular expression for tags that are left out. It wins over includeTag. Example: `-rc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude_tag: Option<String>,

    /// A regular expression for environments of GitLab. Example: `^review/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_environment: Option<String>,

    /// A regular expression for environments that are left out. It wins over includeEnvironment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude_environment: Option<String>,

    /// Labels that a pull request must all have. Example: `[deploy/preview]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null::as_default")]
    pub labels: Vec<String>,

    /// The most sets that are exported, at most 10000; 0 and less mean the default. Defaults to 100, also without a filter.
    #[serde(default = "default_limit", deserialize_with = "read_limit")]
    #[schemars(range(max = MAX_LIMIT))]
    pub limit: i64,

    /// For tags: a semver range. Tags that are no version in it are left out, the others are exported from the highest on. Example: `>=1.2.0 <2.0.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub semver: Option<String>,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            include_branch: None,
            exclude_branch: None,
            include_tag: None,
            exclude_tag: None,
            include_environment: None,
            exclude_environment: None,
            labels: Vec::new(),
            limit: DEFAULT_LIMIT,
            semver: None,
        }
    }
}

/// Which items keep their last exported values. An item that was not exported before is left out.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
pub struct Skip {
    /// Labels of pull requests, any of which makes the item keep its values; with a leading !, the absence of the label does. Example: `[deploy/hold, "!test/passed"]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null::as_default")]
    pub labels: Vec<String>,
}

fn default_limit() -> i64 {
    DEFAULT_LIMIT
}

fn read_limit<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    null::or(deserializer, default_limit)
}
