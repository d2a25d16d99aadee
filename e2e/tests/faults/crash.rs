//! The operator is killed at a write: before the API server has it, before the operator has the answer, after
//! it. Another one is started, and the cluster ends as if nothing had happened.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crds::INSTANCE_NAME;
use e2e::proxy::{Fault, Moment, Record};

use crate::LONG;
use crate::bench::Bench;
use crate::life::{Life, faultless, live};
use crate::seed::Seeded;
use crate::snapshot::{forgotten, owned};

/// How many crashes a run has that is not asked for more: what fits in a minute.
const SAMPLE: usize = 6;
const PHASES: [Moment; 3] = [Moment::Arrived, Moment::Committed, Moment::Replied];

/// Where the operator is killed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    /// The request, without what is random in it.
    request: String,
    /// Which of the effective ones, from 0.
    occurrence: usize,
    phase: Moment,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_at_any_write_changes_nothing_in_the_end() {
    let bench = Bench::start().await;
    let expected = faultless(&bench).await;
    drop(bench);
    let mut fatal = Vec::new();
    for point in chosen(points(expected)) {
        println!("now: {point}");
        // In a task of its own, so that the crashes after one that fails are tried too.
        match tokio::spawn(survive(point.clone(), expected)).await {
            Ok(took) => {
                println!("survived in {took:.1?}: {point}");
                note(&point);
            }
            Err(_) => fatal.push(point.to_string()),
        }
    }
    assert!(fatal.is_empty(), "a crash changed something, see above:\n{}", fatal.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_that_dies_after_each_write_of_its_life_repeats_none() {
    let bench = Bench::start().await;
    let expected = faultless(&bench).await;
    drop(bench);
    let bench = Bench::start().await;
    let crashes = Arc::new(Mutex::new(BTreeSet::new()));
    bench.proxy.set_rule(crash_once_at_each(&bench, crashes.clone()));
    let life = live(&bench).await;
    let crashes = crashes.lock().unwrap().len();
    let written: BTreeSet<String> = expected.writes().map(|record| record.request.to_string()).collect();
    assert!(crashes >= written.len(), "{crashes} crashes at {} kinds of writes", written.len());
    let differences = expected.differences(&life);
    assert!(differences.is_empty(), "after {crashes} crashes:\n{differences}");
}

/// The rule that kills the operator when a write is stored and before it knows, once at each kind of write.
fn crash_once_at_each(
    bench: &Bench,
    crashes: Arc<Mutex<BTreeSet<String>>>,
) -> impl Fn(Moment, &Record) -> Option<Fault> + use<> {
    let operators = bench.operators.clone();
    move |moment, record| {
        let is_write = moment == Moment::Committed && record.is_effective() && !record.request.is_lease();
        if !is_write || !crashes.lock().unwrap().insert(record.request.to_string()) {
            return None;
        }
        let operator = operators.current();
        Some(Fault::Crash(Fault::action(move || async move {
            operator.kill();
            operator.wait_for_exit(LONG).await.unwrap();
        })))
    }
}

/// One life with one crash.
async fn survive(point: Point, expected: &Life) -> Duration {
    let bench = Bench::start().await;
    let lost = Arc::new(Mutex::new(Vec::new()));
    let is_over = Arc::new(AtomicBool::new(false));
    bench.proxy.set_rule(crash(&bench, point.clone(), is_over.clone(), lost.clone()));
    let life = live(&bench).await;
    assert!(is_over.load(Ordering::SeqCst), "there was no {point}");
    assert_eq!(bench.operators.count(), 2, "the operator ended by itself:\n{}", bench.explain());
    let lost = lost.lock().unwrap().clone();
    assert!(lost.is_empty(), "when it crashed {point}, no inventory had {lost:?}");
    let differences = expected.differences(&life);
    assert!(differences.is_empty(), "after a crash {point}:\n{differences}");
    life.took
}

/// The rule that kills the operator once. What is in no inventory at that moment is written down (I5).
fn crash(
    bench: &Bench,
    point: Point,
    is_over: Arc<AtomicBool>,
    lost: Arc<Mutex<Vec<String>>>,
) -> impl Fn(Moment, &Record) -> Option<Fault> + use<> {
    let (operators, client, instances) = (bench.operators.clone(), bench.client.clone(), bench.instances());
    let effective = AtomicUsize::new(0);
    move |moment, record| {
        if record.request.to_string() != point.request || is_over.load(Ordering::SeqCst) {
            return None;
        }
        let so_far = match moment {
            Moment::Arrived => effective.load(Ordering::SeqCst),
            _ if !record.is_effective() => return None,
            Moment::Committed => effective.fetch_add(1, Ordering::SeqCst),
            Moment::Replied => effective.load(Ordering::SeqCst) - 1,
        };
        if moment != point.phase || so_far != point.occurrence || is_over.swap(true, Ordering::SeqCst) {
            return None;
        }
        let (operator, client, instances, lost) =
            (operators.current(), client.clone(), instances.clone(), lost.clone());
        Some(Fault::Crash(Fault::action(move || async move {
            operator.kill();
            operator.wait_for_exit(LONG).await.unwrap();
            let instance = instances.get_opt(INSTANCE_NAME).await.unwrap();
            let found = forgotten(&owned(&client).await, instance.as_ref());
            // An uninstallation leaves the namespace as it is.
            lost.lock().unwrap().extend(found.into_iter().filter(|id| !id.starts_with("Namespace/")));
        })))
    }
}

/// Every effective write of a life, in every phase.
fn points(life: &Life) -> Vec<Point> {
    let mut seen = BTreeMap::<String, usize>::new();
    let mut points = Vec::new();
    for record in life.writes() {
        let request = record.request.to_string();
        let next = seen.entry(request.clone()).or_default();
        let occurrence = *next;
        *next += 1;
        points.extend(PHASES.map(|phase| Point { request: request.clone(), occurrence, phase }));
    }
    points
}

/// What the environment asks for.
fn chosen(points: Vec<Point>) -> Vec<Point> {
    let all = points.len();
    let chosen = match env::var("E2E_CAMPAIGN").ok().as_deref() {
        Some("full") => points,
        Some(size) => Seeded::new("crashes").sample(points, size.parse().unwrap()),
        None => Seeded::new("crashes").sample(points, SAMPLE),
    };
    let done = done();
    let (over, left): (Vec<Point>, Vec<Point>) =
        chosen.into_iter().partition(|point| done.contains(&point.to_string()));
    println!("{all} crash points: {} for this run, {} were survived before", left.len(), over.len());
    left
}

fn log() -> Option<PathBuf> {
    env::var_os("E2E_CAMPAIGN_LOG").map(PathBuf::from)
}

fn done() -> BTreeSet<String> {
    let text = log().map(|log| fs::read_to_string(log).unwrap_or_default()).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn note(point: &Point) {
    if let Some(log) = log() {
        let mut log = OpenOptions::new().create(true).append(true).open(log).unwrap();
        writeln!(log, "{point}").unwrap();
    }
}

impl fmt::Display for Point {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase = match self.phase {
            Moment::Arrived => "before",
            Moment::Committed => "after the commit of",
            Moment::Replied => "after the reply to",
        };
        write!(formatter, "{phase} {} (occurrence {})", self.request, self.occurrence)
    }
}
