//! What Helm tells a user after an installation.

use crate::helm::{CHARTS, INSTANCE, OPERATOR};

#[test]
fn usual_values_lead_to_no_notes_of_trouble() {
    for (chart, name) in
        [(OPERATOR, "default"), (INSTANCE, "default"), (INSTANCE, "fleet"), (INSTANCE, "everything")]
    {
        let notes = chart.notes(&chart.value_files()[name]);
        assert!(!notes.contains("NOTE"), "{notes}");
    }
}

#[test]
fn both_charts_say_in_which_order_to_uninstall_and_what_heals_the_wrong_one() {
    for chart in CHARTS {
        let notes = chart.notes(&chart.value_files()["default"]);
        assert!(notes.contains("keeps its finalizer"), "{notes}");
        assert!(notes.contains("install the operator again and the deletion finishes"), "{notes}");
    }
    let notes = OPERATOR.notes(&OPERATOR.value_files()["default"]);
    assert!(notes.contains("The definitions of the API stay"), "{notes}");
    assert!(
        !OPERATOR
            .notes("{installCRDs: false, image: {repository: x}}")
            .contains("definitions of the API stay")
    );
}

#[test]
fn unknown_keys_are_named_by_their_paths_and_known_ones_are_not() {
    let named = |notes: &str| -> Vec<String> {
        let (_, list) = notes.split_once("does not know these keys").unwrap();
        list.lines().skip(1).take_while(|line| !line.is_empty()).map(|line| line.trim().to_owned()).collect()
    };
    let notes = OPERATOR.notes(&OPERATOR.value_files()["foreign"]);
    assert_eq!(named(&notes), ["fips", "web.networkPolicy.from", "web.unknown"], "{notes}");
    let notes = INSTANCE.notes(&INSTANCE.value_files()["foreign"]);
    assert_eq!(named(&notes), ["instance.distribution.unknown", "instance.future"], "{notes}");
}

#[test]
fn an_image_or_version_of_something_else_is_noticed() {
    let notes = OPERATOR.notes(&OPERATOR.value_files()["foreign"]);
    assert!(notes.contains("looks like the image of another implementation"), "{notes}");
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!("image.tag is v0.49.0, and this chart is made for {version}");
    assert!(notes.contains(&expected), "{notes}");
    for tag in [version.to_owned(), format!("v{version}"), format!("{version}@sha256:00")] {
        let notes = OPERATOR.notes(&format!("{{image: {{repository: x, tag: '{tag}'}}}}"));
        assert!(!notes.contains("image."), "{notes}");
    }
}

#[test]
fn an_operator_without_rights_is_noticed() {
    let notes = OPERATOR.notes("{image: {repository: x}, rbac: {create: false}}");
    assert!(notes.contains("bind ServiceAccount flux-operator to the role cluster-admin"), "{notes}");
}

#[test]
fn parts_of_a_source_or_of_sharding_without_the_rest_are_noticed() {
    let notes = INSTANCE.notes("{instance: {sync: {ref: main}, sharding: {storage: persistent}}}");
    assert!(notes.contains("instance.sync.url is empty"), "{notes}");
    assert!(notes.contains("instance.sharding.shards is empty"), "{notes}");
}
