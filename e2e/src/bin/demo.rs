//! Shows the operator at work as its users have it: two charts, and Flux that follows a Git repository.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    process::ExitCode,
    time::Instant,
};

use crds::FluxInstance;
use e2e::{Fleet, has_condition};
use futures::{StreamExt as _, stream::select_all};
use k8s_openapi::api::apps::v1::Deployment;
use kube::{
    Api, Client, ResourceExt as _,
    core::{ApiResource, DynamicObject, GroupVersionKind},
    runtime::{WatchStreamExt as _, watcher},
};
use serde_json::Value;

/// What is told of as it gets ready: group, version and kind.
const WATCHED: [(&str, &str, &str); 5] = [
    ("fluxcd.controlplane.io", "v1", "FluxInstance"),
    ("source.toolkit.fluxcd.io", "v1", "GitRepository"),
    ("kustomize.toolkit.fluxcd.io", "v1", "Kustomization"),
    ("helm.toolkit.fluxcd.io", "v2", "HelmRelease"),
    ("apps", "v1", "Deployment"),
];
/// Installs of an application of the repository that show that Flux works.
const APPLICATION: (&str, &str) = ("web", "web");

#[tokio::main]
async fn main() -> ExitCode {
    match demonstrate().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("demo: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn demonstrate() -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    let fleet = Fleet::start("demo").await?;
    let version = fleet.client.apiserver_version().await?.git_version;
    println!(
        "Kubernetes {version} and a Git server with examples/two-clusters/fleet are up after {}.\n",
        seconds(started)
    );

    let started = Instant::now();
    println!("$ helm install flux-operator charts/flux-operator");
    fleet.install_operator(&[]).await?;
    println!("{:>7}  the operator's pod is ready\n", seconds(started));

    let applied = Instant::now();
    println!("$ helm install flux charts/flux-instance --values examples/two-clusters/values.yaml");
    let news = tokio::spawn(tell(fleet.client.clone(), applied));
    fleet.install_instance(&[]).await?;
    println!("{:>7}  the chart's health check has passed", seconds(applied));
    let (namespace, name) = APPLICATION;
    let deployments: Api<Deployment> = Api::namespaced(fleet.client.clone(), namespace);
    e2e::wait_for(&deployments, name, has_condition("Available", "True"), e2e::SYNC_DEADLINE).await?;
    println!("{:>7}  the application of the repository is available", seconds(applied));
    news.abort();
    summarise(&fleet.client).await
}

/// Prints each object when it is ready, until it is stopped.
async fn tell(client: Client, since: Instant) {
    let states = WATCHED.map(|(group, version, kind)| {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        let objects: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        // The kinds of Flux are unknown at first.
        let states = watcher(objects, watcher::Config::default()).default_backoff().applied_objects();
        Box::pin(states.filter_map(move |state| async move { Some((kind, state.ok()?)) }))
    });
    let mut states = select_all(states);
    let mut told = BTreeSet::new();
    while let Some((kind, object)) = states.next().await {
        let is_ready = has_condition("Ready", "True")(&object) || has_condition("Available", "True")(&object);
        let line = format!("{kind} {} is ready{}", object.name_any(), message(&object));
        if is_ready && told.insert(line.clone()) {
            println!("{:>7}  {line}", seconds(since));
        }
    }
}

/// The message of the Ready condition; Deployments have none.
fn message(object: &DynamicObject) -> String {
    let conditions = object.data.pointer("/status/conditions").and_then(Value::as_array);
    let ready = conditions.into_iter().flatten().find(|condition| condition["type"] == "Ready");
    let text = ready.and_then(|ready| ready["message"].as_str()).unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    if first.is_empty() { String::new() } else { format!(": {first}") }
}

async fn summarise(client: &Client) -> Result<(), Box<dyn Error>> {
    let instances: Api<FluxInstance> = Api::namespaced(client.clone(), crds::DEFAULT_NAMESPACE);
    let status = instances.get(crds::INSTANCE_NAME).await?.status.unwrap_or_default();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let entries = status.inventory.map(|inventory| inventory.entries).unwrap_or_default();
    for entry in &entries {
        let kind = entry.id.rsplit('_').next().unwrap_or_default();
        *kinds.entry(kind.to_owned()).or_default() += 1;
    }
    println!("\nThe operator keeps {} objects as they are declared:\n", entries.len());
    for (kind, count) in kinds {
        println!("    {count:>3}  {kind}");
    }
    println!("\nFlux {} runs:\n", status.last_applied_revision.unwrap_or_default());
    // Shards run the same images.
    let images =
        status.components.iter().map(|component| format!("{}:{}", component.repository, component.tag));
    for image in images.collect::<BTreeSet<String>>() {
        println!("    {image}");
    }
    Ok(())
}

fn seconds(since: Instant) -> String {
    format!("{:.1} s", since.elapsed().as_secs_f64())
}
