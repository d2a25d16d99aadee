//! What is exposed, read back.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, SystemTime},
};

use crate::exposition::{Exposition, Series, instance, metrics, owned};
use operator_telemetry::{InstanceInfo, Leadership, Metrics, Outcome, Ready};

fn exposed(metrics: &Metrics) -> Exposition {
    Exposition::parse(&metrics.to_text().unwrap())
}

/// The families of controllers that this operator has none of: it recovers panics and ends late passes
/// outside of what these count, and serves no webhooks.
const OTHERS: [&str; 4] = ["panics", "timeouts", "webhook", "conversion"];

#[test]
fn a_controller_exposes_what_one_of_controller_runtime_does() {
    let metrics = metrics();
    metrics.add_controller("fluxinstance", 3);
    for (outcome, times) in [
        (Outcome::Success, 2),
        (Outcome::Requeue, 1),
        (Outcome::RequeueAfter, 3),
        (Outcome::Error, 2),
        (Outcome::TerminalError, 1),
    ] {
        for _ in 0..times {
            metrics.observe_reconcile("fluxinstance", outcome, Duration::from_micros(10));
        }
    }
    let ours = controller_series(exposed(&metrics));
    let oracle = controller_series(Exposition::parse(include_str!("../data/metrics.txt")));
    assert_eq!(ours, oracle);
    assert_eq!(oracle.0.len(), 6);
}

/// Types and values; of the sum of times, that it is there.
fn controller_series(exposition: Exposition) -> (BTreeMap<String, String>, BTreeMap<Series, f64>) {
    let wanted = |name: &str| {
        name.starts_with("controller_runtime_") && !OTHERS.iter().any(|other| name.contains(other))
    };
    let mut series = exposition.series;
    series.retain(|(name, _), value| {
        if name.ends_with("_sum") {
            *value = 0.0;
        }
        wanted(name)
    });
    let mut types = exposition.types;
    types.retain(|name, _| wanted(name));
    (types, series)
}

#[test]
fn a_new_controller_starts_at_zero() {
    let metrics = metrics();
    metrics.add_controller("resourceset", 10);
    let exposition = exposed(&metrics);
    for result in ["success", "error", "requeue", "requeue_after"] {
        let labels = [("controller", "resourceset"), ("result", result)];
        assert_eq!(exposition.value("controller_runtime_reconcile_total", &labels), Some(0.0), "{result}");
    }
    for (name, value) in [
        ("controller_runtime_reconcile_errors_total", 0.0),
        ("controller_runtime_terminal_reconcile_errors_total", 0.0),
        ("controller_runtime_active_workers", 0.0),
        ("controller_runtime_max_concurrent_reconciles", 10.0),
        ("controller_runtime_reconcile_time_seconds_count", 0.0),
    ] {
        assert_eq!(exposition.value(name, &[("controller", "resourceset")]), Some(value), "{name}");
    }
}

#[test]
fn a_duration_is_counted_in_its_bucket_and_all_wider_ones() {
    let metrics = metrics();
    metrics.observe_reconcile("c", Outcome::Success, Duration::from_millis(1500));
    metrics.observe_reconcile("c", Outcome::Success, Duration::from_hours(2));
    let exposition = exposed(&metrics);
    let bucket = |bound: &str| {
        exposition
            .value("controller_runtime_reconcile_time_seconds_bucket", &[("controller", "c"), ("le", bound)])
    };
    let counts = ["1.25", "1.5", "1.75", "60", "+Inf"].map(bucket);
    assert_eq!(counts, [0.0, 1.0, 1.0, 1.0, 2.0].map(Some));
    let sum = exposition.value("controller_runtime_reconcile_time_seconds_sum", &[("controller", "c")]);
    assert_eq!(sum, Some(7201.5));
}

#[test]
fn a_worker_is_active_until_its_work_ends_however_it_ends() {
    let metrics = metrics();
    let active = || exposed(&metrics).value("controller_runtime_active_workers", &[("controller", "c")]);
    let first = metrics.start_work("c");
    let second = metrics.start_work("c");
    assert_eq!(active(), Some(2.0));
    drop(first);
    let crash = thread::spawn(move || {
        let _second = second;
        panic!("the reconciler crashes");
    });
    assert!(crash.join().is_err());
    assert_eq!(active(), Some(0.0));
}

#[test]
fn the_leader_is_shown_by_lease() {
    let metrics = metrics();
    let name = "leader_election_master_status";
    metrics.set_leadership("flux-operator", Leadership::Backup);
    assert_eq!(exposed(&metrics).value(name, &[("name", "flux-operator")]), Some(0.0));
    metrics.set_leadership("flux-operator", Leadership::Leader);
    let exposition = exposed(&metrics);
    assert_eq!(exposition.value(name, &[("name", "flux-operator")]), Some(1.0));
    assert_eq!((exposition.labels(name).len(), exposition.types[name].as_str()), (1, "gauge"));
}

#[test]
fn the_operator_tells_its_version() {
    let exposition = exposed(&metrics());
    let labels =
        [("version", "v0.1.0"), ("api_version", "fluxcd.controlplane.io/v1"), ("platform", "linux/amd64")];
    assert_eq!(exposition.value("flux_operator_info", &labels), Some(1.0));
    assert_eq!(exposition.types["flux_operator_info"], "gauge");
}

#[test]
fn an_instance_is_shown_by_its_labels() {
    let metrics = metrics();
    assert!(!exposed(&metrics).types.contains_key("flux_instance_info"), "no instance, no family");
    metrics.set_instance(&instance("a-b"));
    let suspended =
        InstanceInfo { ready: Ready::Unknown, suspended: true, reason: String::new(), ..instance("c-d") };
    metrics.set_instance(&suspended);
    let exposition = exposed(&metrics);
    let mut labels = owned(&[
        ("uid", "a-b"),
        ("kind", "FluxInstance"),
        ("name", "flux"),
        ("exported_namespace", "flux-system"),
        ("ready", "True"),
        ("reason", "ReconciliationSucceeded"),
        ("suspended", "False"),
        ("registry", "ghcr.io/fluxcd"),
        ("revision", "v2.7.5@sha256:0123"),
    ]);
    let first = labels.clone();
    labels.extend(owned(&[("uid", "c-d"), ("ready", "Unknown"), ("suspended", "True"), ("reason", "")]));
    assert_eq!(exposition.labels("flux_instance_info"), [first, labels]);
    assert_eq!(exposition.types["flux_instance_info"], "gauge");
}

#[test]
fn a_change_replaces_the_series_and_a_deletion_removes_it() {
    let metrics = metrics();
    metrics.set_instance(&instance("a"));
    metrics.set_instance(&instance("b"));
    metrics.set_instance(&InstanceInfo { ready: Ready::False, ..instance("a") });
    let ready = |metrics: &Metrics| -> Vec<_> {
        let labels = exposed(metrics).labels("flux_instance_info");
        labels.into_iter().map(|labels| (labels["uid"].clone(), labels["ready"].clone())).collect()
    };
    let pair = |uid: &str, ready: &str| (uid.to_owned(), ready.to_owned());
    assert_eq!(ready(&metrics), [pair("a", "False"), pair("b", "True")]);
    metrics.remove_instance("a");
    metrics.remove_instance("never there");
    assert_eq!(ready(&metrics), [pair("b", "True")]);
}

#[test]
fn no_scrape_misses_an_object_that_changes_or_sees_it_twice() {
    let metrics = metrics();
    metrics.set_instance(&instance("a"));
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let changes = scope.spawn(|| {
            let mut changes = 0_u32;
            while !stop.load(Ordering::Relaxed) {
                metrics.set_instance(&InstanceInfo { revision: format!("v{changes}"), ..instance("a") });
                changes += 1;
            }
            changes
        });
        for _ in 0..500 {
            assert_eq!(exposed(&metrics).labels("flux_instance_info").len(), 1);
        }
        stop.store(true, Ordering::Relaxed);
        assert!(changes.join().unwrap() > 0);
    });
}

#[test]
fn odd_labels_come_back_as_they_were() {
    for odd in
        ["", "\"", "\\", "\n", "a\\nb", "\\\"", "{},= #", "übergröße 日本語 🦀", "\r\t\u{1b}\0", "trailing\\"]
    {
        let metrics = metrics();
        let odd_instance = InstanceInfo { name: odd.to_owned(), reason: odd.to_owned(), ..instance("a") };
        metrics.set_instance(&odd_instance);
        metrics.observe_reconcile(odd, Outcome::Success, Duration::ZERO);
        let text = metrics.to_text().unwrap();
        let labels = Exposition::parse(&text).labels("flux_instance_info");
        assert_eq!((labels[0]["name"].as_str(), labels[0]["reason"].as_str()), (odd, odd), "{text}");
    }
}

#[test]
fn long_labels_are_cut() {
    let metrics = metrics();
    metrics.set_instance(&InstanceInfo { revision: "ü".repeat(5_000), ..instance("a") });
    let labels = exposed(&metrics).labels("flux_instance_info");
    assert_eq!(labels[0]["revision"], "ü".repeat(512));
}

#[test]
fn no_label_shows_who_logs_in() {
    let metrics = metrics();
    for (registry, shown) in [
        ("bob:secret@ghcr.io/fluxcd", "ghcr.io/fluxcd"),
        ("https://bob:secret@ghcr.io/fluxcd", "https://ghcr.io/fluxcd"),
    ] {
        metrics.set_instance(&InstanceInfo {
            registry: registry.to_owned(),
            reason: registry.replace("bob", "oci://bob"),
            ..instance("a")
        });
        let text = metrics.to_text().unwrap();
        assert!(!text.contains("secret"), "{text}");
        assert_eq!(Exposition::parse(&text).labels("flux_instance_info")[0]["registry"], shown);
    }
}

#[test]
fn the_process_tells_what_it_takes() {
    let metrics = metrics();
    let exposition = exposed(&metrics);
    let oracle = Exposition::parse(include_str!("../data/metrics.txt"));
    let value = |name: &str| {
        assert_eq!(exposition.types.get(name), oracle.types.get(name), "{name}");
        exposition.value(name, &[]).unwrap_or_else(|| panic!("{name} is missing"))
    };
    let megabytes = value("process_resident_memory_bytes") / 1e6;
    assert!((1.0..10_000.0).contains(&megabytes), "{megabytes}");
    assert!((0.0..1e5).contains(&value("process_cpu_seconds_total")));
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs_f64();
    let age = now - value("process_start_time_seconds");
    assert!((-2.0..3600.0).contains(&age), "{age}");
    assert!(value("process_open_fds") >= 3.0);
}
