//! Leader election against a real API server, between processes.
//!
//! The contenders are `operator/cluster/examples/lease.rs`: `cargo build -p operator-cluster --example lease`.

use std::env;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use e2e::{SharedPlane, apply, apply_yaml, wait_for};
use k8s_openapi::api::authorization::v1::{ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

/// Enough for a busy machine; what has to happen sooner is asserted on its own.
const LONG: Duration = Duration::from_mins(1);
/// What a busy machine may add to a time that is asserted.
const SLACK: Duration = Duration::from_secs(8);
const NAME: &str = "flux-operator";

/// Every test has a namespace of its own.
static PLANE: SharedPlane = SharedPlane::new("lease");

/// Lease duration, renew deadline and retry period.
#[derive(Clone, Copy)]
struct Times(Duration, Duration, Duration);

/// Nothing runs out during a test.
const PATIENT: Times = times(600_000, 400_000, 300);
/// A holder that is gone is missed soon.
const SHORT: Times = times(9_000, 4_500, 300);

const fn times(lease: u64, renew: u64, retry: u64) -> Times {
    Times(Duration::from_millis(lease), Duration::from_millis(renew), Duration::from_millis(retry))
}

#[tokio::test]
async fn others_wait_while_the_leader_renews() {
    let field = Field::new("lease-renewed").await;
    let mut leader = field.contender("a", SHORT);
    leader.line("leading").await;
    let first = field.record(|spec| spec.holder_identity.is_some()).await;
    assert_eq!(first.lease_duration_seconds, Some(9));
    assert_eq!((first.lease_transitions, &first.acquire_time), (Some(0), &first.renew_time));

    let mut other = field.contender("b", SHORT);
    other.line("another operator leads, waiting for it to stop").await;
    let began = first.renew_time.clone().unwrap().0;
    let later = field
        .record(move |spec| spec.renew_time.as_ref().unwrap().0.duration_since(began).as_secs() > 11)
        .await;
    assert_eq!(later, LeaseSpec { renew_time: later.renew_time.clone(), ..first });
    let said = other.so_far();
    assert!(!said.contains("leading") && !said.contains("WARN"), "{said}");
    assert_eq!(said.matches("another operator leads").count(), 1, "{said}");
    assert!(!leader.so_far().contains("lost"), "{}", leader.so_far());
}

#[tokio::test]
async fn a_leader_that_was_killed_is_replaced_after_the_lease_duration_and_not_before() {
    let field = Field::new("lease-killed").await;
    let mut leader = field.contender("a", SHORT);
    leader.line("leading").await;
    leader.kill().await;
    // A clock that is wrong by years changes nothing.
    let spec = json!({"spec": {"renewTime": "1999-01-01T00:00:00.000000Z"}});
    field.leases.patch(NAME, &PatchParams::default(), &Patch::Merge(spec)).await.unwrap();

    let killed = Instant::now();
    let mut other = field.contender("b", PATIENT);
    let waiting = other.line("another operator leads, waiting for it to stop").await;
    let leading = other.line("leading").await;
    let (since_death, since_sight) = (leading - killed, leading - waiting);
    assert!(since_death >= SHORT.0, "{since_death:?}");
    assert!(since_sight < SHORT.0 + SLACK, "{since_sight:?}");
    let spec = field.record(|_| true).await;
    assert_eq!((spec.holder_identity.as_deref(), spec.lease_transitions), (Some("b"), Some(1)));
    assert!(spec.renew_time >= spec.acquire_time);
}

#[tokio::test]
async fn a_released_lease_is_taken_at_the_next_look() {
    let field = Field::new("lease-released").await;
    let mut leader = field.contender("a", PATIENT);
    leader.line("leading").await;
    let mut other = field.contender("b", PATIENT);
    other.line("another operator leads").await;

    let released = leader.end_input().line("released").await;
    let leading = other.line("leading").await;
    let waited = leading.saturating_duration_since(released);
    assert!(waited < SLACK, "{waited:?}");
    let spec = field.record(|_| true).await;
    assert_eq!((spec.holder_identity.as_deref(), spec.lease_transitions), (Some("b"), Some(1)));
}

#[tokio::test]
async fn a_released_record_names_nobody() {
    let field = Field::new("lease-emptied").await;
    let mut leader = field.contender("a", PATIENT);
    leader.line("leading").await;
    leader.end_input().line("released").await;
    assert!(leader.child.wait().await.unwrap().success());
    let spec = field.record(|_| true).await;
    let expected = LeaseSpec {
        holder_identity: Some(String::new()),
        lease_duration_seconds: Some(1),
        lease_transitions: Some(0),
        acquire_time: spec.renew_time.clone(),
        ..spec.clone()
    };
    assert_eq!(spec, expected);
}

#[tokio::test]
async fn a_restarted_operator_goes_on_with_its_own_lease_at_once() {
    let field = Field::new("lease-restarted").await;
    let mut leader = field.contender("a", PATIENT);
    leader.line("leading").await;
    leader.kill().await;
    let before = field.record(|_| true).await;

    let restarted = Instant::now();
    let mut again = field.contender("a", PATIENT);
    let waited = again.line("leading").await - restarted;
    assert!(waited < SLACK, "{waited:?}");
    let after = field.record(|_| true).await;
    assert!(after.renew_time > before.renew_time);
    assert_eq!(after, LeaseSpec { renew_time: after.renew_time.clone(), ..before });
}

#[tokio::test]
async fn a_leader_stops_when_somebody_else_is_in_the_record() {
    let field = Field::new("lease-overwritten").await;
    let mut leader = field.contender("a", PATIENT);
    leader.line("leading").await;
    let spec = json!({"spec": {"holderIdentity": "stranger"}});
    let overwritten = Instant::now();
    field.leases.patch(NAME, &PatchParams::default(), &Patch::Merge(spec)).await.unwrap();
    let lost = leader
        .line(
            "lost: the lease lease-overwritten/flux-operator is held by \"stranger\", who took it from this \
             operator",
        )
        .await;
    assert!(lost - overwritten < SLACK, "{:?}", lost - overwritten);
    assert_eq!(field.record(|_| true).await.holder_identity.as_deref(), Some("stranger"));
}

#[tokio::test]
async fn a_leader_whose_lease_was_deleted_makes_it_again_and_leads_on() {
    let field = Field::new("lease-deleted").await;
    let mut leader = field.contender("a", PATIENT);
    leader.line("leading").await;
    let old = field.leases.get(NAME).await.unwrap().metadata.uid;
    field.leases.delete(NAME, &DeleteParams::default()).await.unwrap();
    let made = wait_for(&field.leases, NAME, |lease| lease.metadata.uid != old, LONG).await.unwrap();
    assert_eq!(made.spec.unwrap().holder_identity.as_deref(), Some("a"));
    assert!(!leader.so_far().contains("lost"), "{}", leader.so_far());
}

#[tokio::test]
async fn a_leader_that_is_refused_connections_gives_up_before_another_leads() {
    let reason = loses_in_time("lease-refused", Proxy::close).await;
    assert!(reason.contains("the API server could not be reached (connection refused)"), "{reason}");
}

#[tokio::test]
async fn a_leader_that_gets_no_answers_gives_up_before_another_leads() {
    let reason = loses_in_time("lease-silent", Proxy::fall_silent).await;
    assert!(reason.contains("the API server did not answer within 1.5 s"), "{reason}");
}

#[tokio::test]
async fn a_missing_right_is_named_with_what_to_grant() {
    let field = Field::new("lease-forbidden").await;
    let nobody = field.kubeconfig("nobody", |config| config["users"][0]["user"]["as"] = json!("nobody"));
    let mut contender = field.contender_with("a", PATIENT, &nobody);
    let grant = "grant the operator's ServiceAccount the verbs get, create and update on leases of \
                 coordination.k8s.io in namespace lease-forbidden";
    contender
        .line(&format!("failed: not allowed to get the lease lease-forbidden/flux-operator: {grant}: "))
        .await;
    assert_eq!(contender.child.wait().await.unwrap().code(), Some(1));
    assert!(contender.so_far().contains(r#"User "nobody" cannot get resource "leases""#));

    field.let_read("lease-reader").await;
    let reader =
        field.kubeconfig("reader", |config| config["users"][0]["user"]["as"] = json!("lease-reader"));
    let mut contender = field.contender_with("a", PATIENT, &reader);
    contender
        .line(&format!("failed: not allowed to create the lease lease-forbidden/flux-operator: {grant}: "))
        .await;
}

#[tokio::test]
async fn an_error_of_the_server_is_told_once_and_tried_again() {
    let field = Field::without_namespace("lease-late").await;
    let mut contender = field.contender("a", PATIENT);
    contender.line(r#"namespaces \"lease-late\" not found"#).await;
    field.make_namespace().await;
    contender.line("leading").await;
    let said = contender.so_far();
    assert_eq!(said.matches("failed to become leader, trying again").count(), 1, "{said}");
}

/// Cuts a leader off while another waits, and gives why it gave up: after the renew deadline, and before the
/// other leads.
async fn loses_in_time(namespace: &str, cut: fn(&Proxy)) -> String {
    let field = Field::new(namespace).await;
    let server = field.server();
    let proxy = Proxy::start(&server);
    let proxied = field.kubeconfig("proxied", |config| {
        let cluster = &mut config["clusters"][0]["cluster"];
        cluster["server"] = json!(format!("https://127.0.0.1:{}", proxy.port));
        cluster["tls-server-name"] = json!(server.host());
    });
    let mut leader = field.contender_with("a", SHORT, &proxied);
    leader.line("leading").await;
    let mut other = field.contender("b", PATIENT);
    other.line("another operator leads").await;

    cut(&proxy);
    let was_cut = Instant::now();
    let lost = leader
        .line(&format!("lost: the lease {namespace}/flux-operator was not renewed for 4.5 s: failed to "))
        .await;
    let leading = other.line("leading").await;
    assert!(lost < leading, "another leads since {:?}", lost - leading);
    assert!(lost - was_cut < SHORT.1 + SLACK, "{:?}", lost - was_cut);
    assert_eq!(field.record(|_| true).await.lease_transitions, Some(1));
    leader.so_far()
}

/// A namespace with its lease.
struct Field {
    namespace: String,
    client: kube::Client,
    leases: Api<Lease>,
    kubeconfig: PathBuf,
    folder: tempfile::TempDir,
}

impl Field {
    async fn new(namespace: &str) -> Self {
        let field = Self::without_namespace(namespace).await;
        field.make_namespace().await;
        field
    }

    async fn without_namespace(namespace: &str) -> Self {
        let plane = PLANE.get().await.unwrap();
        let client = plane.client().await.unwrap();
        Self {
            namespace: namespace.to_owned(),
            leases: Api::namespaced(client.clone(), namespace),
            client,
            kubeconfig: plane.kubeconfig().to_owned(),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    async fn make_namespace(&self) {
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}});
        apply(&self.client, object).await.unwrap();
    }

    fn contender(&self, identity: &str, times: Times) -> Contender {
        self.contender_with(identity, times, &self.kubeconfig)
    }

    fn contender_with(&self, identity: &str, times: Times, kubeconfig: &Path) -> Contender {
        let milliseconds = [times.0, times.1, times.2].map(|time| time.as_millis().to_string());
        let mut command = Command::new(binary());
        command.arg(kubeconfig).args([&self.namespace, identity]).args(milliseconds);
        for variable in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "RUST_LOG"] {
            command.env_remove(variable);
        }
        Contender::start(command)
    }

    /// The record, once it is as expected.
    async fn record(&self, expected: impl Fn(&LeaseSpec) -> bool) -> LeaseSpec {
        let expected = |lease: &Lease| lease.spec.as_ref().is_some_and(&expected);
        wait_for(&self.leases, NAME, expected, LONG).await.unwrap().spec.unwrap()
    }

    fn read_kubeconfig(&self) -> Value {
        serde_saphyr::from_str(&std::fs::read_to_string(&self.kubeconfig).unwrap()).unwrap()
    }

    /// Another way to the cluster.
    fn kubeconfig(&self, name: &str, change: impl FnOnce(&mut Value)) -> PathBuf {
        let mut config = self.read_kubeconfig();
        change(&mut config);
        let path = self.folder.path().join(name);
        std::fs::write(&path, config.to_string()).unwrap();
        path
    }

    fn server(&self) -> http::Uri {
        let config = self.read_kubeconfig();
        config["clusters"][0]["cluster"]["server"].as_str().unwrap().parse().unwrap()
    }

    /// Lets a user read leases, and waits until that is known.
    async fn let_read(&self, user: &str) {
        let roles = include_str!("data/lease-reader.yaml").replace("NAMESPACE", &self.namespace);
        apply_yaml(&self.client, &roles.replace("READER", user)).await.unwrap();
        let asked = ResourceAttributes {
            group: Some("coordination.k8s.io".to_owned()),
            resource: Some("leases".to_owned()),
            namespace: Some(self.namespace.clone()),
            verb: Some("get".to_owned()),
            ..ResourceAttributes::default()
        };
        let spec = SubjectAccessReviewSpec {
            user: Some(user.to_owned()),
            resource_attributes: Some(asked),
            ..SubjectAccessReviewSpec::default()
        };
        let review = SubjectAccessReview { spec, ..SubjectAccessReview::default() };
        let reviews = Api::<SubjectAccessReview>::all(self.client.clone());
        let began = Instant::now();
        while !reviews.create(&PostParams::default(), &review).await.unwrap().status.unwrap().allowed {
            assert!(began.elapsed() < LONG, "{user} was not given its role");
        }
    }
}

/// A process that wants the lease, and what it said so far.
struct Contender {
    child: Child,
    lines: mpsc::UnboundedReceiver<(Instant, String)>,
    said: Vec<String>,
}

impl Contender {
    fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (say, lines) = mpsc::unbounded_channel();
        read_lines(child.stdout.take().unwrap(), say.clone());
        read_lines(child.stderr.take().unwrap(), say);
        Self { child, lines, said: Vec::new() }
    }

    /// Waits until it says something, and gives the moment.
    async fn line(&mut self, text: &str) -> Instant {
        let wait = async {
            while let Some((at, line)) = self.lines.recv().await {
                let found = line.contains(text);
                self.said.push(line);
                if found {
                    return Some(at);
                }
            }
            None
        };
        let found = tokio::time::timeout(LONG, wait).await.ok().flatten();
        found.unwrap_or_else(|| panic!("no {text:?} in {LONG:?}; it said:\n{}", self.so_far()))
    }

    fn so_far(&mut self) -> String {
        while let Ok((_, line)) = self.lines.try_recv() {
            self.said.push(line);
        }
        self.said.join("\n")
    }

    /// Asks it to end.
    fn end_input(&mut self) -> &mut Self {
        drop(self.child.stdin.take());
        self
    }

    async fn kill(&mut self) {
        self.child.kill().await.unwrap();
    }
}

fn read_lines(from: impl AsyncRead + Unpin + Send + 'static, say: mpsc::UnboundedSender<(Instant, String)>) {
    tokio::spawn(async move {
        let mut lines = BufReader::new(from).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            if say.send((Instant::now(), line)).is_err() {
                break;
            }
        }
    });
}

/// Tests run in `target/PROFILE/deps`, examples are in `target/PROFILE/examples`.
fn binary() -> PathBuf {
    let own = env::current_exe().unwrap();
    let path = own.ancestors().nth(2).unwrap().join("examples/lease");
    assert!(path.is_file(), "no {}: run `cargo build -p operator-cluster --example lease`", path.display());
    path
}

/// A way to the API server that can be cut.
struct Proxy {
    port: u16,
    state: Arc<ProxyState>,
}

#[derive(Default)]
struct ProxyState {
    closed: AtomicBool,
    silent: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    fn start(server: &http::Uri) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = format!("{}:{}", server.host().unwrap(), server.port_u16().unwrap_or(443));
        let state = Arc::new(ProxyState::default());
        let shared = state.clone();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                if shared.closed.load(Ordering::SeqCst) {
                    return;
                }
                let (client, server) = (client.unwrap(), TcpStream::connect(&server).unwrap());
                shared.pass_on(&client, &server);
                shared.pass_on(&server, &client);
            }
        });
        Self { port, state }
    }

    /// Ends all connections and takes no more.
    fn close(&self) {
        self.state.closed.store(true, Ordering::SeqCst);
        for stream in self.state.streams.lock().unwrap().drain(..) {
            // It may have ended by itself.
            let _ = stream.shutdown(Shutdown::Both);
        }
        // The listener ends with the connection after which it looks.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }

    /// Takes everything and passes nothing on.
    fn fall_silent(&self) {
        self.state.silent.store(true, Ordering::SeqCst);
    }
}

impl ProxyState {
    fn pass_on(self: &Arc<Self>, from: &TcpStream, to: &TcpStream) {
        let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
        self.streams.lock().unwrap().push(from.try_clone().unwrap());
        let state = self.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 16 * 1024];
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                if !state.silent.load(Ordering::SeqCst) && to.write_all(&buffer[..count]).is_err() {
                    break;
                }
            }
            let _ = to.shutdown(Shutdown::Both);
        });
    }
}
