//! Failures of single requests: what passes within seconds fails no pass, and what lasts is told in plain words.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use crds::INSTANCE_NAME;
use crds::status::ConditionStatus;
use e2e::proxy::{Answer, ApiRequest, Fault, Moment, Record, Verb};
use e2e::wait_for;
use http::StatusCode;
use serde_json::json;

use crate::LONG;
use crate::bench::{ALL, Bench, ready};
use crate::words::Words;

/// How soon a delete that lost against another write comes again.
const AT_ONCE: Duration = Duration::from_millis(500);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_fails_once_is_no_failure() {
    let failed = Once::default();
    no_failure(move |moment, record| {
        // What is told to people is not told again, and a lease has rules of its own.
        let is_repeated = record.request.verb != Verb::Watch && is_of_objects(&record.request);
        let fault = match (moment, record.number % 3) {
            (Moment::Arrived, 0) => {
                Fault::Answer(Answer::refuse(StatusCode::INTERNAL_SERVER_ERROR, "etcd has a new leader"))
            }
            (Moment::Arrived, 1) | (Moment::Committed, 2) => Fault::Reset,
            _ => return None,
        };
        (is_repeated && failed.is_first(record)).then_some(fault)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_apply_that_conflicts_once_is_no_failure() {
    let refused = Once::default();
    no_failure(move |moment, record| {
        let request = &record.request;
        let is_apply = request.verb == Verb::Patch
            && request.resource != "fluxinstances"
            && is_of_objects(request)
            && moment == Moment::Arrived;
        (is_apply && refused.is_first(record)).then(|| Fault::Answer(Answer::conflict()))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delete_that_conflicts_is_tried_again_at_once() {
    let bench = Bench::start().await;
    bench.apply(&ALL, json!({})).await;
    bench.wait_until_ready().await;
    let (words, refused, mark) = (Words::collect(bench.instances()), Once::default(), bench.proxy.mark());
    bench.proxy.set_rule(move |moment, record| {
        let is_delete = moment == Moment::Arrived && record.request.verb == Verb::Delete;
        (is_delete && refused.is_first(record)).then(|| Fault::Answer(Answer::conflict()))
    });
    let wanted = bench.apply(&ALL[..3], json!({})).await.metadata.generation;
    bench.wait_until_ready().await;

    let seen = bench.proxy.since(mark);
    let deletes: Vec<&Record> = seen.iter().filter(|record| record.request.verb == Verb::Delete).collect();
    let refusals: Vec<&&Record> = deletes.iter().filter(|record| record.fault.is_some()).collect();
    assert!(refusals.len() > 3, "{deletes:?}");
    for refusal in refusals {
        let again = deletes.iter().find(|delete| {
            delete.number > refusal.number && delete.request.to_string() == refusal.request.to_string()
        });
        let again = again.unwrap_or_else(|| panic!("not tried again: {refusal}"));
        let after = again.arrived - refusal.arrived;
        assert!(after < AT_ONCE, "{refusal} was tried again after {after:?}");
    }
    let failures = words.of(wanted, ConditionStatus::False);
    assert!(failures.is_empty(), "{failures:?}");
    bench.uninstall().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_api_server_that_is_out_of_reach_is_told_in_plain_words_and_heals() {
    let bench = Bench::start_with(vec!["--max-retry-delay=1s".to_owned()]).await;
    bench.proxy.set_rule(|moment, record| {
        let request = &record.request;
        let is_hit = moment == Moment::Arrived
            && request.verb == Verb::Patch
            && request.resource == "deployments"
            && request.name == "source-controller";
        is_hit.then_some(Fault::Reset)
    });
    bench.apply(&ALL, json!({})).await;
    let has_failed = |instance: &crds::FluxInstance| {
        ready(instance).is_some_and(|ready| ready.status == ConditionStatus::False)
    };
    let failed = wait_for(&bench.instances(), INSTANCE_NAME, has_failed, LONG).await;
    let failed = failed.unwrap_or_else(|error| panic!("{error}\n{}", bench.explain()));
    let message = &ready(&failed).unwrap().message;
    let expected =
        "failed to apply Deployment/flux-system/source-controller: the API server could not be reached (";
    assert!(message.starts_with(expected) && message.ends_with(") and is asked again"), "{message}");
    for word in ["ServiceError", "client error", "SendRequest"] {
        assert!(!message.contains(word), "{message}");
    }
    bench.proxy.clear_rule();
    bench.wait_until_ready().await;
    bench.uninstall().await;
}

/// Installs Flux, takes a component away and uninstalls under a rule: no pass fails.
async fn no_failure(rule: impl Fn(Moment, &Record) -> Option<Fault> + Send + Sync + 'static) {
    let bench = Bench::start().await;
    let (words, mark) = (Words::collect(bench.instances()), bench.proxy.mark());
    bench.proxy.set_rule(rule);
    for components in [&ALL[..], &ALL[..3]] {
        let wanted = bench.apply(components, json!({})).await.metadata.generation;
        bench.wait_until_ready().await;
        let failures = words.of(wanted, ConditionStatus::False);
        assert!(failures.is_empty(), "{failures:?}");
    }
    let hits = bench.proxy.since(mark).iter().filter(|record| record.fault.is_some()).count();
    assert!(hits > 20, "{hits} requests were hit");
    bench.uninstall().await;
}

fn is_of_objects(request: &ApiRequest) -> bool {
    !request.is_lease() && !request.is_event()
}

/// The requests that were seen, by what they ask for.
#[derive(Default)]
struct Once(Mutex<BTreeSet<String>>);

impl Once {
    fn is_first(&self, record: &Record) -> bool {
        self.0.lock().unwrap().insert(record.request.to_string())
    }
}
