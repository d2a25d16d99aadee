//! The proxy itself: what it records, and that each fault is what its client sees.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use e2e::proxy::{Answer, Effect, Fault, Moment, Verb};
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams, WatchParams};
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use kube::{Client, ResourceExt as _};
use serde_json::json;
use tokio::sync::{oneshot, watch};

use crate::LONG;
use crate::bench::Bench;

/// How long something must not happen.
const NOT_WITHIN: Duration = Duration::from_millis(400);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_tells_what_a_write_changed() {
    let (bench, maps) = through("recorded").await;
    let apply = PatchParams::apply("test").force();
    let map = |value: &str| {
        Patch::Apply(json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "recorded"}, "data": {"key": value},
        }))
    };
    let mark = bench.proxy.mark();
    let created = maps.patch("recorded", &apply, &map("a")).await.unwrap();
    maps.patch("recorded", &apply, &map("a")).await.unwrap();
    maps.patch("recorded", &PatchParams { dry_run: true, ..apply.clone() }, &map("b")).await.unwrap();
    maps.patch("recorded", &apply, &map("b")).await.unwrap();
    maps.create(&PostParams::default(), &created).await.unwrap_err();
    maps.get("recorded").await.unwrap();
    maps.delete("recorded", &DeleteParams::default()).await.unwrap();
    maps.delete("recorded", &DeleteParams::default()).await.unwrap_err();

    let seen = bench.proxy.since(mark);
    let seen: Vec<_> = seen.iter().filter(|record| record.request.resource == "configmaps").collect();
    let effects: Vec<Option<Effect>> = seen.iter().map(|record| record.effect).collect();
    let expected = [
        Some(Effect::Created),
        Some(Effect::Nothing),
        Some(Effect::Nothing),
        Some(Effect::Changed),
        Some(Effect::Nothing),
        None,
        Some(Effect::Deleted),
        Some(Effect::Nothing),
    ];
    assert_eq!(effects, expected, "{seen:?}");
    let statuses: Vec<u16> = seen.iter().filter_map(|record| record.status).collect();
    assert_eq!(statuses[..4], [201, 200, 200, 200]);
    assert_eq!((statuses[5], statuses[6], statuses[7]), (200, 200, 404));
    assert_eq!(seen[0].uid, created.uid());
    assert_eq!(seen[6].uid, created.uid());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_fault_is_what_the_client_sees() {
    let (bench, maps) = through("seen").await;
    let refuse = |code: u16| {
        let code = http::StatusCode::from_u16(code).unwrap();
        move || Fault::Answer(Answer::refuse(code, "no"))
    };
    let code = |error: &kube::Error| match error {
        kube::Error::Api(status) => Some(status.code),
        _ => None,
    };
    for expected in [403, 409, 500, 503, 504] {
        let error = ask(&bench, &maps, Moment::Arrived, refuse(expected)).await;
        assert_eq!(code(&error), Some(expected), "{error}");
    }
    let error = ask(&bench, &maps, Moment::Arrived, || Fault::Answer(Answer::too_many(1))).await;
    assert_eq!(code(&error), Some(429), "{error}");
    let error = ask(&bench, &maps, Moment::Committed, || Fault::Answer(Answer::garbage())).await;
    assert!(matches!(error, kube::Error::SerdeError(_)), "{error:?}");
    for fault in [|| Fault::Reset, || Fault::Truncate] {
        let error = ask(&bench, &maps, Moment::Committed, fault).await;
        assert_eq!(code(&error), None, "{error}");
        assert!(!matches!(error, kube::Error::SerdeError(_)), "the answer came to its end: {error:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_is_held_before_the_commit_and_after_it() {
    for (moment, is_there) in [(Moment::Arrived, false), (Moment::Committed, true)] {
        let (bench, maps) = through("held").await;
        let (arrived, arrival) = oneshot::channel();
        let (release, released) = oneshot::channel::<()>();
        let mut hold = Some((arrived, released));
        let hold = std::sync::Mutex::new(move || hold.take());
        bench.proxy.set_rule(move |now, record| {
            let is_hit = now == moment && record.request.name == "held" && record.request.verb.is_write();
            let (arrived, released) = is_hit.then(|| (hold.lock().unwrap())()).flatten()?;
            Some(Fault::Hold(Fault::action(move || async move {
                arrived.send(()).unwrap();
                released.await.unwrap();
            })))
        });
        let write = tokio::spawn(async move { apply(&maps, "held").await });
        tokio::time::timeout(LONG, arrival).await.unwrap().unwrap();
        let direct = Api::<ConfigMap>::namespaced(bench.client.clone(), "faults");
        assert_eq!(direct.get_opt("held").await.unwrap().is_some(), is_there, "{moment:?}");
        assert!(!write.is_finished(), "{moment:?}: the client has an answer");
        release.send(()).unwrap();
        write.await.unwrap().unwrap();
        direct.delete("held", &DeleteParams::default()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_crash_nothing_of_the_dead_client_gets_through() {
    let (bench, maps) = through("crashed").await;
    let client = maps.clone();
    let has_fired = Arc::new(AtomicBool::new(false));
    let (late, lateness) = oneshot::channel();
    let late = std::sync::Mutex::new(Some((late, client)));
    let fired = has_fired.clone();
    bench.proxy.set_rule(move |moment, record| {
        let is_hit = moment == Moment::Replied && record.request.name == "crashed";
        let (late, client) = is_hit.then(|| late.lock().unwrap().take()).flatten()?;
        let fired = fired.clone();
        Some(Fault::Crash(Fault::action(move || async move {
            // What the client sends before it dies arrives while the world stands still.
            let attempt = tokio::spawn(async move { apply(&client, "too-late").await });
            assert!(tokio::time::timeout(NOT_WITHIN, std::future::pending::<()>()).await.is_err());
            fired.store(true, Ordering::SeqCst);
            late.send(attempt).unwrap();
        })))
    });
    apply(&maps, "crashed").await.unwrap();
    let attempt = tokio::time::timeout(LONG, lateness).await.unwrap().unwrap();
    attempt.await.unwrap().unwrap_err();
    assert!(has_fired.load(Ordering::SeqCst));
    let direct = Api::<ConfigMap>::namespaced(bench.client.clone(), "faults");
    assert!(direct.get_opt("too-late").await.unwrap().is_none());
    direct.delete("crashed", &DeleteParams::default()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watches_end_and_their_frames_wait() {
    let (bench, maps) = through("watched").await;
    bench.proxy.set_rule(|moment, record| {
        let is_hit = moment == Moment::Committed && record.request.verb == Verb::Watch;
        is_hit.then(|| Fault::EndWatch(NOT_WITHIN))
    });
    let frames = maps.watch(&WatchParams::default(), "0").await.unwrap();
    let count = tokio::time::timeout(LONG, frames.count()).await;
    count.expect("the watch did not end");

    let hold = watch::Sender::new(true);
    let released = hold.subscribe();
    bench.proxy.set_rule(move |moment, record| {
        let is_hit = moment == Moment::Committed && record.request.verb == Verb::Watch;
        is_hit.then(|| Fault::HoldWatch(released.clone()))
    });
    let mut frames = maps.watch(&WatchParams::default(), "0").await.unwrap().boxed();
    apply(&maps, "watched").await.unwrap();
    assert!(tokio::time::timeout(NOT_WITHIN, frames.next()).await.is_err(), "a frame got through");
    hold.send_replace(false);
    tokio::time::timeout(LONG, frames.next()).await.unwrap().unwrap().unwrap();
    maps.delete("watched", &DeleteParams::default()).await.unwrap();
}

/// A turn, and the ConfigMaps of a namespace seen through the proxy, by a client that repeats nothing.
async fn through(what: &str) -> (Bench, Api<ConfigMap>) {
    println!("through the proxy: {what}");
    let bench = Bench::start().await;
    e2e::apply_yaml(&bench.client, "{apiVersion: v1, kind: Namespace, metadata: {name: faults}}")
        .await
        .unwrap();
    let content = Kubeconfig::read_from(bench.proxy.kubeconfig()).unwrap();
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(content, &options).await.unwrap();
    config.default_retry = false;
    let maps = Api::namespaced(Client::try_from(config).unwrap(), "faults");
    (bench, maps)
}

async fn apply(maps: &Api<ConfigMap>, name: &str) -> Result<ConfigMap, kube::Error> {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
    maps.patch(name, &PatchParams::apply("test"), &Patch::Apply(object)).await
}

/// What the client gets for a write under a fault.
async fn ask(
    bench: &Bench,
    maps: &Api<ConfigMap>,
    moment: Moment,
    fault: impl Fn() -> Fault + Send + Sync + 'static,
) -> kube::Error {
    bench.proxy.set_rule(move |now, record| (now == moment && record.request.name == "seen").then(&fault));
    apply(maps, "seen").await.unwrap_err()
}
