//! Objects whose fields are the user's.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// An object whose fields the API neither knows nor changes.
pub type FreeForm = Map<String, Value>;

/// Any values by name.
pub(crate) fn values(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "additionalProperties": {"x-kubernetes-preserve-unknown-fields": true}})
}

/// A list of any values by name.
pub(crate) fn list_of_values(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": values(generator)})
}

/// A list of whole objects.
pub(crate) fn list_of_objects(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}})
}

/// Reads what [`values`] describes, without the names that have no value: the API server drops those, but
/// keeps the nulls inside of values.
pub(crate) fn read_values<'de, D>(deserializer: D) -> Result<Option<FreeForm>, D::Error>
where
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(deserializer)?.map(without_nulls))
}

/// Reads what [`list_of_values`] describes, as [`read_values`] does.
pub(crate) fn read_list_of_values<'de, D>(deserializer: D) -> Result<Vec<FreeForm>, D::Error>
where
    D: Deserializer<'de>,
{
    let list: Option<Vec<FreeForm>> = Option::deserialize(deserializer)?;
    Ok(list.unwrap_or_default().into_iter().map(without_nulls).collect())
}

fn without_nulls(mut values: FreeForm) -> FreeForm {
    values.retain(|_, value| !value.is_null());
    values
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{read_list_of_values, read_values};

    #[test]
    fn a_name_without_value_is_dropped_and_a_null_inside_of_a_value_is_kept() {
        let values = json!({"a": null, "b": {"c": null, "d": [null]}});
        assert_eq!(
            serde_json::to_value(read_values(&values).unwrap()).unwrap(),
            json!({"b": {"c": null, "d": [null]}})
        );
        let list = json!([{"a": null}, {"b": [null]}]);
        assert_eq!(
            serde_json::to_value(read_list_of_values(&list).unwrap()).unwrap(),
            json!([{}, {"b": [null]}])
        );
        assert_eq!(read_values(&json!(null)).unwrap(), None);
        assert!(read_list_of_values(&json!(null)).unwrap().is_empty());
    }
}
