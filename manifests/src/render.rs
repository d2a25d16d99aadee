//! Objects as a YAML stream, and the digest of it.

use data_encoding::HEXLOWER;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::objects::kind;

/// The objects as YAML documents, each preceded by `---`, without the descriptions of custom resource
/// fields: those are documentation, and a build of the operator may leave them out.
#[must_use]
pub fn yaml_stream(objects: &[Value]) -> String {
    objects.iter().flat_map(|object| ["---\n".to_owned(), yaml(object)]).collect()
}

/// SHA-256 of [`yaml_stream`], in hex.
#[must_use]
pub fn digest(objects: &[Value]) -> String {
    let mut hash = Sha256::new();
    for object in objects {
        hash.update("---\n");
        hash.update(yaml(object));
    }
    HEXLOWER.encode(&hash.finalize())
}

fn yaml(object: &Value) -> String {
    if kind(object) != "CustomResourceDefinition" {
        return manifests_yaml::to_string(object);
    }
    let mut definition = object.clone();
    strip_descriptions(&mut definition);
    manifests_yaml::to_string(&definition)
}

/// Removes the descriptions from the schemas of a definition; a property that is called `description` stays.
pub fn strip_descriptions(definition: &mut Value) {
    let versions = definition.pointer_mut("/spec/versions").and_then(Value::as_array_mut);
    for version in versions.into_iter().flatten() {
        if let Some(schema) = version.pointer_mut("/schema/openAPIV3Schema") {
            strip_schema(schema);
        }
    }
}

fn strip_schema(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else { return };
    fields.remove("description");
    for (keyword, value) in fields {
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties" | "definitions", Value::Object(schemas)) => {
                schemas.values_mut().for_each(strip_schema);
            }
            ("items" | "additionalProperties" | "not", schema @ Value::Object(_)) => strip_schema(schema),
            ("items" | "allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(strip_schema);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{digest, strip_descriptions, yaml_stream};

    #[test]
    fn descriptions_go_and_properties_called_description_stay() {
        let mut definition = json!({"kind": "CustomResourceDefinition", "spec": {"versions": [{"schema": {
        "openAPIV3Schema": {
            "description": "x",
            "properties": {
                "description": {"type": "string", "description": "x"},
                "list": {"items": {"description": "x", "anyOf": [{"description": "x", "type": "string"}]}},
                "map": {"additionalProperties": {"description": "x"}},
                "word": {"enum": ["description"], "default": {"description": "kept"}}
            }
        }}}]}});
        strip_descriptions(&mut definition);
        assert_eq!(
            definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"],
            json!({"properties": {
                "description": {"type": "string"},
                "list": {"items": {"anyOf": [{"type": "string"}]}},
                "map": {"additionalProperties": {}},
                "word": {"enum": ["description"], "default": {"description": "kept"}}
            }})
        );
    }

    #[test]
    fn the_digest_is_that_of_the_rendered_text() {
        let objects = [json!({"kind": "A", "metadata": {"name": "a"}}), json!({"kind": "B"})];
        assert_eq!(yaml_stream(&objects), "---\nkind: A\nmetadata:\n  name: a\n---\nkind: B\n");
        // printf -- '---\nkind: A\nmetadata:\n  name: a\n---\nkind: B\n' | sha256sum
        assert_eq!(digest(&objects), "2b5d30eed302bff7c62d68c154868a5e5674f0cd512494aea4fbdd7c41a7b35d");
    }
}
