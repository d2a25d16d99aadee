use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::null;

/// An object that must exist before the set is applied.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Dependency {
    /// API version of the object. Example: `apiextensions.k8s.io/v1`.
    pub api_version: String,

    /// Kind of the object. Example: `CustomResourceDefinition`.
    pub kind: String,

    /// Name of the object.
    pub name: String,

    /// Namespace of the object. Leave it out for kinds that have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,

    /// The object must not only exist but also be ready: by readyExpr, or without it by the usual signs of its kind. Defaults to false.
    #[serde(default, deserialize_with = "null::as_default")]
    pub ready: bool,

    /// With ready: a CEL expression over the fields of the object that is true when it is ready. Example: `status.conditions.exists(c, c.type == 'Established' && c.status == 'True')`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_expr: Option<String>,
}
