//! What the operator costs in a cluster: time until Flux is ready, memory and requests when nothing happens.

use std::{
    error::Error,
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    path::Path,
    time::{Duration, Instant},
};

use crds::{FluxInstance, INSTANCE_NAME, keys, status::ConditionStatus};
use e2e::{
    ControlPlane, Operator, OperatorOptions, apply_yaml, has_condition, install_definitions,
    proxy::{FaultProxy, Record, Verb},
    ready,
};
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
    runtime::{WatchStreamExt as _, watcher},
};
use serde_json::json;

use crate::{megabytes, milliseconds, row};

/// The operator is idle when so much time has passed since the instance was ready.
const SETTLED: Duration = Duration::from_mins(1);
/// Flux is ready in seconds; this is for a very busy machine.
const DEADLINE: Duration = Duration::from_mins(3);
/// How many controllers the smallest instance has.
const CONTROLLERS: usize = 4;
/// Passes that are counted while nothing changes, and how often there is one.
const PASSES: u64 = 5;
const PASS_INTERVAL: &str = "2s";
const METRICS: &str = "127.0.0.1:18080";
const PASSES_METRIC: &str = "controller_runtime_reconcile_total{controller=\"fluxinstance\",";

/// Measures the binary against a control plane of its own.
pub(crate) async fn measure(binary: &Path) -> Result<(), Box<dyn Error>> {
    let plane = ControlPlane::start("bench").await?;
    let client = plane.client().await?;
    let proxy = FaultProxy::start(&plane).await?;
    install_definitions(&client).await?;
    let options = OperatorOptions {
        arguments: vec![format!("--metrics-addr={METRICS}")],
        kubeconfig: Some(proxy.kubeconfig().to_owned()),
        binary: Some(binary.to_owned()),
        ..OperatorOptions::default()
    };
    let operator = Operator::start(&plane, options)?;
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/smallest/flux.yaml"))?;
    let applied = Instant::now();
    apply_yaml(&client, &text).await?;
    let times = tokio::time::timeout(DEADLINE, until_ready(&client))
        .await
        .map_err(|_| format!("Flux was not ready after {} s; {}", DEADLINE.as_secs(), operator.log_tail()))?;
    row("instance applied -> Ready", &milliseconds(times.ready - applied), "");
    row(
        "last controller pod ready -> Ready",
        &milliseconds(times.ready.saturating_duration_since(times.pods)),
        "1500 ms",
    );

    // Idle means that nothing happens for a while; there is no condition to wait for.
    tokio::time::sleep(SETTLED).await;
    let memory = Memory::of(operator.process().id())?;
    row("idle, 60 s after Ready: resident", &megabytes(memory.resident), "25.1 MB");
    row("idle, 60 s after Ready: anonymous", &megabytes(memory.anonymous), "12.5 MB");

    let (passes, requests) = unchanged_passes(&client, &proxy).await?;
    let is_write = |record: &&Record| !matches!(record.request.verb, Verb::Get | Verb::List);
    let writes = requests.iter().filter(is_write).count();
    row(&format!("{passes} unchanged passes: writes"), &writes.to_string(), "0");
    row(&format!("{passes} unchanged passes: reads"), &(requests.len() - writes).to_string(), "0");
    for request in requests {
        println!("    {request}");
    }
    Ok(())
}

/// When the last of the controllers' pods was seen ready, and when the instance was.
struct Times {
    pods: Instant,
    ready: Instant,
}

async fn until_ready(client: &Client) -> Times {
    let pods: Api<Pod> = Api::namespaced(client.clone(), crds::DEFAULT_NAMESPACE);
    let mut pods = Box::pin(watcher(pods, watcher::Config::default()).default_backoff().applied_objects());
    let instances: Api<FluxInstance> = Api::namespaced(client.clone(), crds::DEFAULT_NAMESPACE);
    let mut instances =
        Box::pin(watcher(instances, watcher::Config::default()).default_backoff().applied_objects());
    let (mut seen, mut at, mut ready_at) = (std::collections::BTreeSet::new(), None, None);
    loop {
        tokio::select! {
            Some(Ok(pod)) = pods.next() => {
                if has_condition("Ready", "True")(&pod) && seen.insert(pod.metadata.name) && seen.len() == CONTROLLERS {
                    at = Some(Instant::now());
                }
            }
            Some(Ok(instance)) = instances.next() => {
                if ready(&instance).is_some_and(|ready| ready.status == ConditionStatus::True) {
                    ready_at = ready_at.or_else(|| Some(Instant::now()));
                }
            }
        }
        if let (Some(pods), Some(ready)) = (at, ready_at) {
            return Times { pods, ready };
        }
    }
}

/// Memory of a process in bytes.
struct Memory {
    resident: u64,
    anonymous: u64,
}

impl Memory {
    fn of(process: u32) -> Result<Self, Box<dyn Error>> {
        let status = fs::read_to_string(format!("/proc/{process}/status"))?;
        let bytes = |key: &str| -> Result<u64, Box<dyn Error>> {
            let line = status.lines().find_map(|line| line.strip_prefix(key));
            let number = line.and_then(|line| line.split_whitespace().next());
            Ok(number.ok_or("the kernel does not say how much memory a process has")?.parse::<u64>()? * 1024)
        };
        Ok(Self { resident: bytes("VmRSS:")?, anonymous: bytes("RssAnon:")? })
    }
}

/// Lets passes happen quickly while nothing changes: how many there were, and what they asked for.
async fn unchanged_passes(client: &Client, proxy: &FaultProxy) -> Result<(u64, Vec<Record>), Box<dyn Error>> {
    let instances: Api<FluxInstance> = Api::namespaced(client.clone(), crds::DEFAULT_NAMESPACE);
    let patch = json!({"metadata": {"annotations": {keys::RECONCILE_EVERY: PASS_INTERVAL}}});
    instances.patch(INSTANCE_NAME, &PatchParams::default(), &Patch::Merge(&patch)).await?;
    // The change itself starts a pass.
    let started = passes()?;
    while passes()? < started + 2 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let (mark, first) = (proxy.mark(), passes()?);
    while passes()? < first + PASSES {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let requests = proxy.since(mark).into_iter().filter(|record| !record.is_background()).collect();
    Ok((passes()? - first, requests))
}

/// How many passes there were, as the operator counts them.
fn passes() -> Result<u64, Box<dyn Error>> {
    let mut stream = TcpStream::connect(METRICS)?;
    stream.write_all(b"GET /metrics HTTP/1.0\r\nHost: bench\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    // One line for each result that a pass can have.
    let lines = text.lines().filter_map(|line| line.strip_prefix(PASSES_METRIC));
    let counts = lines.filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok());
    Ok(counts.sum())
}
