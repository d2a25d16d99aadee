//! Fields of objects and of definitions.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Keywords that types do not hold; the others are derived from the definition.
const KEYWORDS: [&str; 9] = [
    "pattern",
    "maxLength",
    "minLength",
    "minItems",
    "maxItems",
    "maximum",
    "minimum",
    "uniqueItems",
    "format",
];

/// The schema of an object.
pub(crate) fn schema(definition: &Value) -> &Value {
    &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
}

/// The rules of a definition that its types do not hold: CEL rules by message, the others by field and
/// keyword. Those of the status are left out, which the operator alone writes.
pub(crate) fn rules(definition: &Value) -> BTreeSet<String> {
    let mut rules = BTreeSet::new();
    collect_messages(schema(definition), &mut rules);
    walk(&schema(definition)["properties"]["spec"], "spec", &mut |path, schema| {
        collect_messages(schema, &mut rules);
        for keyword in KEYWORDS.iter().filter(|keyword| !schema[**keyword].is_null()) {
            // Width of integers, which is no rule.
            if schema[*keyword] != "int64" {
                rules.insert(format!("{path} {keyword}"));
            }
        }
    });
    // A transition rule has no meaning for a file.
    rules.remove("Sync name is immutable");
    rules
}

/// The paths of all fields of a spec.
pub(crate) fn all(definition: &Value) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    walk(&schema(definition)["properties"]["spec"], "spec", &mut |path, _| {
        paths.insert(path.to_owned());
    });
    paths
}

/// The paths of the fields of a spec that an object has.
pub(crate) fn present(definition: &Value, object: &Value) -> BTreeSet<String> {
    let is_present = |path: &String| {
        let pointer = format!("/{}", path.replace("[]", "/0").replace('.', "/"));
        object.pointer(&pointer).is_some()
    };
    all(definition).into_iter().filter(is_present).collect()
}

/// Calls a function with every schema below one, by path: `spec.steps`, `spec.steps[]`, `spec.steps[].name`.
pub(crate) fn walk(schema: &Value, path: &str, visit: &mut impl FnMut(&str, &Value)) {
    visit(path, schema);
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        walk(field, &format!("{path}.{name}"), visit);
    }
    if schema["items"].is_object() {
        walk(&schema["items"], &format!("{path}[]"), visit);
    }
}

/// A path with the indexes of lists taken out.
pub(crate) fn without_indexes(path: &str) -> String {
    path.chars().filter(|character| !character.is_ascii_digit()).collect()
}

/// Puts a value at a pointer; objects on the way are made.
pub(crate) fn set(object: &mut Value, pointer: &str, value: Value) {
    *place(object, pointer) = value;
}

/// Removes the field at a pointer.
pub(crate) fn remove(object: &mut Value, pointer: &str) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let removed =
        object.pointer_mut(parent).and_then(Value::as_object_mut).and_then(|parent| parent.remove(name));
    assert!(removed.is_some(), "there is no {pointer}");
}

fn place<'a>(object: &'a mut Value, pointer: &str) -> &'a mut Value {
    pointer.split('/').skip(1).fold(object, |parent, name| match parent {
        Value::Array(items) => &mut items[name.parse::<usize>().unwrap()],
        Value::Object(fields) => fields.entry(name).or_insert_with(|| Value::Object(Map::new())),
        other => panic!("{pointer} leads into {other}"),
    })
}

fn collect_messages(schema: &Value, messages: &mut BTreeSet<String>) {
    let rules = schema["x-kubernetes-validations"].as_array().into_iter().flatten();
    messages.extend(rules.map(|rule| rule["message"].as_str().unwrap().to_owned()));
}
