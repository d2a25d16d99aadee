//! The values, their schema, and what is generated from them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::helm::{CHARTS, Chart, INSTANCE, OPERATOR, charts, check_generated, find, helm, run};

const BEGIN: &str = "<!-- values: begin -->\n";
const END: &str = "<!-- values: end -->\n";

#[test]
fn every_default_is_typed_and_every_typed_key_has_a_default() {
    for chart in CHARTS {
        let schema = schema(chart);
        let values = chart.yaml("values.yaml");
        let mut problems = Vec::new();
        compare(&schema, &values, "", &mut problems);
        assert!(problems.is_empty(), "{}: {problems:#?}", chart.name);
    }
}

#[test]
fn the_lists_of_known_keys_are_those_of_the_schemas() {
    for chart in CHARTS {
        let mut keys = BTreeSet::new();
        collect(&schema(chart), "", &mut |path, _| {
            keys.insert(path.to_owned());
        });
        let text = keys.iter().fold(String::new(), |text, key| text + key + "\n");
        check_generated(&chart.folder().join("files/keys.txt"), &text);
    }
}

#[test]
fn the_tables_of_values_in_the_readmes_are_up_to_date() {
    for chart in CHARTS {
        let readme = chart.read("README.md");
        let (head, rest) = readme.split_once(BEGIN).unwrap();
        let (_, tail) = rest.split_once(END).unwrap();
        let expected = format!("{head}{BEGIN}{}{END}{tail}", table(chart));
        check_generated(&chart.folder().join("README.md"), &expected);
    }
}

#[test]
fn every_field_of_a_flux_instance_has_its_type_in_the_schema() {
    let spec = crds::definitions()
        .into_iter()
        .map(|definition| serde_json::to_value(definition.definition).unwrap())
        .find(|definition| definition["spec"]["names"]["kind"] == "FluxInstance")
        .map(|definition| {
            let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
            schema["properties"]["spec"].clone()
        });
    let schema = schema(INSTANCE);
    let instance = &schema["properties"]["instance"];
    let mut expected = as_values(&spec.unwrap(), true);
    // Unset is neither true nor false here: `flux suspend` decides then.
    expected["properties"]["sync"]["properties"]["suspend"] = json!({"enum": ["", true, false]});
    assert_eq!(instance, &expected);
}

#[test]
fn a_wrong_type_is_refused_by_the_name_of_the_field() {
    let mut fields = 0;
    collect(&schema(INSTANCE), "", &mut |path, schema| {
        if !path.starts_with("instance.") || !schema["properties"].is_null() {
            return;
        }
        // Text is no boolean, list or map, and a list is no text.
        let wrong = if schema["type"] == "string" { json!(["x"]) } else { json!("x") };
        let values = path.rsplit('.').fold(wrong, |value, key| json!({key: value}));
        let error = INSTANCE.text(&values.to_string(), &[]).unwrap_err();
        let place = format!("at '/{}'", path.replace('.', "/"));
        assert!(error.contains(&place), "{path}: {error}");
        fields += 1;
    });
    assert!(fields > 30, "only {fields} fields were tried");
}

#[test]
fn a_word_that_a_field_does_not_know_is_refused_with_those_that_it_knows() {
    let error = INSTANCE.text("{instance: {cluster: {size: huge}}}", &[]).unwrap_err();
    assert!(error.contains("at '/instance/cluster/size': value must be one of '', 'small'"), "{error}");
}

#[test]
fn unknown_keys_pass_everywhere() {
    for chart in CHARTS {
        let mut values = json!({"unknown": {"a": 1}, "image": {"repository": "x"}});
        collect(&schema(chart), "", &mut |path, schema| {
            if schema["properties"].is_object() {
                let pointer = format!("/{}", path.replace('.', "/"));
                insert(&mut values, &pointer, &json!({"unknown": [1]}));
            }
        });
        chart.text(&values.to_string(), &[]).unwrap();
    }
}

#[test]
fn a_null_takes_a_default_away_and_is_no_wrong_type() {
    let values =
        "{instance: {cluster: null, storage: null, sync: {path: null}, wait: null}, commonLabels: null}";
    let objects = INSTANCE.objects(values);
    let spec = &objects[0]["spec"];
    assert!(spec["cluster"].is_null() && spec["wait"].is_null(), "{spec}");
    assert_eq!(spec["distribution"]["version"], "2.x");
    OPERATOR.objects("{image: {repository: x, tag: null}, priorityClassName: null, nodeSelector: null, extraArgs: null, affinity: null}");
}

#[test]
fn values_of_an_older_chart_that_lack_keys_are_enough() {
    let operator = "{image: {repository: x}, replicas: null, nameOverride: null, web: {serverOnly: true, userActions: null}}";
    assert_eq!(find(&OPERATOR.objects(operator), "Deployment").unwrap()["spec"]["replicas"], 1);
    let objects = OPERATOR.objects("{image: {repository: x}, replicas: null, web: {userActions: null}}");
    assert_eq!(find(&objects, "Deployment").unwrap()["spec"]["replicas"], 1);
    let objects = OPERATOR.objects("{image: {repository: x}, replicas: 0}");
    assert_eq!(find(&objects, "Deployment").unwrap()["spec"]["replicas"], 0);
    let instance =
        "{healthcheck: {enabled: true, image: {repository: x, imagePullPolicy: null, pullSecrets: null}}}";
    let objects = INSTANCE.objects(instance);
    let pod = &find(&objects, "Job").unwrap()["spec"]["template"]["spec"];
    assert_eq!(pod["containers"][0]["imagePullPolicy"], "IfNotPresent");
}

#[test]
fn the_charts_have_the_version_of_the_operator() {
    for chart in CHARTS {
        let metadata = chart.yaml("Chart.yaml");
        assert_eq!(metadata["version"], env!("CARGO_PKG_VERSION"), "{}", chart.name);
        assert_eq!(metadata["appVersion"], env!("CARGO_PKG_VERSION"), "{}", chart.name);
    }
}

#[test]
fn the_definitions_in_the_chart_are_copies() {
    let output = run(std::process::Command::new(charts().join("sync-crds.sh")).arg("--check"), "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn charts_pass_the_strict_lint_before_anything_is_set() {
    for chart in CHARTS {
        let output = helm(&["lint", "--strict", chart.folder().to_str().unwrap()], "");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

/// The keys that hold no further known keys.
pub(crate) fn leaves(chart: Chart) -> BTreeSet<String> {
    let mut leaves = BTreeSet::new();
    collect(&schema(chart), "", &mut |path, schema| {
        if schema["properties"].is_null() {
            leaves.insert(path.to_owned());
        }
    });
    leaves
}

fn schema(chart: Chart) -> Value {
    serde_json::from_str(&chart.read("values.schema.json")).unwrap()
}

/// Visits all keys of a schema.
fn collect(schema: &Value, prefix: &str, visit: &mut impl FnMut(&str, &Value)) {
    for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{prefix}{key}");
        visit(&path, schema);
        collect(schema, &format!("{path}."), visit);
    }
}

/// Keys that only a schema or only the values have.
fn compare(schema: &Value, values: &Value, prefix: &str, problems: &mut Vec<String>) {
    let Some(typed) = schema["properties"].as_object() else { return };
    let Some(values) = values.as_object() else {
        problems.push(format!("{prefix} is no map"));
        return;
    };
    problems.extend(
        values.keys().filter(|key| !typed.contains_key(*key)).map(|key| format!("{prefix}{key} has no type")),
    );
    for (key, schema) in typed {
        let path = format!("{prefix}{key}");
        match values.get(key) {
            Some(value) => compare(schema, value, &format!("{path}."), problems),
            None if path == "global" => {}
            None => problems.push(format!("{path} has no default")),
        }
    }
}

/// The schema of a field of the API as one of values: the types, and words beside which the values know "".
fn as_values(field: &Value, may_be_empty: bool) -> Value {
    let mut schema = json!({"type": field["type"]});
    if let Some(words) = field["enum"].as_array() {
        let empty = may_be_empty.then(|| json!(""));
        schema["enum"] = empty.into_iter().chain(words.iter().cloned()).collect();
    }
    if let Some(fields) = field["properties"].as_object() {
        let fields = fields.iter().map(|(name, field)| (name.clone(), as_values(field, true)));
        schema["properties"] = fields.collect();
    }
    if field["items"].is_object() {
        schema["items"] = as_values(&field["items"], false);
    }
    if field["additionalProperties"].is_object() {
        schema["additionalProperties"] = as_values(&field["additionalProperties"], true);
    }
    schema
}

/// Adds to the map at a pointer, which is made.
fn insert(values: &mut Value, pointer: &str, addition: &Value) {
    let mut place = values;
    for key in pointer.split('/').skip(1) {
        if place.is_null() {
            *place = json!({});
        }
        place = place.as_object_mut().unwrap().entry(key).or_insert_with(|| json!({}));
    }
    place.as_object_mut().unwrap().extend(addition.as_object().unwrap().clone());
}

/// The table of a README: keys, defaults and the comments above them.
fn table(chart: Chart) -> String {
    let (values, comments) = (chart.yaml("values.yaml"), comments(&chart.read("values.yaml")));
    let mut table = "| Key | Default | Meaning |\n|---|---|---|\n".to_owned();
    for key in leaves(chart).iter().filter(|key| *key != "global") {
        let default = values.pointer(&format!("/{}", key.replace('.', "/"))).unwrap();
        let meaning = comments.get(key).unwrap_or_else(|| panic!("{key} has no comment in values.yaml"));
        writeln!(table, "| `{key}` | `{default}` | {meaning} |").unwrap();
    }
    table
}

/// The comments above the keys of a file of values.
fn comments(text: &str) -> BTreeMap<String, String> {
    let (mut comments, mut comment) = (BTreeMap::new(), Vec::new());
    let mut path: Vec<(usize, &str)> = Vec::new();
    for line in text.lines() {
        let (indent, content) = (line.len() - line.trim_start().len(), line.trim_start());
        if let Some(text) = content.strip_prefix("# ") {
            comment.push(text);
            continue;
        }
        if let Some((key, _)) = content.split_once(':') {
            path.retain(|(depth, _)| *depth < indent);
            path.push((indent, key));
            if !comment.is_empty() {
                let key: Vec<_> = path.iter().map(|(_, key)| *key).collect();
                comments.insert(key.join("."), comment.join(" "));
            }
        }
        comment.clear();
    }
    comments
}
