//! Cases that follow from a definition: for every field of an object, that it is absent, null, of another type,
//! of an unknown word; and an unknown field in every object.

use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::fields::{self, schema};
use crate::kind::{Kind, Reading};
use crate::table::{complain, disagreement};

/// A word that no field knows.
const UNKNOWN: &str = "unknown-word";

/// An object with one field changed.
pub(crate) struct Case {
    what: String,
    object: Value,
    expected: Expected,
}

enum Expected {
    /// Other rules decide; both sides agree.
    Agreed,
    /// Both sides refuse it, the API server with these words.
    Refused(&'static str),
    /// Both sides accept it, and the API server puts this value at the pointer, or none.
    Filled { pointer: String, value: Option<Value> },
}

/// All cases for an object.
pub(crate) fn cases(definition: &Value, object: &Value) -> Vec<Case> {
    let mut cases = Vec::new();
    for_field(
        &Field { schema: &schema(definition)["properties"]["spec"], pointer: "/spec", is_required: true },
        object,
        &mut cases,
    );
    cases
}

struct Field<'a> {
    schema: &'a Value,
    pointer: &'a str,
    is_required: bool,
}

fn for_field(field: &Field<'_>, object: &Value, cases: &mut Vec<Case>) {
    let Field { schema, pointer, .. } = *field;
    let Some(value) = object.pointer(pointer) else { return };
    let mut add = |what: String, change: &dyn Fn(&mut Value), expected: Expected| {
        let mut object = object.clone();
        change(&mut object);
        cases.push(Case { what: format!("{pointer} {what}"), object, expected });
    };
    let is_item = pointer.ends_with(|character: char| character.is_ascii_digit());
    if !is_item {
        add("absent".to_owned(), &|object| fields::remove(object, pointer), when_absent(field));
    }
    let when_null = if is_item { Expected::Agreed } else { when_absent(field) };
    add("null".to_owned(), &|object| fields::set(object, pointer, Value::Null), when_null);
    let other = other_type(schema);
    add(
        format!("{other}"),
        &|object| fields::set(object, pointer, other.clone()),
        Expected::Refused("must be of type"),
    );
    if schema["enum"].is_array() {
        let unknown = |object: &mut Value| fields::set(object, pointer, json!(UNKNOWN));
        add(UNKNOWN.to_owned(), &unknown, Expected::Refused("Unsupported value"));
    }
    if schema["additionalProperties"]["type"] == "string" {
        let number = |object: &mut Value| fields::set(object, pointer, json!({"key": 1}));
        add("with a number".to_owned(), &number, Expected::Refused("must be of type string"));
        let null = |object: &mut Value| fields::set(object, pointer, json!({"key": null}));
        add("with null".to_owned(), &null, Expected::Agreed);
    }
    if schema["properties"].is_object() {
        let unknown = format!("{pointer}/{UNKNOWN}");
        let expected = Expected::Filled { pointer: unknown.clone(), value: None };
        add(UNKNOWN.to_owned(), &|object| fields::set(object, &unknown, json!({"a": [1]})), expected);
    }
    for_children(field, value, object, cases);
}

fn for_children(field: &Field<'_>, value: &Value, object: &Value, cases: &mut Vec<Case>) {
    let Field { schema, pointer, .. } = *field;
    for (name, child) in schema["properties"].as_object().into_iter().flatten() {
        let required = schema["required"].as_array().into_iter().flatten();
        let is_required = required.into_iter().any(|required| required == name);
        for_field(
            &Field { schema: child, pointer: &format!("{pointer}/{name}"), is_required },
            object,
            cases,
        );
    }
    for index in 0..value.as_array().map_or(0, Vec::len).min(1) {
        let item =
            Field { schema: &schema["items"], pointer: &format!("{pointer}/{index}"), is_required: false };
        for_field(&item, object, cases);
    }
}

fn when_absent(field: &Field<'_>) -> Expected {
    match (&field.schema["default"], field.is_required) {
        (Value::Null, true) => Expected::Refused("Required value"),
        (Value::Null, false) => Expected::Agreed,
        (default, _) => Expected::Filled { pointer: field.pointer.to_owned(), value: Some(default.clone()) },
    }
}

/// A value of a type that is not the field's.
fn other_type(schema: &Value) -> Value {
    if schema["type"] == "string" { json!(1) } else { json!("text") }
}

impl Case {
    /// What one of the two sides does that it should not.
    pub(crate) async fn complaint(&self, cluster: &Cluster, kind: &Kind) -> Option<String> {
        let server = cluster.would_create(kind.plural, &self.object).await;
        let ours = (kind.read)(self.object.clone());
        let problem = disagreement(kind, &server, &ours).or_else(|| self.problem(&server, &ours));
        problem.map(|problem| complain(&self.what, &problem, &server, &ours))
    }

    fn problem(&self, server: &Result<Value, String>, ours: &Reading) -> Option<String> {
        match (&self.expected, server, ours) {
            (Expected::Refused(words), Err(server), Err(_)) if server.contains(words) => None,
            (Expected::Refused(words), ..) => Some(format!("must be refused with {words:?}")),
            (Expected::Filled { pointer, value }, Ok(server), Ok(_))
                if server.pointer(pointer) == value.as_ref() =>
            {
                None
            }
            (Expected::Filled { value, .. }, ..) => Some(format!("must become {value:?}")),
            (Expected::Agreed, ..) => None,
        }
    }
}
