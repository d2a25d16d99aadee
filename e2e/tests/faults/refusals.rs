//! An API server that refuses, fails after it has done its work, answers nonsense, or cuts connections.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crds::INSTANCE_NAME;
use crds::status::ConditionStatus;
use e2e::proxy::{Answer, Fault, Moment, Record, Verb};
use http::StatusCode;
use serde_json::json;

use crate::LONG;
use crate::bench::{ALL, Bench, ready};
use crate::life::{faultless, live};
use crate::seed::Seeded;
use crate::snapshot::owned;
use crate::words::Words;

/// How many moments of requests there are for each that fails.
const ONE_IN: usize = 12;
/// How many failures there are until they stop.
const FAILURES: usize = 30;
/// How long frames of watches are held, and how long they flow then.
const LATE: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_many_requests_on_every_third_write() {
    let writes = AtomicUsize::new(0);
    survive("429 on every third write", move |moment, record| {
        let is_hit = moment == Moment::Arrived
            && record.request.verb.is_write()
            && writes.fetch_add(1, Ordering::Relaxed) % 3 == 2;
        is_hit.then(|| Fault::Answer(Answer::too_many(1)))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_failures_before_and_after_the_commit() {
    let seed = Seeded::new("random failures");
    let hits = AtomicUsize::new(0);
    survive("random failures, one after the other", move |moment, record| {
        let can_fail = record.request.verb != Verb::Watch && moment != Moment::Replied;
        if !can_fail || seed.below(ONE_IN) > 0 || hits.fetch_add(1, Ordering::Relaxed) >= FAILURES {
            return None;
        }
        let fail = |code| Fault::Answer(Answer::refuse(code, "the server is on its knees"));
        Some(match (moment, seed.below(7)) {
            (_, 0) => fail(StatusCode::INTERNAL_SERVER_ERROR),
            (_, 1) => fail(StatusCode::SERVICE_UNAVAILABLE),
            (_, 2) => Fault::Reset,
            (_, 3) => Fault::Delay(Duration::from_millis(300)),
            (Moment::Committed, 4) => Fault::Truncate,
            (Moment::Committed, 5) => Fault::Answer(Answer::garbage()),
            _ => fail(StatusCode::GATEWAY_TIMEOUT),
        })
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watches_that_end_all_the_time() {
    survive("watches end after 200 ms", |moment, record| {
        let is_hit = moment == Moment::Committed && record.request.verb == Verb::Watch;
        is_hit.then(|| Fault::EndWatch(Duration::from_millis(200)))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_of_watches_that_come_late() {
    let (sender, held) = tokio::sync::watch::channel(false);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(LATE).await;
            sender.send_modify(|is_held| *is_held = !*is_held);
        }
    });
    survive("frames of watches are held for a second at a time", move |moment, record| {
        let is_hit = moment == Moment::Committed && record.request.verb == Verb::Watch;
        is_hit.then(|| Fault::HoldWatch(held.clone()))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conflict_on_every_apply() {
    let refused = Mutex::new(BTreeSet::<String>::new());
    survive("409 once on every apply of an object", move |moment, record| {
        let request = &record.request;
        let is_object = !request.is_lease() && !request.is_event() && request.resource != "fluxinstances";
        let is_hit = moment == Moment::Arrived
            && request.verb == Verb::Patch
            && is_object
            && refused.lock().unwrap().insert(request.to_string());
        is_hit.then(|| Fault::Answer(Answer::conflict()))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_denied_delete_stays_in_the_inventory_is_named_and_heals() {
    const DENIED: &str = "notification-controller";
    let bench = Bench::start().await;
    bench.apply(&ALL, json!({})).await;
    bench.wait_until_ready().await;

    let denials = Arc::new(AtomicUsize::new(0));
    let counted = denials.clone();
    bench.proxy.set_rule(move |moment, record| {
        let request = &record.request;
        let is_hit = moment == Moment::Arrived
            && request.verb == Verb::Delete
            && request.resource == "deployments"
            && request.name == DENIED;
        is_hit.then(|| {
            counted.fetch_add(1, Ordering::SeqCst);
            let message = "admission webhook \"keep.example.com\" denied the request: it stays";
            Fault::Answer(Answer::refuse(StatusCode::FORBIDDEN, message))
        })
    });
    let words = Words::collect(bench.instances());
    let wanted = bench.apply(&ALL[..3], json!({})).await.metadata.generation;
    let three_times = async {
        while denials.load(Ordering::SeqCst) < 3 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, three_times).await.unwrap();

    let instance = bench.instances().get(INSTANCE_NAME).await.unwrap();
    let condition = ready(&instance).unwrap();
    assert_eq!((&condition.status, condition.observed_generation), (&ConditionStatus::False, wanted));
    assert!(condition.message.contains(DENIED), "{}", condition.message);
    assert!(condition.message.contains("it stays"), "{}", condition.message);
    let entries = instance.status.clone().unwrap().inventory.unwrap().entries;
    assert!(entries.iter().any(|entry| entry.id == "flux-system_notification-controller_apps_Deployment"));
    assert!(owned(&bench.client).await.keys().any(|id| id.kind == "Deployment" && id.name == DENIED));

    bench.proxy.clear_rule();
    bench.wait_until_ready().await;
    assert!(!owned(&bench.client).await.keys().any(|id| id.name == DENIED));
    let failures = words.of(wanted, ConditionStatus::False);
    println!("denied {} times, Ready said {failures:?}", denials.load(Ordering::SeqCst));
    assert_eq!(failures.len(), 1, "the words of a failure change from try to try (I12)");
    assert_eq!(failures.values().sum::<usize>(), 1, "the words came and went (I12)");
    bench.uninstall().await;
}

/// Lives a life under a rule: it ends like one without faults, and Ready tells the truth meanwhile.
async fn survive(what: &str, rule: impl Fn(Moment, &Record) -> Option<Fault> + Send + Sync + 'static) {
    // Passes that come later and later would only make the test long.
    let bench = Bench::start_with(vec!["--max-retry-delay=2s".to_owned()]).await;
    let expected = faultless(&bench).await;
    let words = Words::collect(bench.instances());
    let mark = bench.proxy.mark();
    bench.proxy.set_rule(rule);
    let found = live(&bench).await;
    let hits = bench.proxy.since(mark).iter().filter(|record| record.fault.is_some()).count();
    println!("{what}: {hits} requests were hit, it took {:.1?}; Ready said {words}", found.took);
    assert!(hits > 0, "{what}: no request was hit");
    let differences = expected.differences(&found);
    assert!(differences.is_empty(), "{what}:\n{differences}");
    assert_eq!(bench.operators.count(), 1, "the operator ended:\n{}", bench.explain());
}
