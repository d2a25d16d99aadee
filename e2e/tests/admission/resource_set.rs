//! Rows for `ResourceSet`.

use crds::ResourceSet;
use serde_json::{Value, json};

use crate::kind::{Kind, read};
use crate::table::{Base, Row};

pub(crate) const KIND: Kind = Kind { name: "ResourceSet", plural: "resourcesets", read: read::<ResourceSet> };

const STEPS_EXCLUDE: &str =
    ".resources and .resourcesTemplate must be empty when .steps is set: move them into a step";
const NOTHING_TO_APPLY: &str = "one of .resources, .resourcesTemplate and .steps must be set";
const STEP_NAMES: &str = "the names of the steps must differ";
const NOTHING_IN_STEP: &str = ".resources or .resourcesTemplate of a step must be set";
const EMPTY_PROVIDERS: &str = ".includeEmptyProviders can only be set when .name is set to 'Permute'";
const NAME_OR_SELECTOR: &str = "one of .name and .selector must be set, and not both";
const DURATION: &str = "must be a duration of numbers with the units ms, s, m and h, such as 1m30s";
const LABEL: &str = "must be a DNS label of lower-case letters, digits and hyphens";

/// The least that is accepted.
pub(crate) fn smallest() -> Value {
    json!({
        "apiVersion": "fluxcd.controlplane.io/v1",
        "kind": "ResourceSet",
        "metadata": {"name": "apps"},
        "spec": {"resources": []},
    })
}

/// Objects that together have every field.
pub(crate) fn whole() -> Vec<Value> {
    let mut object = smallest();
    object["spec"] = json!({
        "commonMetadata": {"annotations": {"a": "b"}, "labels": {"c": "d"}},
        "inputStrategy": {"name": "Permute", "includeEmptyProviders": true},
        "inputs": [{"tenant": "web", "replicas": 2, "flags": [true, null, {"on": null}], "share": 0.5}],
        "inputsFrom": [{
            "apiVersion": "fluxcd.controlplane.io/v1",
            "kind": "ResourceSetInputProvider",
            "selector": {
                "matchLabels": {"a": "b"},
                "matchExpressions": [{"key": "c", "operator": "In", "values": ["d"]}],
            },
        }],
        "resources": [config_map("<< inputs.tenant >>")],
        "resourcesTemplate": "apiVersion: v1",
        "dependsOn": [{
            "apiVersion": "v1", "kind": "Secret", "name": "s", "namespace": "n", "ready": true,
            "readyExpr": "data.size() > 0",
        }],
        "serviceAccountName": "tenant",
        "wait": true,
    });
    let mut by_name = smallest();
    by_name["spec"]["inputsFrom"] = json!([{"name": "tags"}]);
    let mut steps = smallest();
    steps["spec"] = json!({"steps": [
        {"name": "one", "resources": [config_map("a")], "resourcesTemplate": "a: b", "timeout": "10m"},
    ]});
    vec![object, by_name, steps]
}

pub(crate) fn rows() -> Vec<Row> {
    [object_rows(), input_rows(), step_rows(), step_name_rows()].into_iter().flatten().collect()
}

fn object_rows() -> Vec<Row> {
    let base = Base::new(smallest());
    let dependency = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "c"});
    let nested =
        json!({"apiVersion": "a/v1", "kind": "A", "spec": {"x": null, "y": [null, {"z": 1e30}]}, "odd": []});
    vec![
        base.unchanged().accepted(),
        base.without("/spec/resources").breaks("spec", NOTHING_TO_APPLY),
        base.set("/spec/resources", Value::Null).breaks("spec", NOTHING_TO_APPLY),
        base.set("/spec/resources", json!([{}])).accepted(),
        base.set("/spec/resources", json!([nested])).accepted(),
        base.without("/spec/resources").set("/spec/resourcesTemplate", json!("")).accepted(),
        base.set("/spec/resourcesTemplate", json!("a: b")).accepted(),
        base.set("/spec/steps", json!([step("a")])).accepted(),
        base.set("/spec/steps", json!([step("a")])).set("/spec/resourcesTemplate", json!("")).accepted(),
        base.set("/spec/steps", json!([step("a")]))
            .set("/spec/resourcesTemplate", json!("a: b"))
            .breaks("spec", STEPS_EXCLUDE),
        base.set("/spec/steps", json!([step("a")]))
            .set("/spec/resources", json!([{}]))
            .breaks("spec", STEPS_EXCLUDE),
        base.set("/spec/dependsOn", json!([dependency])).accepted(),
        base.set("/spec/commonMetadata", json!({})).accepted(),
        base.set("/spec/serviceAccountName", json!("")).accepted(),
    ]
}

fn input_rows() -> Vec<Row> {
    let base = Base::new(smallest());
    let any = json!({
        "text": "a\nb", "empty": "", "number": 12_345_678_901_234_i64, "share": 0.25, "yes": false, "nothing": null,
        "list": [1, "a", null, [], {}], "object": {"nothing": null, "deep": {"deeper": [{"a": {}}]}}, "": "unnamed",
        "provider": {"name": "mine"},
    });
    let expression = json!([{"key": "a", "operator": "Near"}]);
    vec![
        base.set("/spec/inputs", json!([])).accepted(),
        base.set("/spec/inputs", json!([{}, {}])).accepted(),
        base.set("/spec/inputs", json!([any])).accepted(),
        base.set("/spec/inputs", json!([{"nothing": null}])).accepted(),
        base.set("/spec/inputStrategy/name", json!("Flatten")).accepted(),
        base.set("/spec/inputStrategy/name", json!("Permute")).accepted(),
        base.set("/spec/inputStrategy", json!({"name": "Permute", "includeEmptyProviders": false}))
            .accepted(),
        base.set("/spec/inputStrategy", json!({"name": "Flatten", "includeEmptyProviders": null})).accepted(),
        base.set("/spec/inputStrategy", json!({"name": "Flatten", "includeEmptyProviders": true}))
            .breaks("spec.inputStrategy", EMPTY_PROVIDERS),
        base.set("/spec/inputStrategy", json!({"name": "Flatten", "includeEmptyProviders": false}))
            .breaks("spec.inputStrategy", EMPTY_PROVIDERS),
        base.set("/spec/inputsFrom", json!([])).accepted(),
        base.set("/spec/inputsFrom", json!([{"name": "a"}, {"name": "a"}, {"selector": {}}])).accepted(),
        base.set("/spec/inputsFrom", json!([{"name": ""}])).accepted(),
        base.set("/spec/inputsFrom", json!([{"name": null, "selector": {}}])).accepted(),
        base.set("/spec/inputsFrom", json!([{"selector": {"matchExpressions": expression}}])).accepted(),
        base.set("/spec/inputsFrom", json!([{}])).breaks("spec.inputsFrom[0]", NAME_OR_SELECTOR),
        base.set("/spec/inputsFrom", json!([{"name": "a"}, {"name": "a", "selector": {}}]))
            .breaks("spec.inputsFrom[1]", NAME_OR_SELECTOR),
    ]
}

fn step_rows() -> Vec<Row> {
    let base = Base::new(smallest());
    let steps = |count: usize| {
        let steps: Vec<Value> = (0..count).map(|index| step(&format!("step-{index}"))).collect();
        base.set("/spec/steps", json!(steps))
    };
    let timeout = |text: &str| {
        base.set("/spec/steps", json!([{"name": "a", "resourcesTemplate": "", "timeout": text}]))
    };
    vec![
        steps(1).accepted(),
        steps(20).accepted(),
        steps(0).violates("spec.steps", "minItems", "must have 1 to 20 steps"),
        steps(21).violates("spec.steps", "maxItems", "must have 1 to 20 steps"),
        base.set("/spec/steps", json!([step("a"), step("b"), step("a")])).breaks("spec.steps", STEP_NAMES),
        base.set("/spec/steps", json!([step("a"), {"name": "b", "resources": []}])).accepted(),
        base.set("/spec/steps", json!([step("a"), {"name": "b"}])).breaks("spec.steps[1]", NOTHING_IN_STEP),
        base.set("/spec/steps", json!([{"name": "b", "resources": null}]))
            .breaks("spec.steps[0]", NOTHING_IN_STEP),
        timeout("1m30s").accepted(),
        timeout("0s").accepted(),
        timeout("1 m").violates("spec.steps[0].timeout", "pattern", DURATION),
        timeout("").violates("spec.steps[0].timeout", "pattern", DURATION),
    ]
}

fn step_name_rows() -> Vec<Row> {
    let base = Base::new(smallest());
    let named = |name: &str| base.set("/spec/steps", json!([step(name)]));
    let mut rows: Vec<Row> =
        ["a", "0", "a-b", "a--b", &"a".repeat(63)].map(|good| named(good).accepted()).into();
    rows.push(named(&"a".repeat(64)).violates(
        "spec.steps[0].name",
        "maxLength",
        "must have at most 63 characters",
    ));
    rows.extend(
        ["", "-", "-a", "a-", "A", "a.b", "a_b", "a b", "ä", "a\n"]
            .map(|bad| named(bad).violates("spec.steps[0].name", "pattern", LABEL)),
    );
    rows
}

fn step(name: &str) -> Value {
    json!({"name": name, "resources": [config_map("a")]})
}

fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "b"}})
}
