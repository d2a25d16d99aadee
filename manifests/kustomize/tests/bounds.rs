//! Hostile input: every bound holds, and nothing panics, hangs or explodes.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::fmt::Write as _;

use manifests_kustomize::{Image, Patch, PatchError, Resources, Target, limits};
use serde_json::{Value, json};

fn object() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "b"}})
}

fn apply(text: &str) -> Result<Value, PatchError> {
    apply_to(text, Target::default())
}

fn apply_to(text: &str, target: Target) -> Result<Value, PatchError> {
    let mut resources = Resources::new(vec![object()]).unwrap();
    resources.patch(&[Patch { patch: text.to_owned(), target: Some(target) }])?;
    Ok(resources.into_objects().pop().unwrap())
}

fn message(text: &str) -> String {
    apply(text).unwrap_err().to_string()
}

/// Doubles the object with every step, which a naive copy turns into gigabytes.
#[test]
fn copies_that_double_are_stopped() {
    let doubling = r#"{"op": "copy", "from": "/data", "path": "/data/x"}"#;
    let text = format!("[{}]", vec![doubling; 200].join(","));
    let message = message(&text);
    assert!(
        message.contains("nest deeper than 128 levels") || message.contains("copies add more than"),
        "{message}"
    );
}

/// Doubles in width, so that depth does not stop it.
#[test]
fn copies_that_double_in_width_are_stopped() {
    let steps: Vec<String> = (0..64)
        .map(|i| {
            format!(
                r#"{{"op": "copy", "from": "/data", "path": "/spare"}}, {{"op": "move", "from": "/spare", "path": "/data/x{i}"}}"#
            )
        })
        .collect();
    let message = message(&format!(
        r#"[{{"op": "add", "path": "/data/text", "value": "{}"}}, {}]"#,
        "x".repeat(60_000),
        steps.join(",")
    ));
    assert!(message.contains("copies add more than 1048576 bytes"), "{message}");
}

#[test]
fn a_long_text_is_refused_before_it_is_read() {
    let text = " ".repeat(limits::MAX_PATCH_BYTES + 1);
    assert!(message(&text).ends_with("the patch has 262145 bytes, and at most 262144 are allowed; split it"));
}

#[test]
fn too_many_operations_are_refused() {
    let text = format!("[{}]", vec![r#"{"op": "test", "path": "/x"}"#; limits::MAX_OPERATIONS + 1].join(","));
    assert!(message(&text).contains("1001 operations"));
    let text = format!("[{}]", vec![r#"{"op": "test", "path": "/x"}"#; limits::MAX_OPERATIONS].join(","));
    apply(&text).unwrap();
}

#[test]
fn too_many_patches_are_refused() {
    let patch = Patch { patch: "[]".to_owned(), target: None };
    let error = Resources::default().patch(&vec![patch; limits::MAX_PATCHES + 1]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "patches[1000] (no target): there are 1001 patches, and at most 1000 are allowed"
    );
}

#[test]
fn deep_patches_are_refused() {
    for text in [
        format!("{}1{}", "[".repeat(2_000), "]".repeat(2_000)),
        format!("kind: A\nmetadata: {{name: a}}\ndata: {}1{}", "{a: ".repeat(1_000), "}".repeat(1_000)),
        format!(r#"[{{"op": "add", "path": "/data/x", "value": {}1{}}}]"#, "[".repeat(126), "]".repeat(126)),
        format!(r#"[{{"op": "add", "path": "{}", "value": 1}}]"#, "/a".repeat(1_000)),
    ] {
        message(&text);
    }
}

#[test]
fn moves_cannot_build_a_tower() {
    let text = r#"{"op": "add", "path": "/t", "value": {}}, {"op": "move", "from": "/data", "path": "/t/data"}, {"op": "move", "from": "/t", "path": "/data"}"#;
    assert!(message(&format!("[{}]", vec![text; 150].join(","))).contains("nest deeper than 128 levels"));
}

#[test]
fn deep_objects_are_refused() {
    let mut deep = json!(1);
    for _ in 0..limits::MAX_DEPTH {
        deep = json!({"a": deep});
    }
    let mut object = object();
    object.as_object_mut().unwrap().insert("data".to_owned(), deep);
    assert!(Resources::new(vec![object]).unwrap_err().to_string().contains("nests deeper than 128 levels"));
}

/// Merging, visiting and dropping recurse: the deepest values must fit a thread of 2 MiB, unoptimised.
#[test]
fn the_deepest_values_are_merged() {
    let nested = |leaf: &str| {
        let levels = limits::MAX_DEPTH - 3;
        let text = format!("{}{}{}", r#"{"containers":"#.repeat(levels), leaf, "}".repeat(levels));
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let whole =
        |spec: Value| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "data": spec});
    let mut resources = Resources::new(vec![whole(nested(r#"{"a": 1}"#))]).unwrap();
    let patch = Patch { patch: whole(nested(r#"{"b": 2}"#)).to_string(), target: Some(Target::default()) };
    resources.patch(&[patch]).unwrap();
    let image = Image { name: "a".to_owned(), new_tag: "b".to_owned(), ..Image::default() };
    resources.images(&[image]).unwrap();
    assert_eq!(resources.into_objects(), [whole(nested(r#"{"a": 1, "b": 2}"#))]);
}

#[test]
fn long_merged_lists_are_refused() {
    let finalizers = vec!["a"; limits::MAX_MERGED_ELEMENTS + 1].join(",");
    let text = format!("{{kind: A, metadata: {{name: a, finalizers: [{finalizers}]}}}}");
    assert!(message(&text).contains("has 1025 elements, and at most 1024 are merged by key"));
}

#[test]
fn the_longest_merged_list_is_merged() {
    let ports: Vec<String> = (0..limits::MAX_MERGED_ELEMENTS)
        .map(|i| format!("{{\"port\": {i}, \"protocol\": \"TCP\"}}"))
        .collect();
    let text = format!(
        r#"{{"kind": "Service", "metadata": {{"name": "a"}}, "spec": {{"ports": [{}]}}}}"#,
        ports.join(",")
    );
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}});
    let mut resources = Resources::new(vec![service]).unwrap();
    resources.patch(&[Patch { patch: text, target: Some(Target::default()) }]).unwrap();
    let ports =
        resources.into_objects().pop().unwrap().pointer("/spec/ports").unwrap().as_array().unwrap().len();
    assert_eq!(ports, limits::MAX_MERGED_ELEMENTS);
}

/// Ten levels of ten aliases each.
#[test]
fn aliases_cannot_explode() {
    let mut text = "kind: A\nmetadata: {name: a}\nl0: &l0 [xxxxxxxxxx, xxxxxxxxxx]\n".to_owned();
    for level in 1..10 {
        let previous = level - 1;
        let aliases = vec![format!("*l{previous}"); 10].join(",");
        writeln!(text, "l{level}: &l{level} [{aliases}]").unwrap();
    }
    message(&text);
}

#[test]
fn patterns_are_bounded() {
    let named = |name: String| Target { name, ..Target::default() };
    let long = apply_to("- {op: test, path: /x}", named("a".repeat(2_000))).unwrap_err();
    assert!(long.to_string().ends_with("`name` of the target has 2000 bytes, and at most 1024 are allowed"));
    let large = apply_to("- {op: test, path: /x}", named("((a{1000}){1000}){1000}".to_owned())).unwrap_err();
    assert!(large.to_string().contains("`name` of the target is no regular expression"));
    let slow = named("(a*)*(a*)*(a*)*b".to_owned());
    apply_to("- {op: test, path: /x}", slow).unwrap();
}

#[test]
fn an_object_grows_only_to_its_bound() {
    let step = |i: usize| Patch {
        patch: format!(r#"[{{"op": "add", "path": "/data/x{i}", "value": "{}"}}]"#, "x".repeat(200_000)),
        target: Some(Target::default()),
    };
    let mut resources = Resources::new(vec![object()]).unwrap();
    let error = resources.patch(&(0..20).map(step).collect::<Vec<_>>()).unwrap_err();
    assert!(error.to_string().contains("at most 3145728 are allowed"), "{error}");
    assert_eq!(resources.into_objects(), [object()]);
}

#[test]
fn a_bad_image_name_is_refused() {
    let image = Image { name: "(".to_owned(), new_tag: "v1".to_owned(), ..Image::default() };
    let error = Resources::new(vec![object()]).unwrap().images(&[image]).unwrap_err();
    assert!(error.to_string().starts_with("the image name `(` is no regular expression: "), "{error}");
}
