//! Reading and changing Kubernetes objects in their JSON form.
//!
//! The readers give the empty string for what an object lacks; every object that enters this crate was
//! checked for apiVersion, kind and name.

use serde_json::{Map, Value};

/// `kind`.
#[must_use]
pub fn kind(object: &Value) -> &str {
    text(object.get("kind"))
}

/// `metadata.name`.
#[must_use]
pub fn name(object: &Value) -> &str {
    text(metadata(object, "name"))
}

/// `metadata.namespace`; none for cluster-scoped objects.
#[must_use]
pub fn namespace(object: &Value) -> Option<&str> {
    metadata(object, "namespace").and_then(Value::as_str).filter(|namespace| !namespace.is_empty())
}

/// Group and version of `apiVersion`; the core group is empty.
#[must_use]
pub fn split_api_version(object: &Value) -> (&str, &str) {
    let api_version = text(object.get("apiVersion"));
    api_version.split_once('/').unwrap_or(("", api_version))
}

/// The object as people name it: `Kind/namespace/name`, or `Kind/name` without a namespace.
#[must_use]
pub fn display(object: &Value) -> String {
    match namespace(object) {
        Some(namespace) => format!("{}/{namespace}/{}", kind(object), name(object)),
        None => format!("{}/{}", kind(object), name(object)),
    }
}

/// Changes the map at a path of keys. Maps that are missing, or something else, are made.
pub fn edit_map(object: &mut Value, path: &[&str], edit: impl FnOnce(&mut Map<String, Value>)) {
    edit_at(object, path, |value| {
        let mut map = match value.take() {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        edit(&mut map);
        *value = Value::Object(map);
    });
}

/// Changes the list at a path of keys. What is missing, or something else, is made.
pub fn edit_list(object: &mut Value, path: &[&str], edit: impl FnOnce(&mut Vec<Value>)) {
    edit_at(object, path, |value| {
        let mut list = match value.take() {
            Value::Array(list) => list,
            _ => Vec::new(),
        };
        edit(&mut list);
        *value = Value::Array(list);
    });
}

fn edit_at(value: &mut Value, path: &[&str], edit: impl FnOnce(&mut Value)) {
    match path.split_first() {
        None => edit(value),
        Some((key, rest)) => {
            let mut map = match value.take() {
                Value::Object(map) => map,
                _ => Map::new(),
            };
            edit_at(map.entry(*key).or_insert(Value::Null), rest, edit);
            *value = Value::Object(map);
        }
    }
}

fn metadata<'a>(object: &'a Value, field: &str) -> Option<&'a Value> {
    object.get("metadata")?.get(field)
}

fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{display, edit_list, edit_map, namespace, split_api_version};

    #[test]
    fn objects_are_named_as_people_name_them() {
        assert_eq!(display(&json!({"kind": "Namespace", "metadata": {"name": "x"}})), "Namespace/x");
        let deployment = json!({"kind": "Deployment", "metadata": {"name": "x", "namespace": "y"}});
        assert_eq!(display(&deployment), "Deployment/y/x");
        assert_eq!(namespace(&json!({"metadata": {"namespace": ""}})), None);
    }

    #[test]
    fn the_core_group_is_empty() {
        assert_eq!(split_api_version(&json!({"apiVersion": "v1"})), ("", "v1"));
        assert_eq!(split_api_version(&json!({"apiVersion": "apps/v1"})), ("apps", "v1"));
        assert_eq!(split_api_version(&json!({})), ("", ""));
    }

    #[test]
    fn missing_maps_and_lists_are_made() {
        let mut object = json!({"metadata": {"labels": null}});
        edit_map(&mut object, &["metadata", "labels"], |labels| {
            labels.insert("a".to_owned(), json!("b"));
        });
        edit_list(&mut object, &["spec", "args"], |list| list.push(json!("x")));
        assert_eq!(object, json!({"metadata": {"labels": {"a": "b"}}, "spec": {"args": ["x"]}}));
    }
}
