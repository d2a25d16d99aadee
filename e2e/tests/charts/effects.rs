//! Every key of the values does what `tests/effects.yaml` of its chart says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::thread;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::helm::{CHARTS, Chart, OPERATOR, find};
use crate::values::leaves;

/// What one key does.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Effect {
    key: String,
    value: Value,
    #[serde(default)]
    with: Value,
    #[serde(rename = "in")]
    object: Option<String>,
    at: Option<String>,
    is: Option<Value>,
    #[serde(default)]
    absent: bool,
    #[serde(default)]
    noted: bool,
}

#[test]
fn every_key_has_the_effect_that_the_table_names() {
    for chart in CHARTS {
        let table = chart.read("tests/effects.yaml").replace("VERSION", env!("CARGO_PKG_VERSION"));
        let effects: Vec<Effect> = serde_saphyr::from_str(&table).unwrap();
        let named: BTreeSet<&str> = effects.iter().map(|effect| effect.key.as_str()).collect();
        let keys = leaves(chart);
        // What is below `global` belongs to charts that contain this one.
        let keys: BTreeSet<&str> = keys.iter().map(String::as_str).filter(|key| *key != "global").collect();
        assert_eq!(named, keys, "the table of {} and its keys differ", chart.name);
        assert_eq!(named.len(), effects.len(), "a key is in the table of {} twice", chart.name);

        // Helm takes a tenth of a second, most of which it waits.
        for some in effects.chunks(4) {
            thread::scope(|scope| {
                for effect in some {
                    scope.spawn(|| check(chart, effect));
                }
            });
        }
    }
}

fn check(chart: Chart, effect: &Effect) {
    let base = if chart == OPERATOR {
        json!({"image": {"repository": "registry.example.com/flux-operator"}})
    } else {
        json!({})
    };
    let without = merged(base, &effect.with);
    let with = merged(without.clone(), &nested(&effect.key, effect.value.clone()));
    assert!(!holds(effect, &cached(chart, &without)), "{} has that effect without its value", effect.key);
    assert!(holds(effect, &chart.objects(&with.to_string())), "{} has no effect", effect.key);
    if effect.noted {
        let notes = chart.notes(&with.to_string());
        assert!(notes.lines().any(|line| line.trim() == effect.key), "{}: {notes}", effect.key);
    }
}

/// The objects of a release with these values, which many keys share.
fn cached(chart: Chart, values: &Value) -> Arc<Vec<Value>> {
    static CACHE: Mutex<BTreeMap<String, Arc<Vec<Value>>>> = Mutex::new(BTreeMap::new());
    let key = format!("{} {values}", chart.name);
    if let Some(objects) = CACHE.lock().unwrap().get(&key) {
        return Arc::clone(objects);
    }
    let objects = Arc::new(chart.objects(&values.to_string()));
    CACHE.lock().unwrap().insert(key, Arc::clone(&objects));
    objects
}

/// Whether a release of these objects shows the effect.
fn holds(effect: &Effect, objects: &[Value]) -> bool {
    let (object, at) = match (&effect.object, &effect.at) {
        (Some(object), Some(at)) => (object.clone(), at.clone()),
        _ => ("FluxInstance".to_owned(), effect.key.replacen("instance.", "/spec/", 1).replace('.', "/")),
    };
    let expected = effect.is.as_ref().unwrap_or(&effect.value);
    let found = find(objects, &object);
    if effect.absent {
        return found.and_then(|object| object.pointer(&at)).is_none();
    }
    match at.strip_suffix("/*") {
        Some(list) => found
            .and_then(|object| object.pointer(list)?.as_array())
            .is_some_and(|items| items.contains(expected)),
        None => found.and_then(|object| object.pointer(&at)) == Some(expected),
    }
}

/// A value at a path of keys.
fn nested(path: &str, value: Value) -> Value {
    path.rsplit('.').fold(value, |value, key| json!({key: value}))
}

/// Maps merged as Helm merges values: the second wins.
fn merged(mut into: Value, from: &Value) -> Value {
    match (&mut into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                let old = into.remove(key).unwrap_or_default();
                into.insert(key.clone(), merged(old, value));
            }
        }
        (_, Value::Null) => {}
        (into, from) => *into = from.clone(),
    }
    into
}
