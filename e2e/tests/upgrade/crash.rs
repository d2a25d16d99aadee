//! An operator that ends before or after each write of a bridge. Another one is started each time.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use e2e::{
    Installation, Operator,
    proxy::{Effect, Fault, FaultProxy, Moment, Record, Verb},
};

use crate::{
    IMAGE_DEFINITIONS, LONG, behind, definitions, new, objects, old_flux, stored_versions, version, versions,
};

/// Objects at whose rewrite the operator is killed: the first, one of the second page, the last.
const OBJECTS: [&str; 3] = ["app-000", "app-200", "app-229"];

/// What is to be written while Flux gets its new version, and how often that changes something: the definition
/// open, closed and as it is wanted; its status; each object.
const EFFECTIVE_WRITES: usize = 3 + 1 + OBJECTS.len();

/// More starts than crashes: an operator that ends by itself again and again is not started for ever.
const MOST_STARTS: usize = 40;

/// Where the operator was killed already.
#[derive(Default)]
struct Crashes {
    /// How often a write to a path has changed something.
    effective: BTreeMap<String, usize>,
    /// Paths of writes that it died before, with how often they had changed something by then.
    before: BTreeSet<(String, usize)>,
    /// How many writes it died after.
    after: usize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_that_dies_before_and_after_each_write_repeats_none() {
    let flux = Arc::new(old_flux("upgrade-crash").await);
    objects::create(&flux.client).await;
    let before = objects::snapshot(&flux.client, "v1beta2").await;
    flux.operator.kill();
    flux.operator.wait_for_exit(LONG).await.unwrap();

    let proxy = FaultProxy::start(&flux.plane).await.unwrap();
    let first = Operator::start(&flux.plane, behind(&proxy)).unwrap();
    let operator = Arc::new(Mutex::new(Arc::new(first)));
    let crashes = Arc::new(Mutex::new(Crashes::default()));
    proxy.set_rule(kill_once_at_each(operator.clone(), crashes.clone()));
    let options = behind(&proxy);
    let supervisor = tokio::spawn(supervise(flux.clone(), operator.clone(), options)).abort_handle();

    flux.apply(&new()).await;
    let upgraded = flux.wait_until_ready(LONG).await;
    supervisor.abort();
    assert_eq!(version(&upgraded), "v2.9.5");
    objects::assert_unchanged(&flux.client, "v1", &before).await;
    let definition = definitions(&flux.client).get(IMAGE_DEFINITIONS[1]).await.unwrap();
    assert_eq!((versions(&definition), stored_versions(&definition)), (vec!["v1"], vec!["v1".to_owned()]));

    let crashes = crashes.lock().unwrap();
    assert_eq!(crashes.after, EFFECTIVE_WRITES, "{:?}", crashes.effective);
    let before: BTreeSet<_> = crashes.before.iter().collect();
    for (path, count) in &crashes.effective {
        for earlier in 0..*count {
            assert!(
                before.contains(&(path.clone(), earlier)),
                "it did not die before write {earlier} of {path}"
            );
        }
    }
    // Whatever was done once is not done again.
    let mut written = BTreeMap::<String, usize>::new();
    for record in proxy.since(0).iter().filter(|record| record.request.group == "image.toolkit.fluxcd.io") {
        assert!(!matches!(record.effect, Some(Effect::Created | Effect::Deleted)), "{record}");
        if record.is_effective() {
            *written.entry(record.request.object()).or_default() += 1;
        }
    }
    assert!(written.values().all(|times| *times == 1), "{written:?}");
}

/// Kills the operator before each write that may change something, and after each that has.
fn kill_once_at_each(
    operator: Arc<Mutex<Arc<Operator>>>,
    crashes: Arc<Mutex<Crashes>>,
) -> impl Fn(Moment, &Record) -> Option<Fault> {
    move |moment, record| {
        let request = &record.request;
        let is_definition =
            request.resource == "customresourcedefinitions" && request.name == IMAGE_DEFINITIONS[1];
        let is_object = request.resource == "imagerepositories" && OBJECTS.contains(&request.name.as_str());
        if request.verb != Verb::Patch || !(is_definition || is_object) {
            return None;
        }
        let path = format!("{}/{}/{}", request.resource, request.name, request.subresource);
        let mut crashes = crashes.lock().unwrap();
        let count = crashes.effective.get(&path).copied().unwrap_or_default();
        let is_hit = match moment {
            Moment::Arrived => crashes.before.insert((path, count)),
            Moment::Committed if record.is_effective() => {
                crashes.effective.insert(path, count + 1);
                crashes.after += 1;
                true
            }
            _ => false,
        };
        let operator = operator.lock().unwrap().clone();
        is_hit.then(|| {
            Fault::Crash(Fault::action(move || async move {
                operator.kill();
                operator.wait_for_exit(LONG).await.unwrap();
            }))
        })
    }
}

async fn supervise(
    flux: Arc<Installation>,
    operator: Arc<Mutex<Arc<Operator>>>,
    options: e2e::OperatorOptions,
) {
    for _ in 0..MOST_STARTS {
        let current = operator.lock().unwrap().clone();
        while current.wait_for_exit(LONG).await.is_err() {}
        *operator.lock().unwrap() = Arc::new(Operator::start(&flux.plane, options.clone()).unwrap());
    }
}
