//! Who may use whom: the edges between the crates of this workspace are a list, and nothing else may be used.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::{Value, json};

#[test]
fn no_crate_uses_another_that_the_layer_table_does_not_name() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let edges = edges(&metadata);
    assert!(edges["e2e"].contains("crds"), "no edges were read: {edges:?}");
    let problems = problems(&edges, &table(&metadata));
    assert!(problems.is_empty(), "[workspace.metadata.layers] in Cargo.toml:\n{}", problems.join("\n"));
}

#[test]
fn an_edge_of_any_kind_that_is_not_in_the_table_is_found() {
    for kind in [Value::Null, json!("dev"), json!("build")] {
        let metadata = json!({
            "packages": [
                package("low"),
                {"name": "high", "dependencies": [
                    {"name": "low", "rename": "alias", "kind": kind, "optional": true, "path": "/low"},
                    {"name": "serde", "rename": null, "kind": null, "path": null},
                ]},
            ],
            "metadata": {"layers": {"low": [], "high": []}},
        });
        let found = problems(&edges(&metadata), &table(&metadata));
        assert_eq!(found, ["high uses low, which is not in its list"]);
    }
}

#[test]
fn an_edge_out_of_the_workspace_is_found() {
    let metadata = json!({
        "packages": [{"name": "one", "dependencies": [{"name": "stray", "path": "/elsewhere/stray"}]}],
        "metadata": {"layers": {"one": []}},
    });
    assert_eq!(problems(&edges(&metadata), &table(&metadata)), ["one uses stray, which is not in its list"]);
}

#[test]
fn a_crate_that_is_missing_on_either_side_is_found() {
    let metadata = json!({
        "packages": [package("new")],
        "metadata": {"layers": {"old": [], "older": ["oldest"]}},
    });
    assert_eq!(
        problems(&edges(&metadata), &table(&metadata)),
        [
            "crate new is not in the table",
            "old is in the table and is no crate",
            "older is in the table and is no crate",
            "oldest is in the list of older and is no crate",
        ]
    );
}

#[test]
fn a_cycle_in_the_table_is_found_and_shown() {
    let metadata = json!({
        "packages": [package("a"), package("b"), package("c"), package("d")],
        "metadata": {"layers": {"a": ["b"], "b": ["c"], "c": ["b"], "d": ["a", "d"]}},
    });
    assert_eq!(
        problems(&edges(&metadata), &table(&metadata)),
        ["the table has a cycle: b -> c -> b", "the table has a cycle: d -> d"]
    );
}

/// Crates by name, and the crates that each may use or uses.
type Edges = BTreeMap<String, BTreeSet<String>>;

/// The edges that the manifests have: dependencies of all kinds that are folders.
fn edges(metadata: &Value) -> Edges {
    let packages = metadata["packages"].as_array().unwrap();
    let local = |dependency: &&Value| dependency["path"].is_string();
    let name = |value: &Value| value["name"].as_str().unwrap().to_owned();
    packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().unwrap();
            (name(package), dependencies.iter().filter(local).map(name).collect())
        })
        .collect()
}

/// The edges that the workspace allows.
fn table(metadata: &Value) -> Edges {
    serde_json::from_value(metadata["metadata"]["layers"].clone()).unwrap()
}

/// What is wrong, in sentences.
fn problems(edges: &Edges, table: &Edges) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, used) in edges {
        let Some(allowed) = table.get(name) else {
            problems.push(format!("crate {name} is not in the table"));
            continue;
        };
        let more = used.difference(allowed);
        problems.extend(more.map(|other| format!("{name} uses {other}, which is not in its list")));
    }
    for (name, allowed) in table {
        if !edges.contains_key(name) {
            problems.push(format!("{name} is in the table and is no crate"));
        }
        let unknown =
            allowed.iter().filter(|other| !edges.contains_key(*other) && !table.contains_key(*other));
        problems.extend(unknown.map(|other| format!("{other} is in the list of {name} and is no crate")));
    }
    problems
        .extend(cycles(table).iter().map(|cycle| format!("the table has a cycle: {}", cycle.join(" -> "))));
    problems
}

/// One cycle for each group of crates that use each other, from its first name back to that.
fn cycles(table: &Edges) -> Vec<Vec<String>> {
    let mut seen = BTreeSet::new();
    let mut cycles = Vec::new();
    for start in table.keys() {
        if seen.contains(start) {
            continue;
        }
        if let Some(cycle) = way_back(table, start) {
            seen.extend(cycle.iter().cloned());
            cycles.push(cycle);
        }
    }
    cycles
}

/// The shortest way from a crate to itself.
fn way_back(table: &Edges, start: &str) -> Option<Vec<String>> {
    let mut ways = vec![vec![start.to_owned()]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for next in table.get(way.last()?).into_iter().flatten() {
                let way = [way.clone(), vec![next.clone()]].concat();
                if next == start {
                    return Some(way);
                }
                if seen.insert(next.clone()) {
                    longer.push(way);
                }
            }
        }
        ways = longer;
    }
    None
}

fn package(name: &str) -> Value {
    json!({"name": name, "dependencies": []})
}
