//! What `kubectl get` shows of our objects, besides their names.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceColumnDefinition as Column;

/// Priority of a column that `kubectl get` shows with `-o wide` alone: any above 0.
const WIDE: i32 = 10;

/// The columns of every kind.
///
/// Suspended stands next to Ready: a paused object keeps its last readiness, so that the two are read
/// together. What stands before it keeps its place for scripts that count columns. Behind it comes Status,
/// whose long text with blanks pushes everything else off the screen and ends all counting.
pub(crate) fn usual() -> Vec<Column> {
    vec![
        Column { type_: "date".to_owned(), ..column("Age", ".metadata.creationTimestamp") },
        column("Ready", r#".status.conditions[?(@.type=="Ready")].status"#),
        Column {
            description: Some("disabled while the object is paused: the annotation fluxcd.controlplane.io/reconcile, as it is".to_owned()),
            ..column("Suspended", r".metadata.annotations.fluxcd\.controlplane\.io/reconcile")
        },
        column("Status", r#".status.conditions[?(@.type=="Ready")].message"#),
    ]
}

/// The columns of a `FluxInstance`.
pub(crate) fn of_instance() -> Vec<Column> {
    let mut columns = usual();
    columns.push(column("Revision", ".status.lastAttemptedRevision"));
    columns
}

/// The columns of a `FluxReport`.
pub(crate) fn of_report() -> Vec<Column> {
    let entitlement =
        Column { priority: Some(WIDE), ..column("Entitlement", ".spec.distribution.entitlement") };
    let mut columns = vec![entitlement];
    columns.extend(usual());
    columns.push(column("LastUpdated", r#".status.conditions[?(@.type=="Ready")].lastTransitionTime"#));
    columns
}

/// A column of texts.
fn column(name: &str, path: &str) -> Column {
    Column {
        name: name.to_owned(),
        type_: "string".to_owned(),
        json_path: path.to_owned(),
        ..Column::default()
    }
}
