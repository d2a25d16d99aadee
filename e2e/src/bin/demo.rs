//! Shows the operator at work: a control plane, the operator, an instance, and Flux becoming ready.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    fs,
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use crds::{FluxInstance, status::ConditionStatus};
use e2e::{ControlPlane, Operator, OperatorOptions, apply_yaml, install_definitions, ready};
use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::apps::v1::Deployment;
use kube::{
    Api, Client, ResourceExt as _,
    runtime::{WatchStreamExt as _, watcher},
};

/// How long Flux may take to become ready. It takes a few seconds on an idle machine.
const READY_DEADLINE: Duration = Duration::from_mins(2);

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
    let plane = ControlPlane::start("demo").await?;
    let client = plane.client().await?;
    let version = client.apiserver_version().await?.git_version;
    println!("Kubernetes {version} is up after {}.", seconds(started));

    install_definitions(&client).await?;
    let operator = Operator::start(&plane, OperatorOptions::default())?;
    println!("The operator runs (process {}).\n", operator.process().id());

    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/smallest/flux.yaml");
    let text = fs::read_to_string(file)?;
    println!("Applying examples/smallest/flux.yaml:\n");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        println!("    {line}");
    }
    println!();
    let applied = Instant::now();
    apply_yaml(&client, &text).await?;
    let ready = watch_until_ready(&client, applied);
    tokio::time::timeout(READY_DEADLINE, ready).await.map_err(|_| {
        format!("Flux was not ready after {} s; {}", READY_DEADLINE.as_secs(), operator.log_tail())
    })??;
    summarise(&client, applied).await
}

/// Prints each Deployment when it is available, and ends when the instance is ready.
async fn watch_until_ready(client: &Client, applied: Instant) -> Result<(), watcher::Error> {
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), crds::DEFAULT_NAMESPACE);
    let available =
        watcher(deployments, watcher::Config::default()).default_backoff().applied_objects().try_filter_map(
            |deployment| async move { Ok(is_available(&deployment).then(|| deployment.name_any())) },
        );
    let instances: Api<FluxInstance> = Api::namespaced(client.clone(), crds::DEFAULT_NAMESPACE);
    let states = watcher(instances, watcher::Config::default()).default_backoff().applied_objects();
    let (mut available, mut states) = (Box::pin(available), Box::pin(states));
    let mut told = BTreeSet::new();
    loop {
        tokio::select! {
            Some(name) = available.next() => {
                let name = name?;
                if told.insert(name.clone()) {
                    println!("{:>7}  Deployment {name} is available", seconds(applied));
                }
            }
            Some(instance) = states.next() => {
                let instance = instance?;
                if let Some(line) = news(&instance, &mut told) {
                    println!("{:>7}  {line}", seconds(applied));
                }
                if is_ready(&instance) {
                    return Ok(());
                }
            }
            else => return Ok(()),
        }
    }
}

/// What the Ready condition says, once for each message.
fn news(instance: &FluxInstance, told: &mut BTreeSet<String>) -> Option<String> {
    let ready = ready(instance)?;
    let line = format!("FluxInstance {}: {} ({})", instance.name_any(), ready.message, ready.reason);
    told.insert(line.clone()).then_some(line)
}

async fn summarise(client: &Client, applied: Instant) -> Result<(), Box<dyn Error>> {
    let took = seconds(applied);
    let instances: Api<FluxInstance> = Api::namespaced(client.clone(), crds::DEFAULT_NAMESPACE);
    let status = instances.get(crds::INSTANCE_NAME).await?.status.unwrap_or_default();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let entries = status.inventory.map(|inventory| inventory.entries).unwrap_or_default();
    for entry in &entries {
        let kind = entry.id.rsplit('_').next().unwrap_or_default();
        *kinds.entry(kind.to_owned()).or_default() += 1;
    }
    println!("\nApplied {} objects and waited until all were ready, in {took}:\n", entries.len());
    for (kind, count) in kinds {
        println!("    {count:>3}  {kind}");
    }
    println!("\nFlux {} runs:\n", status.last_applied_revision.unwrap_or_default());
    for component in status.components {
        println!("    {}:{}", component.repository, component.tag);
    }
    Ok(())
}

fn is_available(deployment: &Deployment) -> bool {
    let conditions = deployment.status.as_ref().and_then(|status| status.conditions.as_ref());
    conditions
        .into_iter()
        .flatten()
        .any(|condition| condition.type_ == "Available" && condition.status == "True")
}

fn is_ready(instance: &FluxInstance) -> bool {
    ready(instance).is_some_and(|ready| ready.status == ConditionStatus::True)
}

fn seconds(since: Instant) -> String {
    format!("{:.1} s", since.elapsed().as_secs_f64())
}
