//! Events on their way to a server.

mod logs;
mod server;

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use crds::{FluxInstance, flux_instance::Component};
use k8s_openapi::jiff::Timestamp;
use kube::{Client, Config};
use operator_net::{Limits, Url};
use proptest::{collection::btree_map, prelude::any, prop_assert, prop_assert_eq, proptest};
use rstest::rstest;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tracing::Level;

use super::{About, Destination, Notification, Notifications, Pace, QUEUE, address_of, body};
use crate::events::{Events, Severity};
use logs::Logs;
use server::{SILENCE, Server};

/// What an event looks like when Go writes it with the types that notification-controller reads.
const GOLDEN: &str = include_str!("event.json");

/// No waiting between tries, and a deadline that no test reaches.
const PACE: Pace = Pace {
    limits: Limits { connect: Duration::from_mins(1), request: Duration::from_mins(1), answer_bytes: 1_024 },
    delays: [Duration::from_millis(1); 4],
};

fn instance() -> FluxInstance {
    let instance = json!({
        "apiVersion": "fluxcd.controlplane.io/v1",
        "kind": "FluxInstance",
        "metadata": {
            "name": "flux",
            "namespace": "flux-system",
            "uid": "4f0b6f1c-26a0-4a5c-8a4e-6f4f9f0d5c11",
            "resourceVersion": "4711",
            "annotations": {"event.toolkit.fluxcd.io/team": "platform", "example.com/team": "other"},
        },
        "spec": {"distribution": {"version": "2.x", "registry": "example.com/fluxcd"}},
    });
    serde_json::from_value(instance).unwrap()
}

fn notification(message: &str) -> Notification<'_> {
    Notification { severity: Severity::Normal, reason: "ReconciliationSucceeded", message, metadata: &[] }
}

/// The event as JSON, at the time of the golden one.
fn written(instance: &FluxInstance, notification: &Notification<'_>) -> String {
    let now: Timestamp = "2026-03-04T05:06:07.891Z".parse().unwrap();
    let body = body(&About::object(instance), notification, "flux-operator-7d9c5b9f5-x2x2x", now);
    String::from_utf8(body.unwrap()).unwrap()
}

fn field(body: &str, field: &str) -> Value {
    serde_json::from_str::<Value>(body).unwrap()[field].take()
}

fn messages(bodies: &[String]) -> Vec<String> {
    bodies.iter().map(|body| field(body, "message").as_str().unwrap().to_owned()).collect()
}

/// Events of a process without a cluster, and the task that posts them.
fn events(destination: Destination, pace: Pace) -> (Events, Notifications, JoinHandle<()>) {
    let cluster = Config::new("http://127.0.0.1:1".parse().unwrap());
    let client = Client::try_from(cluster).unwrap();
    let (notifications, task) = Notifications::start_at(destination, pace).unwrap();
    let events = Events::new(client, Some("pod".to_owned())).with_notifications(notifications.clone());
    (events, notifications, task)
}

/// Tells these, waits until the task has ended, and returns what it logged from `info` on.
async fn tell_all(destination: Destination, pace: Pace, messages: &[&str]) -> Vec<String> {
    let (logs, _guard) = Logs::catch(Level::INFO);
    let (events, notifications, task) = events(destination, pace);
    drop(notifications);
    for message in messages {
        events.notify(&instance(), &notification(message));
    }
    drop(events);
    task.await.unwrap();
    logs.lines()
}

#[test]
fn the_body_is_what_notification_controller_reads() {
    let told = Notification {
        severity: Severity::Normal,
        reason: "ReconciliationSucceeded",
        message: "Reconciliation finished in 12.3s",
        metadata: &[("revision", "v2.9.5@sha256:0a1b")],
    };
    assert_eq!(written(&instance(), &told), GOLDEN);
}

#[test]
fn a_warning_is_an_error_and_no_metadata_are_no_field() {
    let mut bare = instance();
    bare.metadata.annotations = None;
    let warning = Notification { severity: Severity::Warning, ..notification("m") };
    let body = written(&bare, &warning);
    assert_eq!(field(&body, "severity"), "error");
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap().get("metadata"), None);
}

#[test]
fn an_annotation_wins_over_nothing_but_its_own_key() {
    let metadata = [("team", "facts")];
    let body = written(&instance(), &Notification { metadata: &metadata, ..notification("m") });
    let expected =
        json!({"event.toolkit.fluxcd.io/team": "platform", "fluxcd.controlplane.io/team": "facts"});
    assert_eq!(field(&body, "metadata"), expected);
}

#[test]
fn long_messages_are_cut_and_passwords_are_left_out() {
    let message = format!("cannot clone https://user:secret@host/repo: {}", "ä".repeat(30_000));
    let mut instance = instance();
    let link = "https://user:secret@host/wiki".to_owned();
    instance.metadata.annotations =
        Some(BTreeMap::from([("event.toolkit.fluxcd.io/link".to_owned(), link.clone())]));
    let body = written(&instance, &Notification { metadata: &[("origin", &link)], ..notification(&message) });
    let told = field(&body, "message");
    let told = told.as_str().unwrap();
    assert!((38_990..=39_000).contains(&told.len()), "{}", told.len());
    assert!(told.starts_with("cannot clone https://host/repo: ää") && told.ends_with("ä ..."));
    assert!(!body.contains("secret"), "{body}");
    assert_eq!(body.matches("https://host/wiki").count(), 2);
}

proptest! {
    #[test]
    fn any_text_gives_a_body_that_can_be_read(
        texts in proptest::array::uniform3(any::<String>()),
        annotations in btree_map("(event\\.toolkit\\.fluxcd\\.io/)?.{0,20}", any::<String>(), 0..4),
    ) {
        let mut instance = instance();
        let shown = annotations.keys().filter(|key| key.starts_with("event.toolkit.fluxcd.io/")).count();
        instance.metadata.annotations = Some(annotations);
        instance.metadata.name = Some(texts[0].clone());
        let told = Notification { reason: &texts[1], metadata: &[("fact", &texts[2])], ..notification(&texts[2]) };
        let body: Value = serde_json::from_str(&written(&instance, &told)).unwrap();
        prop_assert_eq!(body["involvedObject"]["name"].as_str().unwrap(), &texts[0]);
        prop_assert_eq!(body["reason"].as_str().unwrap(), &texts[1]);
        prop_assert_eq!(body["metadata"].as_object().unwrap().len(), shown + 1);
        prop_assert!(body["message"].as_str().unwrap().len() <= 39_000);
    }
}

#[tokio::test]
async fn events_arrive_in_their_order_and_nothing_is_said_of_it() {
    let server = Server::start(&[202, 500, 503, 200, 202]).await;
    let lines = tell_all(Destination::Fixed(server.url.clone()), PACE, &["a", "b", "c"]).await;
    let bodies = server.bodies().await;
    assert_eq!(messages(&bodies), ["a", "b", "b", "b", "c"]);
    assert_eq!(field(&bodies[0], "reportingInstance"), "pod");
    assert_eq!(lines, Vec::<String>::new());
}

#[tokio::test]
async fn a_duplicate_is_left_at_that() {
    let server = Server::start(&[429, 202]).await;
    let lines = tell_all(Destination::Fixed(server.url.clone()), PACE, &["a", "b"]).await;
    assert_eq!(messages(&server.bodies().await), ["a", "b"]);
    assert_eq!(lines, Vec::<String>::new());
}

#[tokio::test]
async fn an_event_that_no_try_delivers_is_dropped_with_a_warning() {
    let server = Server::start(&[500, 502, 503, 504, 599, 202]).await;
    let mut url = server.url.clone();
    url.set_password(Some("secret")).unwrap();
    let lines = tell_all(Destination::Fixed(url), PACE, &["a", "b"]).await;
    let told = server.url.clone();
    assert_eq!(messages(&server.bodies().await), ["a", "a", "a", "a", "a", "b"]);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("WARN") && lines[0].contains("did not reach"), "{lines:?}");
    assert!(lines[0].contains(&format!("failed to POST {told}: the server answered 599")), "{lines:?}");
}

#[rstest]
#[case(400)]
#[case(307)]
#[case(501)]
#[tokio::test]
async fn an_event_that_is_refused_is_not_posted_again(#[case] status: u16) {
    let server = Server::start(&[status, 202]).await;
    let lines = tell_all(Destination::Fixed(server.url.clone()), PACE, &["a", "b"]).await;
    assert_eq!(messages(&server.bodies().await), ["a", "b"]);
    assert_eq!(lines.len(), 1, "{lines:?}");
}

#[tokio::test]
async fn a_server_that_does_not_answer_gets_the_event_again() {
    let server = Server::start(&[SILENCE, 202]).await;
    let limits = Limits { request: Duration::from_millis(200), ..PACE.limits };
    tell_all(Destination::Fixed(server.url.clone()), Pace { limits, ..PACE }, &["a"]).await;
    assert_eq!(messages(&server.bodies().await), ["a", "a"]);
}

#[tokio::test]
async fn a_full_queue_neither_blocks_nor_grows_and_is_told_of_once() {
    let (logs, _guard) = Logs::catch(Level::INFO);
    let server = Server::start(&[SILENCE]).await;
    let (events, notifications, task) = events(Destination::Fixed(server.url.clone()), PACE);
    events.notify(&instance(), &notification("first"));
    // Once the server has the first one, the task waits for an answer that never comes.
    assert_eq!(messages(&server.bodies().await), ["first"]);
    let started = Instant::now();
    for _ in 0..QUEUE + 5 {
        events.notify(&instance(), &notification("more"));
    }
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    assert_eq!(notifications.queue.capacity(), 0);
    assert_eq!(notifications.dropped.load(std::sync::atomic::Ordering::Relaxed), 5);
    let lines = logs.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("too many events wait"), "{lines:?}");
    task.abort();
}

#[tokio::test]
async fn each_burst_is_told_of() {
    let (logs, _guard) = Logs::catch(Level::INFO);
    let server = Server::start(&[202; 2 * QUEUE]).await;
    let (events, notifications, task) = events(Destination::Fixed(server.url.clone()), PACE);
    let burst = || {
        for _ in 0..QUEUE + 2 {
            events.notify(&instance(), &notification("m"));
        }
    };
    burst();
    while notifications.queue.capacity() < QUEUE {
        tokio::task::yield_now().await;
    }
    burst();
    drop((events, notifications));
    task.await.unwrap();
    assert_eq!(server.bodies().await.len(), 2 * QUEUE);
    let lines = logs.lines();
    assert_eq!(lines.len(), 2, "{lines:?}");
}

#[tokio::test]
async fn the_address_of_the_instance_counts_from_when_it_is_known() {
    let server = Server::start(&[202]).await;
    let (events, notifications, task) = events(Destination::OfInstance, PACE);
    events.notify(&instance(), &notification("too early"));
    events.set_address(Some(server.url.clone()));
    events.notify(&instance(), &notification("in time"));
    assert_eq!(messages(&server.bodies().await), ["in time"]);
    events.set_address(None);
    events.notify(&instance(), &notification("too late"));
    assert_eq!(notifications.queue.capacity(), QUEUE);
    drop((events, notifications));
    task.await.unwrap();
}

#[tokio::test]
async fn what_waits_is_forgotten_when_its_receiver_goes() {
    let (events, notifications, task) = events(Destination::OfInstance, PACE);
    events.set_address(Some("http://127.0.0.1:1".parse().unwrap()));
    let (logs, _guard) = Logs::catch(Level::INFO);
    events.notify(&instance(), &notification("m"));
    events.set_address(None);
    drop((events, notifications));
    task.await.unwrap();
    assert_eq!(logs.lines(), Vec::<String>::new());
}

#[rstest]
#[case::nowhere(Destination::Nowhere, None)]
#[case::elsewhere(Destination::Fixed("http://elsewhere/".parse().unwrap()), Some("http://elsewhere/"))]
#[tokio::test]
async fn what_the_environment_says_is_not_changed_by_an_instance(
    #[case] destination: Destination,
    #[case] expected: Option<&str>,
) {
    let (events, notifications, _task) = events(destination, PACE);
    events.set_address(Some("http://instance/".parse().unwrap()));
    let address = notifications.address.borrow().clone();
    assert_eq!(address.as_ref().map(Url::as_str), expected);
}

#[tokio::test]
async fn without_notifications_an_event_goes_nowhere() {
    let cluster = Config::new("http://127.0.0.1:1".parse().unwrap());
    let events = Events::new(Client::try_from(cluster).unwrap(), None);
    events.set_address(Some("http://instance/".parse().unwrap()));
    events.notify(&instance(), &notification("m"));
}

#[rstest]
#[case::nothing(&[], "Ok(None)")]
#[case::empty(&[("NOTIFICATIONS_DISABLED", ""), ("NOTIFICATION_CONTROLLER_ADDRESS", "")], "Ok(None)")]
#[case::disabled(&[("NOTIFICATIONS_DISABLED", "false"), ("NOTIFICATION_CONTROLLER_ADDRESS", "?")], "Ok(Some(Nowhere))")]
#[case::address(&[("NOTIFICATION_CONTROLLER_ADDRESS", "https://u:p@host/?t=x")], "Ok(Some(Fixed(https://host/)))")]
#[case::no_url(&[("NOTIFICATION_CONTROLLER_ADDRESS", "host")], "Err(environment variable NOTIFICATION_CONTROLLER_ADDRESS: the value is no URL: relative URL without a base)")]
#[case::no_host(&[("NOTIFICATION_CONTROLLER_ADDRESS", "http://")], "Err(environment variable NOTIFICATION_CONTROLLER_ADDRESS: the value is no URL: empty host)")]
#[case::no_http(&[("NOTIFICATION_CONTROLLER_ADDRESS", "host:80")], "Err(environment variable NOTIFICATION_CONTROLLER_ADDRESS: the URL starts with host://, expected http:// or https://)")]
fn the_environment_says_where_to_post(#[case] variables: &[(&str, &str)], #[case] expected: &str) {
    let variables: BTreeMap<_, _> = variables.iter().copied().collect();
    let read = |name: &str| variables.get(name).map(|value| (*value).to_owned());
    let destination = match Destination::from_environment(read) {
        Ok(destination) => format!("Ok({destination:?})"),
        Err(problem) => format!("Err({problem})"),
    };
    assert_eq!(destination, expected);
}

#[rstest]
#[case::nothing("", "Ok(Nowhere)")]
#[case::a_url("http://u:p@host:8080/path?t=x", "Ok(Fixed(http://host:8080/path))")]
#[case::no_url("p@ssword", "Err(the value is no URL: relative URL without a base)")]
#[case::no_http("ftp://p@ssword/", "Err(the URL starts with ftp://, expected http:// or https://)")]
fn an_address_is_a_url_or_nothing(#[case] address: &str, #[case] expected: &str) {
    let destination = match Destination::at(address) {
        Ok(destination) => format!("Ok({destination:?})"),
        Err(problem) => format!("Err({problem})"),
    };
    assert_eq!(destination, expected);
}

#[rstest]
#[case::default(None, &Component::DEFAULT, Some("http://notification-controller.ns.svc.cluster.local./"))]
#[case::none_named(None, &[], Some("http://notification-controller.ns.svc.cluster.local./"))]
#[case::domain(Some("Example.ORG"), &Component::ALL, Some("http://notification-controller.ns.svc.example.org./"))]
#[case::left_out(None, &[Component::SourceController], None)]
#[case::no_domain(Some("a b"), &Component::ALL, None)]
#[case::a_path(Some("evil.example/"), &Component::ALL, None)]
#[case::a_user(Some("x@evil.example"), &Component::ALL, None)]
#[case::a_port(Some("x:80"), &Component::ALL, None)]
fn the_instance_says_where_its_notification_controller_is(
    #[case] domain: Option<&str>,
    #[case] components: &[Component],
    #[case] expected: Option<&str>,
) {
    let mut instance = instance();
    instance.spec.components = components.to_vec();
    instance.spec.cluster = domain.map(|domain| serde_json::from_value(json!({"domain": domain})).unwrap());
    assert_eq!(address_of(&instance, "ns").as_ref().map(Url::as_str), expected);
}
