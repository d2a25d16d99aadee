//! What the API server publishes of our definitions, and the one rule that needs two versions of an object.

use serde_json::{Value, json};

use crate::cluster::on_cluster;
use crate::fields::{schema, walk};
use crate::kind::Kind;
use crate::{flux_instance, flux_report, resource_set, resource_set_input_provider};

const KINDS: [(&Kind, &[&str]); 4] = [
    (&flux_instance::KIND, &["Name", "Age", "Ready", "Suspended", "Status", "Revision"]),
    (&flux_report::KIND, &["Name", "Entitlement", "Age", "Ready", "Suspended", "Status", "LastUpdated"]),
    (&resource_set::KIND, &["Name", "Age", "Ready", "Suspended", "Status"]),
    (&resource_set_input_provider::KIND, &["Name", "Age", "Ready", "Suspended", "Status"]),
];

/// Fields far down, and a part of what is said of them.
const DEEP: [(&Kind, &str, &str); 4] = [
    (&flux_instance::KIND, ".kustomize.patches[].target.labelSelector", "A label selector."),
    (&flux_report::KIND, ".reconcilers[].stats.totalSize", "in units of 1024"),
    (&resource_set::KIND, ".steps[].timeout", "without it to 5m"),
    (&resource_set_input_provider::KIND, ".schedule[].timeZone", "Defaults to UTC"),
];

#[tokio::test]
async fn every_field_is_explained_by_the_server() {
    on_cluster(async |cluster| {
        let name_of = |kind: &Kind| format!("io.controlplane.fluxcd.v1.{}", kind.name);
        let published = cluster.documentation(&KINDS.map(|(kind, _)| name_of(kind))).await;
        for (kind, _) in KINDS {
            let published = &published["components"]["schemas"][name_of(kind)];
            let definition = kind.definition();
            for part in ["spec", "status"] {
                let ours = descriptions(&schema(&definition)["properties"][part]);
                assert!(ours.len() > 1);
                assert_eq!(descriptions(&published["properties"][part]), ours, "{} {part}", kind.name);
            }
        }
        for (kind, path, text) in DEEP {
            let published = &published["components"]["schemas"][name_of(kind)]["properties"]["spec"];
            let explained = descriptions(published);
            let field = explained.iter().find(|(found, _)| found == path).unwrap();
            assert!(field.1.contains(text), "{} {field:?}", kind.name);
        }
    })
    .await;
}

#[tokio::test]
async fn the_columns_have_their_titles_in_order_and_show_what_is_paused() {
    on_cluster(async |cluster| {
        let objects = [
            flux_instance::smallest(),
            flux_report::smallest(),
            resource_set::smallest(),
            resource_set_input_provider::smallest(),
        ];
        for ((kind, titles), mut object) in KINDS.into_iter().zip(objects) {
            let before = cluster.table(kind.plural).await;
            assert_eq!(texts(&before["columnDefinitions"], "name"), *titles, "{}", kind.name);
            object["metadata"]["annotations"] = json!({"fluxcd.controlplane.io/reconcile": "disabled"});
            cluster.create(kind.plural, &object).await;
            let after = cluster.table(kind.plural).await;
            let suspended = titles.iter().position(|title| *title == "Suspended").unwrap();
            assert_eq!(after["rows"][0]["cells"][suspended], "disabled", "{}", kind.name);
        }
        let mut running = resource_set::smallest();
        running["metadata"]["name"] = json!("running");
        cluster.create(resource_set::KIND.plural, &running).await;
        let table = cluster.table(resource_set::KIND.plural).await;
        assert_eq!(table["rows"][1]["cells"][0], "running");
        assert_eq!(table["rows"][1]["cells"][3], Value::Null);
    })
    .await;
}

#[tokio::test]
async fn the_name_of_a_sync_is_kept() {
    on_cluster(async |cluster| {
        let plural = flux_instance::KIND.plural;
        let mut object = flux_instance::smallest();
        object["spec"]["sync"] =
            json!({"name": "fleet", "kind": "Bucket", "url": "u", "ref": "r", "path": "p"});
        let mut object = cluster.create(plural, &object).await;
        object["spec"]["sync"]["path"] = json!("q");
        assert!(cluster.would_update(plural, &object).await.is_ok());
        object["spec"]["sync"]["name"] = json!("other");
        let refusal = cluster.would_update(plural, &object).await.unwrap_err();
        assert!(
            refusal.contains("spec.sync.name: Invalid value") && refusal.contains("Sync name is immutable"),
            "{refusal}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_sync_may_get_its_name_later() {
    on_cluster(async |cluster| {
        let plural = flux_instance::KIND.plural;
        let mut object = flux_instance::smallest();
        object["spec"]["sync"] = json!({"kind": "Bucket", "url": "u", "ref": "r", "path": "p"});
        let mut object = cluster.create(plural, &object).await;
        object["spec"]["sync"]["name"] = json!("fleet");
        assert!(cluster.would_update(plural, &object).await.is_ok());
    })
    .await;
}

fn descriptions(schema: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    walk(schema, "", &mut |path, schema| {
        found.push((path.to_owned(), schema["description"].as_str().unwrap_or_default().to_owned()));
    });
    found
}

fn texts(list: &Value, field: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|item| item[field].as_str().unwrap().to_owned()).collect()
}
