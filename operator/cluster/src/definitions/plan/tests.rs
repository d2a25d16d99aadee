use serde_json::{Value, json};

use super::{Bridge, Plan, Reach, Target, migration, plan};

/// A version: its name, and letters for `served` and `stored`.
fn version(text: &str) -> Value {
    let (name, flags) = text.split_once(' ').unwrap_or((text, ""));
    json!({
        "name": name, "served": flags.contains('s'), "storage": flags.contains('S'),
        "schema": {"openAPIV3Schema": {"type": "object", "description": format!("as of {name}")}},
    })
}

fn definition(versions: &[&str], release: &str) -> Value {
    let versions: Vec<Value> = versions.iter().map(|text| version(text)).collect();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "policies.x.io", "labels": {"app.kubernetes.io/version": release}},
        "spec": {
            "group": "x.io", "scope": "Namespaced", "names": {"kind": "Policy", "plural": "policies"},
            "versions": versions,
        },
    })
}

fn live(versions: &[&str], stored: &[&str]) -> Value {
    let mut live = definition(versions, "v2.6.4");
    live["metadata"]["generation"] = json!(3);
    live["metadata"]["resourceVersion"] = json!("77");
    live["status"] = json!({"storedVersions": stored});
    live
}

fn wanted(versions: &[&str]) -> Value {
    definition(versions, "v2.9.5")
}

fn is_newer(release: &str) -> bool {
    release == "v2.99.0"
}

fn bridge(live: &Value, wanted: &Value) -> Bridge {
    match plan(live, wanted, &is_newer) {
        Plan::Bridge(bridge) => *bridge,
        other => panic!("{other:?}"),
    }
}

/// The versions of a definition, as [`version`] reads them.
fn shown(definition: &Value) -> Vec<String> {
    let versions = definition["spec"]["versions"].as_array().unwrap();
    let show = |version: &Value| {
        assert_eq!(*version, self::version(&text(version)), "a version lost its schema");
        text(version)
    };
    versions.iter().map(show).collect()
}

fn text(version: &Value) -> String {
    let flag = |key: &str, letter| if version[key] == true { letter } else { "" };
    let flags = format!("{}{}", flag("served", "s"), flag("storage", "S"));
    let name = version["name"].as_str().unwrap();
    if flags.is_empty() { name.to_owned() } else { format!("{name} {flags}") }
}

#[test]
fn a_definition_that_drops_no_version_is_applied_as_it_is() {
    for (there, stored, desired) in [
        (&["v1 sS"][..], &["v1"][..], &["v1 sS"][..]),
        (&["v1beta1 sS"], &["v1beta1"], &["v1beta1 s", "v1 sS"]),
        (&["v1beta1 s", "v1 sS"], &["v1beta1", "v1"], &["v1beta1", "v1 sS"]),
        (&["v1 sS"], &["v1"], &["v1 sS", "v2 s"]),
    ] {
        assert_eq!(
            plan(&live(there, stored), &wanted(desired), &is_newer),
            Plan::Apply,
            "{there:?} {desired:?}"
        );
    }
}

#[test]
fn a_definition_that_drops_versions_keeps_them_until_objects_have_left() {
    // What is there, what is stored, what is wanted: the bridge open and closed, and who is rewritten.
    for (there, stored, desired, open, closed, reach) in [
        (
            &["v1beta1 s", "v1beta2 sS"][..],
            &["v1beta2"][..],
            &["v1 sS"][..],
            &["v1 sS", "v1beta1 s", "v1beta2 s"][..],
            &["v1 sS", "v1beta1", "v1beta2"][..],
            Reach::Everything,
        ),
        // Stored once, and not any more.
        (
            &["v1beta2 s", "v1 sS"],
            &["v1beta2", "v1"],
            &["v1 sS"],
            &["v1 sS", "v1beta2 s"],
            &["v1 sS", "v1beta2"],
            Reach::Everything,
        ),
        // Never stored, or migrated: only owners of fields speak of it.
        (
            &["v1beta2 s", "v1 sS"],
            &["v1"],
            &["v1 sS"],
            &["v1 sS", "v1beta2 s"],
            &["v1 sS", "v1beta2"],
            Reach::OwnedFields,
        ),
        // Left by an operator that ended on the way: what is not served stays so.
        (
            &["v1 sS", "v1beta1", "v1beta2"],
            &["v1beta2", "v1"],
            &["v1 sS"],
            &["v1 sS", "v1beta1", "v1beta2"],
            &["v1 sS", "v1beta1", "v1beta2"],
            Reach::Everything,
        ),
        (
            &["v1 sS", "v1beta1", "v1beta2"],
            &["v1"],
            &["v1 sS"],
            &["v1 sS", "v1beta1", "v1beta2"],
            &["v1 sS", "v1beta1", "v1beta2"],
            Reach::OwnedFields,
        ),
        // A status that does not tell about the stored version.
        (&["v1beta2 sS"], &[], &["v1 sS"], &["v1 sS", "v1beta2 s"], &["v1 sS", "v1beta2"], Reach::Everything),
        // One dropped, another one stored that stays.
        (
            &["v1beta1 s", "v1beta2 sS"],
            &["v1beta2"],
            &["v1beta2 s", "v1 sS"],
            &["v1beta2 s", "v1 sS", "v1beta1 s"],
            &["v1beta2 s", "v1 sS", "v1beta1"],
            Reach::OwnedFields,
        ),
    ] {
        let bridge = bridge(&live(there, stored), &wanted(desired));
        assert_eq!(shown(&bridge.open), open, "{there:?}");
        assert_eq!(shown(&bridge.closed), closed, "{there:?}");
        assert_eq!(bridge.reach, reach, "{there:?}");
        let dropped: Vec<&str> = there
            .iter()
            .map(|text| text.split(' ').next().unwrap())
            .filter(|name| !desired.iter().any(|text| text.split(' ').next() == Some(name)))
            .collect();
        assert_eq!(bridge.dropped, dropped);
        for built in [&bridge.open, &bridge.closed] {
            assert_eq!(built["metadata"], wanted(desired)["metadata"], "labels are those of the new release");
            assert!(built.get("status").is_none());
        }
    }
}

#[test]
fn objects_are_rewritten_to_the_version_that_is_stored_then() {
    let bridge = bridge(&live(&["v1 sS"], &["v1"]), &wanted(&["v2 s", "v3 sS"]));
    let Target { definition, resource, is_namespaced } = bridge.target;
    assert_eq!((definition.as_str(), is_namespaced), ("policies.x.io", true));
    assert_eq!(
        (resource.api_version.as_str(), resource.kind.as_str(), resource.plural.as_str()),
        ("x.io/v3", "Policy", "policies")
    );
}

#[test]
fn a_webhook_that_converts_the_old_versions_stays_until_they_are_gone() {
    let webhook = json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"]}});
    let mut there = live(&["v1beta2 sS"], &["v1beta2"]);
    there["spec"]["conversion"] = webhook.clone();
    let converted = bridge(&there, &wanted(&["v1 sS"]));
    assert_eq!(converted.open["spec"]["conversion"], webhook);
    assert_eq!(converted.closed["spec"]["conversion"], webhook);

    let other = json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v2"]}});
    let mut desired = wanted(&["v1 sS"]);
    desired["spec"]["conversion"] = other.clone();
    assert_eq!(bridge(&there, &desired).open["spec"]["conversion"], other);

    there["spec"]["conversion"] = json!({"strategy": "None"});
    assert!(bridge(&there, &wanted(&["v1 sS"])).open["spec"].get("conversion").is_none());
}

#[test]
fn a_definition_of_a_newer_release_is_left_alone() {
    let mut there = live(&["v1beta2 sS"], &["v1beta2"]);
    let mut labelled = |release: Value| {
        there["metadata"]["labels"] = json!({"app.kubernetes.io/version": release});
        plan(&there, &wanted(&["v1beta2 sS"]), &is_newer)
    };
    assert_eq!(labelled(json!("v2.99.0")), Plan::Leave("v2.99.0".to_owned()));
    assert_eq!(labelled(json!("v2.9.5")), Plan::Apply);
    assert_eq!(labelled(json!("no version")), Plan::Apply);
    assert_eq!(labelled(json!(7)), Plan::Apply);

    // Metadata that a user gives to everything says nothing about releases.
    there["metadata"]["labels"] = json!({"app.kubernetes.io/version": "v2.99.0"});
    assert_eq!(plan(&there, &definition(&["v1beta2 sS"], "v2.99.0"), &is_newer), Plan::Apply);
    there["metadata"]["labels"] = Value::Null;
    assert_eq!(plan(&there, &wanted(&["v1beta2 sS"]), &is_newer), Plan::Apply);
}

#[test]
fn a_definition_in_which_nothing_can_be_written_is_left_to_the_api_server() {
    let there = live(&["v1beta2 sS"], &["v1beta2"]);
    for desired in [wanted(&["v1 S"]), wanted(&["v1 s"]), wanted(&[]), json!({}), json!([]), Value::Null] {
        assert_eq!(plan(&there, &desired, &is_newer), Plan::Apply, "{desired}");
    }
    for there in [json!({}), json!({"spec": {"versions": 7}}), Value::Null] {
        assert_eq!(plan(&there, &wanted(&["v1 sS"]), &is_newer), Plan::Apply, "{there}");
    }
}

#[test]
fn a_migration_is_needed_until_one_version_alone_is_stored() {
    let reach = |stored: &[&str], asked| {
        migration(&live(&["v1beta2 s", "v1 sS"], stored), asked).map(|(target, reach)| {
            assert_eq!(target.resource.version, "v1");
            reach
        })
    };
    assert_eq!(reach(&["v1"], None), None);
    assert_eq!(reach(&["v1"], Some(Reach::OwnedFields)), Some(Reach::OwnedFields));
    assert_eq!(reach(&["v1"], Some(Reach::Everything)), Some(Reach::Everything));
    for stored in [&["v1beta2"][..], &["v1beta2", "v1"], &["v1", "v1beta2"], &["v1", "v1"], &[]] {
        assert_eq!(reach(stored, None), Some(Reach::Everything), "{stored:?}");
        assert_eq!(reach(stored, Some(Reach::OwnedFields)), Some(Reach::Everything), "{stored:?}");
    }
    assert_eq!(migration(&live(&["v1 S"], &[]), Some(Reach::Everything)), None);
}

#[test]
fn a_cluster_scoped_kind_has_no_namespaces() {
    let mut desired = wanted(&["v1 sS"]);
    desired["spec"]["scope"] = json!("Cluster");
    assert!(!Target::of(&desired).unwrap().is_namespaced);
}
