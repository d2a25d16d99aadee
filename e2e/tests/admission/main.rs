//! What the API server admits of our kinds, and what those say who read the same objects from a file: the two
//! must agree, in what they accept, in what they make of it, and in the words of the rules.

mod cluster;
mod derived;
mod fields;
mod flux_instance;
mod flux_report;
mod kind;
mod published;
mod resource_set;
mod resource_set_input_provider;
mod table;

use std::collections::BTreeSet;

use cluster::on_cluster;
use kind::Kind;
use table::Row;

#[tokio::test]
async fn a_flux_instance_is_judged_alike_by_the_server_and_in_files() {
    judge(&flux_instance::KIND, flux_instance::whole(), flux_instance::rows()).await;
}

#[tokio::test]
async fn a_flux_report_is_judged_alike_by_the_server_and_in_files() {
    judge(&flux_report::KIND, flux_report::whole(), flux_report::rows()).await;
}

#[tokio::test]
async fn a_resource_set_is_judged_alike_by_the_server_and_in_files() {
    judge(&resource_set::KIND, resource_set::whole(), resource_set::rows()).await;
}

#[tokio::test]
async fn an_input_provider_is_judged_alike_by_the_server_and_in_files() {
    let whole = resource_set_input_provider::whole();
    judge(&resource_set_input_provider::KIND, whole, resource_set_input_provider::rows()).await;
}

/// Sends the rows, and what can be derived from objects that together have every field.
async fn judge(kind: &Kind, whole: Vec<serde_json::Value>, rows: Vec<Row>) {
    let definition = kind.definition();
    let (tested, all) = (table::rules_of(&rows), fields::rules(&definition));
    assert_eq!(tested, all, "the rows break these rules, and the definition has those");
    let present: BTreeSet<String> =
        whole.iter().flat_map(|object| fields::present(&definition, object)).collect();
    assert_eq!(
        present,
        fields::all(&definition),
        "the whole objects have these fields, and the definition those"
    );
    on_cluster(async |cluster| {
        let mut complaints = Vec::new();
        for row in rows {
            complaints.extend(row.complaint(cluster, kind).await);
        }
        for object in &whole {
            for case in derived::cases(&definition, object) {
                complaints.extend(case.complaint(cluster, kind).await);
            }
        }
        assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
    })
    .await;
}
