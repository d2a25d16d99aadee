//! Whatever users write, nothing panics and what comes out is still a set of objects.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use manifests_kustomize::{Image, Patch, Resources, Target};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn objects() -> Vec<Value> {
    vec![
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "finalizers": ["x"], "labels": {"a": "b"}},
            "spec": {"template": {"spec": {
                "containers": [
                    {"name": "a", "image": "a:1", "ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]},
                    {"name": "b", "env": [{"name": "a", "value": "b"}, {"name": "a"}]},
                ],
                "volumes": [{"name": "a"}],
            }}},
        }),
        json!({"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {"a": [1, {"b": null}], "b": {"a": "x"}}}),
    ]
}

/// Field names that mean something, so that patches meet the objects.
fn name() -> impl Strategy<Value = String> {
    let known = [
        "metadata",
        "spec",
        "template",
        "containers",
        "env",
        "ports",
        "volumes",
        "name",
        "finalizers",
        "labels",
        "a",
        "b",
        "containerPort",
        "protocol",
        "image",
        "$patch",
        "0",
        "1",
        "-",
        "-1",
        "",
    ];
    prop_oneof![8 => prop::sample::select(known.to_vec()).prop_map(str::to_owned), 1 => ".{0,6}"]
}

fn plain() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec!["delete", "replace", "merge", "a", "b", "x", "80", ""])
            .prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    plain().prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::vec((name(), inner), 0..6)
                .prop_map(|fields| Value::Object(Map::from_iter(fields))),
        ]
    })
}

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec(name(), 0..8)
        .prop_map(|names| names.iter().fold(String::new(), |path, name| path + "/" + name))
}

fn operation() -> impl Strategy<Value = Value> {
    let op = prop::sample::select(vec!["add", "remove", "replace", "move", "copy", "test"]);
    (op, path(), path(), value())
        .prop_map(|(op, path, from, value)| json!({"op": op, "path": path, "from": from, "value": value}))
}

/// Applies a patch; if that works, the objects still have distinct ids and transform without panic.
fn survives(text: String, target: Option<Target>) {
    let mut resources = Resources::new(objects()).unwrap();
    let before = resources.clone();
    let Ok(_) = resources.patch(&[Patch { patch: text, target }]) else {
        assert_eq!(resources, before, "a failed patch left something behind");
        return;
    };
    assert!(Resources::new(resources.clone().into_objects()).is_ok());
    let image = Image { name: "a".to_owned(), new_tag: "v2".to_owned(), ..Image::default() };
    let _ = resources.images(&[image]);
    let _ = resources.name_suffix("-x");
    let _ = resources.namespace("there");
    let _ =
        resources.labels(&[("a".to_owned(), "b".to_owned())].into(), manifests_kustomize::Reach::Templates);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_answered(text in ".{0,200}", kind in ".{0,10}") {
        survives(text.clone(), None);
        survives(text, Some(Target { kind, ..Target::default() }));
    }

    #[test]
    fn any_text_of_yaml_signs_is_answered(text in "[-a:{}\\[\\]\"'\\n #&*!|>%@,$/0-9~]{0,120}") {
        survives(text, Some(Target::default()));
    }

    #[test]
    fn any_operations_are_answered(operations in prop::collection::vec(operation(), 0..6)) {
        survives(Value::Array(operations).to_string(), Some(Target::default()));
    }

    #[test]
    fn any_merge_is_answered(metadata in value(), spec in value(), patch in prop::option::of(plain())) {
        let mut text = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": spec});
        if let (Value::Object(fields), Value::Object(more)) = (&mut text["metadata"], metadata) {
            fields.extend(more.into_iter().filter(|(name, _)| name != "name"));
        }
        if let Some(patch) = patch {
            text["$patch"] = patch;
        }
        survives(text.to_string(), None);
        survives(text.to_string(), Some(Target::default()));
    }

    #[test]
    fn any_target_is_answered(name in ".{0,20}", label_selector in "[ab!=<>(), in]{0,16}", annotation_selector in ".{0,10}") {
        let target = Target { name, label_selector, annotation_selector, ..Target::default() };
        survives("- {op: test, path: /none}".to_owned(), Some(target));
    }

    #[test]
    fn any_objects_are_transformed_or_refused(spec in value(), metadata in value(), kind in prop::sample::select(vec!["Deployment", "Pod", "ClusterRoleBinding", "RoleBinding", "Namespace", "Ingress"])) {
        let mut object = json!({"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec.clone(), "subjects": spec, "roleRef": {"name": "a"}});
        if !object["metadata"].is_object() {
            object["metadata"] = json!({});
        }
        object["metadata"]["name"] = json!("a");
        if let Ok(mut resources) = Resources::new(vec![object]) {
            let entries = [("a".to_owned(), "b".to_owned())].into();
            let _ = resources.name_suffix("-x");
            let _ = resources.namespace("there");
            let _ = resources.labels(&entries, manifests_kustomize::Reach::Templates);
            let _ = resources.annotations(&entries, manifests_kustomize::Reach::Templates);
            let _ = resources.images(&[Image { name: ".*".to_owned(), digest: "sha256:a".to_owned(), ..Image::default() }]);
            prop_assert_eq!(resources.len(), 1);
        }
    }
}
