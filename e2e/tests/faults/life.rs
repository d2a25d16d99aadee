//! The life of an instance: installed, one component taken away, uninstalled; and what was seen of it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crds::FluxInstance;
use e2e::proxy::{Effect, Record};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::LONG;
use crate::bench::{ALL, Bench, ready};
use crate::snapshot::{Objects, compare, differences, essence, forgotten, masked, misnamed, owned};

/// How long nothing may be said before a converged cluster counts as quiet.
const QUIET: Duration = Duration::from_secs(3);

/// What a life left behind.
pub(crate) struct Life {
    /// Everything that the operator asked for.
    pub(crate) records: Vec<Record>,
    /// The state once the instance was ready, and once a component was taken away.
    stages: Vec<Stage>,
    pub(crate) took: Duration,
}

struct Stage {
    objects: Objects,
    instance: Value,
}

/// How often objects were created and deleted.
type Changes = BTreeMap<(String, Effect), usize>;

/// A life without faults, lived once.
pub(crate) async fn faultless(bench: &Bench) -> &'static Life {
    static FAULTLESS: OnceCell<Life> = OnceCell::const_new();
    FAULTLESS
        .get_or_init(|| async {
            let life = live(bench).await;
            let (requests, writes) = (life.records.len(), life.writes().count());
            println!("without faults: {requests} requests, {writes} effective writes in {:.1?}", life.took);
            life
        })
        .await
}

/// Lets an instance live, under whatever rule the proxy has. At each stage it is checked that nothing is
/// forgotten (I5) and that nothing goes on (I3).
pub(crate) async fn live(bench: &Bench) -> Life {
    let began = Instant::now();
    let mark = bench.proxy.mark();
    let mut stages = Vec::new();
    for components in [&ALL[..], &ALL[..3]] {
        bench.apply(components, json!({})).await;
        stages.push(Stage::settled(bench).await);
    }
    bench.uninstall().await;
    Life { records: bench.proxy.since(mark), stages, took: began.elapsed() }
}

impl Stage {
    async fn settled(bench: &Bench) -> Self {
        let at_ready = bench.wait_until_ready().await;
        let mut objects = owned(&bench.client).await;
        // What is being deleted may still be seen when the instance is ready.
        objects.retain(|_, object| !is_leaving(object));
        let (instance, later) = Self::gone(bench).await;
        let settled = masked(&later);
        let changed = differences(&masked(&objects), &settled);
        assert!(changed.is_empty(), "it was ready before it had settled:\n{changed}");
        assert_eq!(
            ready(&at_ready),
            ready(&instance),
            "the instance was ready and said something else later"
        );
        let forgotten = forgotten(&later, Some(&instance));
        assert!(forgotten.is_empty(), "in no inventory: {forgotten:?}");
        let misnamed = misnamed(&later, &instance);
        assert!(misnamed.is_empty(), "another uid in the inventory than in the cluster: {misnamed:?}");
        Self { objects: settled, instance: essence(&instance) }
    }

    /// Waits until what was taken away is gone and forgotten, and it is quiet then. The operator looks again for
    /// what takes long to go, with longer and longer pauses.
    async fn gone(bench: &Bench) -> (FluxInstance, Objects) {
        let began = Instant::now();
        loop {
            bench.wait_until_quiet(QUIET).await;
            let instance = bench.wait_until_ready().await;
            let objects = owned(&bench.client).await;
            let is_over = !objects.values().any(is_leaving) && misnamed(&objects, &instance).is_empty();
            if is_over || began.elapsed() > LONG {
                return (instance, objects);
            }
            println!("not all is gone after {:.1?}", began.elapsed());
        }
    }
}

fn is_leaving(object: &Value) -> bool {
    object["metadata"].get("deletionTimestamp").is_some()
}

impl Life {
    /// The effective writes. A lease is the operator's own.
    pub(crate) fn writes(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(|record| record.is_effective() && !record.request.is_lease())
    }

    /// What differs from another life: end states (I1), creates and deletes of each object (I2).
    pub(crate) fn differences(&self, other: &Self) -> String {
        let mut lines = Vec::new();
        for (number, (expected, found)) in self.stages.iter().zip(&other.stages).enumerate() {
            compare(&format!("instance in stage {number}"), &expected.instance, &found.instance, &mut lines);
            let objects = differences(&expected.objects, &found.objects);
            lines.extend((!objects.is_empty()).then_some(objects));
        }
        let (expected, found) = (self.changes(), other.changes());
        for change in expected.keys().chain(found.keys()).collect::<BTreeSet<_>>() {
            let times = |changes: &Changes| changes.get(change).copied().unwrap_or_default();
            let (expected, found) = (times(&expected), times(&found));
            if expected != found {
                let (object, effect) = change;
                lines.push(format!("{object}: {expected} times {effect:?} expected, {found} times found"));
            }
        }
        lines.join("\n")
    }

    /// Events tell people what happened, and may be told twice.
    fn changes(&self) -> Changes {
        let mut changes = Changes::new();
        for record in self.writes().filter(|record| !record.request.is_event()) {
            if let Some(effect @ (Effect::Created | Effect::Deleted)) = record.effect {
                *changes.entry((record.request.object(), effect)).or_default() += 1;
            }
        }
        changes
    }
}
