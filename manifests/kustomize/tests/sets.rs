//! Sets of objects: making them, joining them, finding and changing objects in them.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::collections::BTreeMap;

use manifests_kustomize::{Patch, Reach, Resources, Target};
use serde_json::{Value, json};

fn named(kind: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}})
}

fn role(name: &str) -> Value {
    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}})
}

fn binding(role: &str) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "b"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
    })
}

fn message(objects: Vec<Value>) -> String {
    Resources::new(objects).unwrap_err().to_string()
}

#[test]
fn objects_keep_their_order() {
    let objects = vec![named("Secret", "z"), named("ConfigMap", "a"), named("Secret", "a")];
    assert_eq!(Resources::new(objects.clone()).unwrap().into_objects(), objects);
}

#[test]
fn an_object_must_say_what_it_is() {
    assert_eq!(message(vec![named("A", "a"), json!("text")]), "object 2 is a string; it must be a map");
    assert_eq!(
        message(vec![json!({"kind": "A", "metadata": {"name": "a"}})]),
        "object 1 (A/a) has no text in `apiVersion`; add it"
    );
    assert_eq!(
        message(vec![json!({"apiVersion": "v1", "metadata": {"name": "a"}})]),
        "object 1 (/a) has no text in `kind`; add it"
    );
    assert_eq!(
        message(vec![json!({"apiVersion": "v1", "kind": "A", "metadata": {}})]),
        "object 1 (A/) has no text in `metadata.name`; add it"
    );
}

#[test]
fn one_id_twice_is_refused() {
    let with_namespace =
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "namespace": "default"}});
    assert_eq!(
        message(vec![named("Secret", "a"), with_namespace]),
        "Secret/default/a is there twice; keep one of them"
    );
    let cluster =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a", "namespace": "x"}});
    assert_eq!(
        message(vec![named("Namespace", "a"), cluster]),
        "Namespace/x/a is there twice; keep one of them"
    );
}

#[test]
fn one_name_in_two_groups_is_two_objects() {
    let other = json!({"apiVersion": "x.io/v1", "kind": "Secret", "metadata": {"name": "a"}});
    assert_eq!(Resources::new(vec![named("Secret", "a"), other]).unwrap().len(), 2);
}

#[test]
fn the_items_of_a_list_object_are_objects() {
    let list =
        json!({"apiVersion": "v1", "kind": "List", "items": [named("Secret", "a"), named("Secret", "b")]});
    let objects = Resources::new(vec![list, named("Secret", "c")]).unwrap().into_objects();
    assert_eq!(objects, [named("Secret", "c"), named("Secret", "a"), named("Secret", "b")]);
    let empty = json!({"apiVersion": "v1", "kind": "SecretList", "items": null});
    assert!(Resources::new(vec![empty]).unwrap().is_empty());
    let no_list = json!({"apiVersion": "x.io/v1", "kind": "AllowList", "metadata": {"name": "a"}});
    assert_eq!(Resources::new(vec![no_list]).unwrap().len(), 1);
}

#[test]
fn appending_refuses_what_is_there() {
    let mut resources = Resources::new(vec![named("Secret", "a")]).unwrap();
    resources.append(Resources::new(vec![named("Secret", "b")]).unwrap()).unwrap();
    let error = resources.append(Resources::new(vec![named("Secret", "a")]).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "Secret/a is there twice; keep one of them");
    assert_eq!(resources.len(), 2);
}

#[test]
fn objects_can_be_found_changed_and_dropped() {
    let mut resources = Resources::new(vec![named("Secret", "a"), named("ConfigMap", "a")]).unwrap();
    resources.get_mut("ConfigMap", "a").unwrap()["data"] = json!({"x": "y"});
    assert!(resources.get_mut("ConfigMap", "b").is_none());
    resources.iter_mut().for_each(|resource| resource.value_mut()["seen"] = json!(true));
    assert!(resources.iter().all(|resource| resource.value()["seen"] == json!(true)));
    resources.retain(|resource| resource.id().kind != "Secret");
    let objects = resources.into_objects();
    assert_eq!(objects.len(), 1);
    assert_eq!(objects.first().unwrap().pointer("/data/x"), Some(&json!("y")));
}

#[test]
fn an_object_remembers_its_first_name() {
    let mut resources = Resources::new(vec![role("admin")]).unwrap();
    resources.name_suffix("-a").unwrap();
    resources.name_suffix("-b").unwrap();
    let resource = resources.iter().next().unwrap();
    assert_eq!(resource.id().name, "admin-a-b");
    assert_eq!(resource.original_id().name, "admin");
}

#[test]
fn a_target_matches_the_first_and_the_current_name() {
    for name in ["admin", "admin-x"] {
        let mut resources = Resources::new(vec![role("admin")]).unwrap();
        resources.name_suffix("-x").unwrap();
        let target = Target { name: name.to_owned(), ..Target::default() };
        let patch = Patch { patch: "- {op: add, path: /rules, value: []}".to_owned(), target: Some(target) };
        assert!(resources.patch(&[patch]).unwrap().is_empty(), "{name}");
    }
}

#[test]
fn a_suffix_is_followed_within_its_set_only() {
    let mut suffixed = Resources::new(vec![role("admin"), binding("admin")]).unwrap();
    suffixed.name_suffix("-x").unwrap();
    let mut other = binding("admin");
    other["metadata"]["name"] = json!("other");
    suffixed.append(Resources::new(vec![other]).unwrap()).unwrap();
    let names = |resources: &Resources| -> Vec<Value> {
        resources.iter().filter_map(|r| r.value().pointer("/roleRef/name").cloned()).collect()
    };
    assert_eq!(names(&suffixed), [json!("admin-x"), json!("admin")]);
    suffixed.fix_references().unwrap();
    assert_eq!(names(&suffixed), [json!("admin-x"), json!("admin-x")]);
}

#[test]
fn fixing_references_twice_is_fixing_them_once() {
    let mut resources = Resources::new(vec![role("admin"), binding("admin")]).unwrap();
    resources.name_suffix("-x").unwrap();
    let once = resources.clone();
    resources.fix_references().unwrap();
    assert_eq!(resources, once);
}

#[test]
fn nothing_to_do_changes_nothing() {
    let mut resources = Resources::new(vec![role("admin"), named("Secret", "a")]).unwrap();
    let before = resources.clone();
    resources.namespace("").unwrap();
    resources.name_suffix("").unwrap();
    resources.labels(&BTreeMap::new(), Reach::Templates).unwrap();
    resources.annotations(&BTreeMap::new(), Reach::Metadata).unwrap();
    resources.images(&[]).unwrap();
    assert!(resources.patch(&[]).unwrap().is_empty());
    assert_eq!(resources, before);
}

#[test]
fn annotations_on_metadata_leave_templates_alone() {
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": {"template": {}}});
    let mut resources = Resources::new(vec![deployment]).unwrap();
    let annotations = BTreeMap::from([("a".to_owned(), "b".to_owned())]);
    resources.annotations(&annotations, Reach::Metadata).unwrap();
    let object = resources.into_objects().pop().unwrap();
    assert_eq!(object.pointer("/metadata/annotations"), Some(&json!({"a": "b"})));
    assert_eq!(object.pointer("/spec/template"), Some(&json!({})));
}

#[test]
fn debug_output_shows_no_content() {
    let mut secret = named("Secret", "a");
    secret["stringData"] = json!({"password": "hunter2"});
    let shown = format!("{:?}", Resources::new(vec![secret]).unwrap());
    assert!(shown.contains("Secret/a") && !shown.contains("hunter2"), "{shown}");
    let patch = Patch { patch: "- {op: add, path: /stringData, value: hunter2}".to_owned(), target: None };
    assert_eq!(format!("{patch:?}"), "Patch { patch: 46 bytes, target: None }");
}

#[test]
fn a_patch_is_read_as_users_write_it() {
    let text =
        r#"{"patch": "[]", "target": {"kind": "A", "labelSelector": "a=b", "annotationSelector": "c"}}"#;
    let patch: Patch = serde_json::from_str(text).unwrap();
    let target = patch.target.clone().unwrap();
    assert_eq!((target.label_selector.as_str(), target.annotation_selector.as_str()), ("a=b", "c"));
    assert_eq!(serde_json::from_str::<Patch>(&serde_json::to_string(&patch).unwrap()).unwrap(), patch);
    assert_eq!(serde_json::to_value(Target::default()).unwrap(), json!({}));
}
