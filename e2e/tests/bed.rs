//! The bed itself: what it promises to the tests that are built on it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use e2e::{
    BedError, ControlPlane, Kubernetes, Operator, OperatorOptions, PlaneOptions, SharedPlane, apply_yaml,
    has_condition, wait_for, wait_until_gone,
};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{Api, DeleteParams, ListParams};

/// Enough for a busy machine; a good run takes a fraction of it.
const LONG: Duration = Duration::from_mins(1);

/// For tests that only add objects with names of their own.
static SHARED: SharedPlane = SharedPlane::new("bed-shared");

#[tokio::test]
async fn two_planes_run_side_by_side_and_are_gone_when_dropped() {
    let (left, right) = tokio::join!(own_plane("left"), own_plane("right"));
    let (left, right) = (left.unwrap(), right.unwrap());
    apply_yaml(&left.client().await.unwrap(), "{apiVersion: v1, kind: ConfigMap, metadata: {name: left}}")
        .await
        .unwrap();
    let maps = Api::<ConfigMap>::default_namespaced(right.client().await.unwrap());
    assert!(maps.get_opt("left").await.unwrap().is_none(), "both planes have one store");

    let (ports, ids) = (left.ports(), ids(&left));
    assert_eq!((ports.len(), ids.len()), (2, 5));
    assert!(ports.iter().all(|port| TcpStream::connect(("127.0.0.1", *port)).is_ok()));
    let state = left.state().to_owned();
    drop(left);
    for port in ports {
        assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "port {port} is still served");
    }
    assert!(ids.iter().all(|id| !runs(*id)), "a program outlived its plane");
    assert!(!state.exists(), "{} was left behind", state.display());
    assert!(maps.list(&ListParams::default()).await.is_ok(), "the other plane is gone too");
}

#[tokio::test]
async fn a_deployment_becomes_available_on_the_simulated_node() {
    let plane = SHARED.get().await.unwrap();
    let client = plane.client().await.unwrap();
    let applied = apply_yaml(&client, include_str!("data/deployment.yaml")).await.unwrap();
    assert_eq!(applied.len(), 2, "the empty document counts");

    let deployments = Api::<Deployment>::namespaced(client.clone(), "bed-deployment");
    let available = has_condition("Available", "True");
    let deployment = wait_for(&deployments, "web", available, LONG).await.unwrap();
    assert_eq!(deployment.status.unwrap().ready_replicas, Some(2));
    let pods = Api::<Pod>::namespaced(client, "bed-deployment").list(&ListParams::default()).await.unwrap();
    let nodes: Vec<_> = pods.iter().filter_map(|pod| pod.spec.as_ref()?.node_name.as_deref()).collect();
    assert_eq!(nodes, ["node-0", "node-0"]);

    deployments.delete("web", &DeleteParams::foreground()).await.unwrap();
    wait_until_gone(&deployments, "web", LONG).await.unwrap();
}

#[tokio::test]
async fn a_new_definition_and_its_first_object_are_applied_in_one_go() {
    let plane = SHARED.get().await.unwrap();
    let client = plane.client().await.unwrap();
    let applied = apply_yaml(&client, include_str!("data/definition.yaml")).await.unwrap();
    assert_eq!(applied[1].data["spec"]["size"], 3);
}

#[tokio::test]
async fn a_wait_that_fails_shows_what_was_seen_last() {
    let plane = SHARED.get().await.unwrap();
    let client = plane.client().await.unwrap();
    let maps = Api::<ConfigMap>::default_namespaced(client.clone());
    let short = Duration::from_millis(300);
    let absent = wait_for(&maps, "absent", |_| true, short).await.unwrap_err().to_string();
    assert_eq!(
        absent,
        "/api/v1/namespaces/default/configmaps/absent was not as expected within 0.3 s; there is no such object"
    );

    let pods = Api::<Pod>::default_namespaced(client.clone());
    apply_yaml(&client, include_str!("data/unschedulable.yaml")).await.unwrap();
    wait_for(&pods, "unschedulable", has_condition("PodScheduled", "False"), LONG).await.unwrap();
    let waited = wait_for(&pods, "unschedulable", has_condition("Ready", "True"), short).await;
    let message = waited.unwrap_err().to_string();
    assert!(message.contains("\n  PodScheduled=False Unschedulable: 0/1 nodes are available"), "{message}");
}

#[tokio::test]
async fn kubectl_is_the_administrator_and_reads_its_input() {
    let plane = SHARED.get().await.unwrap();
    let object = r#"{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "bed-kubectl"}}"#;
    let output = plane.kubectl(&["create", "-f", "-"], object).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "namespace/bed-kubectl created\n", "{output:?}");
    assert!(output.status.success());
}

#[tokio::test]
async fn a_cluster_that_holds_flux_is_refused_and_an_empty_one_is_not() {
    let plane = own_plane("occupied").await.unwrap();
    let lent = ControlPlane::connect("lent", plane.kubeconfig()).await.unwrap();
    assert!(lent.is_external() && lent.parts().is_empty());
    drop(lent);

    let client = plane.client().await.unwrap();
    apply_yaml(&client, include_str!("data/flux-definition.yaml")).await.unwrap();
    let error = ControlPlane::connect("lent", plane.kubeconfig()).await.unwrap_err();
    let BedError::Occupied { definitions, .. } = &error else { panic!("{error}") };
    assert_eq!(definitions, &["fluxinstances.fluxcd.controlplane.io"]);
    assert!(error.to_string().contains("tests install, break and delete Flux"), "{error}");
    assert!(plane.parts().iter().all(|part| part.exit_status().is_none()), "the refusal ended the cluster");
}

#[tokio::test]
async fn a_part_that_ends_is_named_with_its_status_and_the_end_of_its_log() {
    let error = start_with("etcd-ends", Duration::from_secs(20)).await.unwrap_err();
    let BedError::Ended { part, exit, log, .. } = &error else { panic!("{error}") };
    assert_eq!((part.as_str(), exit.code()), ("etcd", Some(7)));
    assert_eq!(log.lines, ["disk is on fire"]);
    let text = error.to_string();
    assert!(text.starts_with("etcd of control plane \"broken\" ended with exit status: 7 while"), "{text}");
    assert!(text.contains("/etcd.log ends with:\n  disk is on fire"), "{text}");
    assert!(!log.path.exists(), "a failed start left its files behind");
}

#[tokio::test]
async fn a_part_that_hangs_is_named_after_the_deadline() {
    let error = start_with("all-hang", Duration::from_millis(500)).await.unwrap_err();
    let BedError::NotReady { part, log, .. } = &error else { panic!("{error}") };
    assert_eq!(
        (part.as_str(), &log.lines[..]),
        ("kube-apiserver", &["kube-apiserver thinks".to_owned()][..])
    );
    assert!(error.to_string().contains("no \"ok\" from /readyz within 0.5 s"), "{error}");
}

#[tokio::test]
async fn an_operator_is_told_its_cluster_and_can_be_ended_in_both_ways() {
    let plane = SHARED.get().await.unwrap();
    let options = || OperatorOptions {
        arguments: vec!["--quiet".to_owned()],
        environment: [("COLOUR".to_owned(), "green".to_owned())].into(),
        binary: Some(data("operator")),
        ..OperatorOptions::default()
    };
    let first = Operator::start(plane, options()).unwrap();
    let error = first.wait_for_exit(Duration::from_millis(300)).await.unwrap_err();
    let expected =
        format!("serve --metrics-addr=0 --health-addr=0 --quiet {} green", plane.kubeconfig().display());
    let BedError::StillRunning { log, .. } = &error else { panic!("{error}") };
    assert_eq!(log.lines, [expected]);
    first.terminate();
    let status = first.wait_for_exit(LONG).await.unwrap();
    assert_eq!(status.signal(), Some(15));

    let second = Operator::start(plane, options()).unwrap();
    assert_ne!(first.process().log(), second.process().log());
    second.kill();
    let status = second.wait_for_exit(LONG).await.unwrap();
    assert_eq!(status.signal(), Some(9));

    let third = Operator::start(plane, options()).unwrap();
    let id = third.process().id();
    drop(third);
    assert!(!runs(id), "a dropped operator still runs");
}

#[test]
fn a_killed_owner_takes_its_plane_along() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let mut owner = bed_up(&state);
    let children = children(owner.id());
    assert_eq!(children.len(), 6, "five parts and the keeper");
    owner.kill().unwrap();
    owner.wait().unwrap();
    until("a program outlived its owner", || children.iter().all(|id| !runs(*id)));
    until("files were left behind", || !state.exists());
}

#[test]
fn a_plane_for_people_goes_up_and_down() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let mut owner = bed_up(&state);
    let kubeconfig = fs::metadata(state.join("kubeconfig")).unwrap();
    assert!(kubeconfig.len() > 0);
    let children = children(owner.id());

    let down = bed().arg("down").arg(&state).output().unwrap();
    assert!(down.status.success(), "{down:?}");
    assert!(children.iter().all(|id| !runs(*id)), "a program outlived `down`");
    assert!(!state.exists());
    assert!(owner.wait().unwrap().success());

    let again = bed().arg("down").arg(&state).output().unwrap();
    assert!(
        String::from_utf8_lossy(&again.stderr).starts_with("bed: no control plane runs in "),
        "{again:?}"
    );
}

async fn own_plane(name: &str) -> Result<ControlPlane, BedError> {
    let kubernetes = Kubernetes::from_environment()?;
    ControlPlane::start_own(PlaneOptions { name: name.to_owned(), kubernetes, ..PlaneOptions::default() })
        .await
}

/// Starts a control plane of which `tests/data` holds the programs.
async fn start_with(programs: &str, ready_within: Duration) -> Result<ControlPlane, BedError> {
    let programs = Some(data(programs));
    let name = "broken".to_owned();
    ControlPlane::start_own(PlaneOptions { name, programs, ready_within, ..PlaneOptions::default() }).await
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn bed() -> Command {
    Command::new(env!("CARGO_BIN_EXE_bed"))
}

/// Starts `bed up` and waits until it says where the kubeconfig is.
fn bed_up(state: &Path) -> Child {
    let mut owner = bed().arg("up").arg(state).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(owner.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, format!("export KUBECONFIG={}/kubeconfig\n", state.display()));
    owner
}

fn ids(plane: &ControlPlane) -> Vec<u32> {
    plane.parts().iter().map(e2e::Process::id).collect()
}

fn runs(id: u32) -> bool {
    Path::new(&format!("/proc/{id}")).exists()
}

/// The processes that a process started, by any of its threads.
fn children(id: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{id}/task")).unwrap();
    let lists = tasks.map(|task| fs::read_to_string(task.unwrap().path().join("children")).unwrap());
    lists.flat_map(|list| list.split_whitespace().map(|id| id.parse().unwrap()).collect::<Vec<_>>()).collect()
}

fn until(complaint: &str, condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < LONG, "{complaint}");
        std::thread::yield_now();
    }
}
