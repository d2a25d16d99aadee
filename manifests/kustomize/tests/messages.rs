//! What users read: every failure and warning says which patch, which object, what is wrong and what to do.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use manifests_kustomize::{Patch, PatchFinding, Resources, Target};
use serde_json::{Value, json};

fn objects() -> Vec<Value> {
    vec![
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "source-controller", "namespace": "flux-system"},
            "spec": {"replicas": 1, "template": {"spec": {"containers": [{"name": "manager", "args": ["--a"]}]}}},
        }),
        json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "source-controller", "namespace": "flux-system"},
            "spec": {"ports": [{"port": 80}]},
        }),
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "flux-system"}}),
    ]
}

fn deployment() -> Target {
    Target { kind: "Deployment".to_owned(), name: "source-controller".to_owned(), ..Target::default() }
}

fn targeted(target: Target, text: &str) -> Patch {
    Patch { patch: text.to_owned(), target: Some(target) }
}

fn untargeted(text: &str) -> Patch {
    Patch { patch: text.to_owned(), target: None }
}

/// A patch that applies without a word.
fn harmless() -> Patch {
    targeted(deployment(), r#"[{"op": "add", "path": "/spec/harmless", "value": 1}]"#)
}

fn failure(patches: &[Patch]) -> String {
    Resources::new(objects()).unwrap().patch(patches).unwrap_err().to_string()
}

fn warnings(patches: &[Patch]) -> Vec<String> {
    let warnings = Resources::new(objects()).unwrap().patch(patches).unwrap();
    warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn a_failed_operation_names_patch_target_operation_path_and_object() {
    let broken = targeted(
        deployment(),
        "- {op: add, path: /spec/y, value: 1}\n- {op: add, path: /spec/x/y, value: 1}\n",
    );
    assert_eq!(
        failure(&[harmless(), harmless(), broken]),
        "patches[2] (target kind=Deployment,name=source-controller): operation 2: add /spec/x/y in \
         Deployment/flux-system/source-controller: parent /spec/x does not exist; add the parent first"
    );
}

#[test]
fn every_failed_operation_says_why() {
    let cases = [
        (
            "{op: add, path: /spec/replicas/x, value: 1}",
            "/spec/replicas is a number; only maps and lists have something below them",
        ),
        (
            "{op: add, path: /spec/template/spec/containers/5/args, value: 1}",
            "parent /spec/template/spec/containers/5 does not exist; add the parent first",
        ),
        ("{op: remove, path: /spec/x}", "nothing is at /spec/x; correct the path or leave the operation out"),
        (
            "{op: remove, path: /spec/template/spec/containers/1}",
            "index 1 is outside of the list /spec/template/spec/containers, which has 1 elements",
        ),
        (
            "{op: replace, path: /spec/template/spec/containers/-, value: 1}",
            "`-` is no place in the list /spec/template/spec/containers; use a number, or `-` with add for its end",
        ),
        (
            "{op: add, path: /spec/template/spec/containers/manager, value: 1}",
            "`manager` is no place in the list /spec/template/spec/containers; use a number, or `-` with add for its end",
        ),
        (
            "{op: test, path: /spec/replicas, value: 2}",
            "the value at /spec/replicas is not the one that the test expects",
        ),
        ("{op: replace, path: '', value: text}", "an object cannot be replaced with a string"),
    ];
    for (operation, why) in cases {
        let message = failure(&[targeted(
            deployment(),
            &format!("[{operation}]").replace("[{", "- {").replace("}]", "}"),
        )]);
        assert!(message.ends_with(&format!("source-controller: {why}")), "{message}");
        assert!(
            message.starts_with("patches[0] (target kind=Deployment,name=source-controller): operation 1: "),
            "{message}"
        );
    }
}

#[test]
fn a_failed_test_does_not_show_the_value() {
    let message = failure(&[targeted(deployment(), "- {op: test, path: /spec/template, value: hunter2}")]);
    assert!(!message.contains("hunter2") && !message.contains("manager"), "{message}");
}

#[test]
fn what_is_no_operation_says_what_to_write() {
    let cases = [
        ("- add", "operation 1 is a string; write a map with `op` and `path`"),
        ("- {path: /a}", "operation 1 has no text in `op`; add it"),
        ("- {op: add}", "operation 1 has no text in `path`; add it"),
        ("- {op: move, path: /a}", "operation 1 has no text in `from`; add it"),
        (
            "- {op: set, path: /a}",
            "operation 1 has the unknown op `set`; use add, remove, replace, move, copy or test",
        ),
        (
            "- {op: add, path: spec/x}",
            "operation 1 has the path `spec/x`: it does not start with `/`; write `/spec/x`",
        ),
        (
            "- {op: move, path: /a, from: b}",
            "operation 1 has the from `b`: it does not start with `/`; write `/b`",
        ),
        (
            "- {op: remove, path: ''}",
            "operation 1 has an empty path, which is the whole object; only replace and test take that",
        ),
    ];
    for (text, why) in cases {
        let expected = format!("patches[0] (target kind=Deployment,name=source-controller): {why}");
        assert_eq!(failure(&[targeted(deployment(), text)]), expected);
    }
}

#[test]
fn what_is_no_patch_says_what_to_write() {
    let forms = "write an object with `apiVersion`, `kind` and `metadata.name` (strategic merge), or a list of operations (JSON 6902)";
    let needs = "add it: a strategic merge patch needs it, though with a target any value will do";
    let cases = [
        (
            " \n",
            "the patch is empty; write a strategic merge patch or a list of JSON 6902 operations".to_owned(),
        ),
        ("hello", format!("line 1 of the patch starts a string; {forms}")),
        ("spec: {a: b}", format!("the object at line 1 of the patch has no text in `kind`; {needs}")),
        (
            "kind: Deployment",
            format!("the object at line 1 of the patch has no text in `metadata.name`; {needs}"),
        ),
        (
            "kind: Deployment\nmetadata: {name: 5}",
            format!("the object at line 1 of the patch has no text in `metadata.name`; {needs}"),
        ),
    ];
    for (text, why) in cases {
        let expected = format!("patches[0] (target kind=Deployment,name=source-controller): {why}");
        assert_eq!(failure(&[targeted(deployment(), text)]), expected);
    }
}

#[test]
fn a_second_document_is_found_by_its_line() {
    let text = "kind: A\nmetadata: {name: a}\n---\nkind: B\n";
    let message = failure(&[untargeted(text)]);
    assert!(
        message.contains("the object at line 4 of the patch has no text in `metadata.name`"),
        "{message}"
    );
}

#[test]
fn bad_yaml_names_the_patch_and_the_line() {
    let message = failure(&[harmless(), targeted(deployment(), "spec:\n  a: [b\n")]);
    assert!(
        message.starts_with(
            "patches[1] (target kind=Deployment,name=source-controller): the patch is not YAML: "
        ),
        "{message}"
    );
    assert!(message.contains("line"), "{message}");
}

#[test]
fn operations_without_target_ask_for_one() {
    assert_eq!(
        failure(&[untargeted("- {op: remove, path: /spec}")]),
        "patches[0] (no target): a JSON 6902 patch needs a target; add one, for example `kind: Deployment`"
    );
}

#[test]
fn two_documents_for_a_target_are_refused() {
    let text = "kind: A\nmetadata: {name: a}\n---\nkind: B\nmetadata: {name: b}\n";
    let message = failure(&[targeted(deployment(), text)]);
    assert!(
        message.ends_with(
            "the patch has 2 documents, and a target takes one; make each a patch, or drop the target"
        ),
        "{message}"
    );
}

#[test]
fn a_merge_for_a_missing_object_names_it() {
    let text =
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: helm-controller, namespace: flux-system}\n";
    assert_eq!(
        failure(&[untargeted(text)]),
        "patches[0] (no target): there is no Deployment/flux-system/helm-controller (apiVersion apps/v1) to patch; \
         correct the name, or add a target"
    );
}

#[test]
fn a_merge_of_the_wrong_type_names_the_place() {
    let text =
        "kind: Deployment\nmetadata: {name: x}\nspec: {template: {spec: {containers: {name: manager}}}}\n";
    assert_eq!(
        failure(&[targeted(deployment(), text)]),
        "patches[0] (target kind=Deployment,name=source-controller): Deployment/flux-system/source-controller: \
         /spec/template/spec/containers is a list in the object and a map in the patch; give it the same type"
    );
}

#[test]
fn a_place_inside_a_list_element_is_named_by_its_key() {
    let text = "kind: Deployment\nmetadata: {name: x}\nspec: {template: {spec: {containers: [{name: manager, args: {a: b}}]}}}\n";
    let message = failure(&[targeted(deployment(), text)]);
    assert!(message.contains(": /spec/template/spec/containers/[name=manager]/args is a list"), "{message}");
}

#[test]
fn an_element_without_key_names_list_and_key() {
    let text =
        "kind: Deployment\nmetadata: {name: x}\nspec: {template: {spec: {containers: [{image: x}]}}}\n";
    let message = failure(&[targeted(deployment(), text)]);
    assert!(message.ends_with("an element of the list /spec/template/spec/containers has no `name`, by which its elements are told apart; add it"), "{message}");
}

#[test]
fn directives_that_would_stay_in_the_object_are_refused_by_name() {
    for directive in ["$setElementOrder/containers", "$deleteFromPrimitiveList/finalizers", "$retainKeys"] {
        let text = format!("kind: Deployment\nmetadata: {{name: x}}\nspec: {{'{directive}': [a]}}\n");
        let message = failure(&[targeted(deployment(), &text)]);
        let expected = format!("`{directive}` is not supported; use a JSON 6902 patch with a target instead");
        assert!(message.ends_with(&expected), "{message}");
    }
    let message =
        failure(&[targeted(deployment(), "kind: A\nmetadata: {name: x}\nspec: {$patch: remove}\n")]);
    assert!(
        message.ends_with("/spec/$patch: `$patch: remove` is unknown; use delete, replace or merge"),
        "{message}"
    );
}

#[test]
fn an_element_twice_with_a_directive_is_refused() {
    let text = "kind: Deployment\nmetadata: {name: x}\nspec: {template: {spec: {containers: [{name: manager, env: [{name: A}, {name: A, $patch: delete}]}]}}}\n";
    let message = failure(&[targeted(deployment(), text)]);
    assert!(message.ends_with("names one element of the list /spec/template/spec/containers/[name=manager]/env twice, once with `$patch`; write each element once"), "{message}");
}

#[test]
fn a_bad_target_names_field_and_text() {
    let broken = Target { name: "(source".to_owned(), ..Target::default() };
    let message = failure(&[targeted(broken, "- {op: remove, path: /spec}")]);
    assert!(
        message
            .starts_with("patches[0] (target name=(source): `name` of the target is no regular expression: "),
        "{message}"
    );
    let broken = Target { label_selector: "app in a".to_owned(), ..Target::default() };
    assert_eq!(
        failure(&[targeted(broken, "- {op: remove, path: /spec}")]),
        "patches[0] (target labelSelector=app in a): `labelSelector` of the target is no selector: found `a` where `(` must stand"
    );
}

#[test]
fn an_object_that_loses_its_name_is_refused() {
    let message = failure(&[targeted(deployment(), "- {op: remove, path: /metadata/name}")]);
    assert!(message.ends_with("Deployment/flux-system/source-controller has no text in `metadata.name` after the patch; to delete the object use `$patch: delete`"), "{message}");
}

#[test]
fn a_target_without_match_is_a_warning() {
    let target = Target { kind: "StatefulSet".to_owned(), ..Target::default() };
    assert_eq!(
        warnings(&[harmless(), targeted(target, "- {op: remove, path: /spec}")]),
        ["patches[1] (target kind=StatefulSet): the target matches no object"]
    );
}

#[test]
fn the_same_patch_twice_is_a_warning_with_its_objects() {
    assert_eq!(
        warnings(&[harmless(), harmless()]),
        ["patches[1] (target kind=Deployment,name=source-controller): the patch changes nothing in \
          Deployment/flux-system/source-controller"]
    );
}

#[test]
fn one_changed_object_is_enough_for_no_warning() {
    let all = Target { name: "source-controller".to_owned(), ..Target::default() };
    assert!(warnings(&[harmless(), targeted(all, "- {op: add, path: /spec/harmless, value: 1}")]).is_empty());
}

#[test]
fn a_replaced_whole_object_changes_nothing_and_says_so() {
    let text = "kind: Deployment\nmetadata: {name: x}\n$patch: replace\nspec: {}\n";
    let warnings = Resources::new(objects()).unwrap().patch(&[targeted(deployment(), text)]).unwrap();
    assert!(matches!(warnings.first().unwrap().finding, PatchFinding::ChangesNothing { .. }));
}

#[test]
fn an_empty_patch_and_ignored_documents_are_warnings() {
    assert_eq!(
        warnings(&[
            untargeted("# nothing"),
            targeted(deployment(), "- {op: remove, path: /spec/replicas}\n---\n- {op: x}\n")
        ]),
        [
            "patches[0] (no target): the patch is empty",
            "patches[1] (target kind=Deployment,name=source-controller): 1 documents after the list of operations \
             have no effect; make each a patch"
        ]
    );
}

#[test]
fn a_failed_list_of_patches_changes_nothing() {
    let mut resources = Resources::new(objects()).unwrap();
    resources.patch(&[harmless(), targeted(deployment(), "- {op: remove, path: /nothing}")]).unwrap_err();
    assert_eq!(resources.into_objects(), objects());
}

#[test]
fn a_position_counts_from_one_and_shows_the_index() {
    let error = Resources::new(objects()).unwrap().patch(&[harmless(), untargeted("hello")]).unwrap_err();
    assert_eq!(error.position.number, 2);
    assert!(error.to_string().starts_with("patches[1] "));
}
