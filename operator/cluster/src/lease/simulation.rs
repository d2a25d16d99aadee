//! Candidates against a lease in memory, in a time of their own: requests are lost, answers are lost,
//! processes end and come back, and everything happens in any order.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
    time::Duration,
};

use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    jiff::Timestamp,
};
use kube::core::Status;
use proptest::prelude::*;
use tokio::time::Instant;

use super::{
    candidate::{Candidate, Standing},
    server::{LeaseError, LeaseVerb, Server},
    settings::LeaseSettings,
};
use crate::error::RequestError;

const CANDIDATES: usize = 3;

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Answered,
    /// It does not reach the server.
    Lost,
    /// It is carried out, and the answer does not come back.
    AnswerLost,
}

/// The API server and the time.
struct World {
    lease: Option<Lease>,
    version: u64,
    began: Instant,
    now: Instant,
    /// The fate of the next request that is carried out.
    fate: Fate,
    /// What another does to the lease before the next write.
    intruder: Option<fn(&mut World)>,
    requests: Vec<String>,
}

impl World {
    fn new() -> Arc<Mutex<Self>> {
        let now = Instant::now();
        Arc::new(Mutex::new(Self {
            lease: None,
            version: 0,
            began: now,
            now,
            fate: Fate::Answered,
            intruder: None,
            requests: Vec::new(),
        }))
    }

    fn store(&mut self, mut lease: Lease) -> Lease {
        self.version += 1;
        lease.metadata.resource_version = Some(self.version.to_string());
        self.lease = Some(lease.clone());
        lease
    }

    /// Somebody writes without looking.
    fn overwrite(&mut self, holder: &str) {
        let spec = LeaseSpec {
            holder_identity: Some(holder.to_owned()),
            lease_duration_seconds: Some(35),
            ..LeaseSpec::default()
        };
        let metadata = self.lease.take().map(|lease| lease.metadata).unwrap_or_default();
        self.store(Lease { metadata, spec: Some(spec) });
    }

    fn spec(&self) -> LeaseSpec {
        self.lease.clone().and_then(|lease| lease.spec).unwrap()
    }
}

fn refusal(verb: LeaseVerb, code: u16) -> LeaseError {
    let source = RequestError::Refused(Box::new(Status { code, ..Status::default() }));
    LeaseError::Request {
        verb,
        namespace: "flux-system".to_owned(),
        name: "flux-operator".to_owned(),
        source,
    }
}

/// The server as one candidate sees it, with a wall clock that is off.
struct View {
    world: Arc<Mutex<World>>,
    skew: Duration,
}

impl View {
    /// Carries a request out between two pauses, in which others get their turn.
    async fn ask<T>(
        &self,
        verb: LeaseVerb,
        request: impl FnOnce(&mut World) -> Result<T, LeaseError> + Send,
    ) -> Result<T, LeaseError> {
        pause().await;
        let answer = {
            let mut world = self.world.lock().unwrap();
            world.requests.push(verb.to_string());
            if verb != LeaseVerb::Get
                && let Some(intrude) = world.intruder.take()
            {
                intrude(&mut world);
            }
            let lost = || refusal(verb, 504);
            match std::mem::replace(&mut world.fate, Fate::Answered) {
                Fate::Answered => request(&mut world),
                Fate::Lost => Err(lost()),
                Fate::AnswerLost => request(&mut world).and(Err(lost())),
            }
        };
        pause().await;
        answer
    }
}

impl Server for View {
    async fn read(&self) -> Result<Option<Lease>, LeaseError> {
        self.ask(LeaseVerb::Get, |world| Ok(world.lease.clone())).await
    }

    async fn create(&self, lease: &Lease) -> Result<Lease, LeaseError> {
        let create = |world: &mut World| match &world.lease {
            None => Ok(world.store(lease.clone())),
            Some(_) => Err(refusal(LeaseVerb::Create, 409)),
        };
        self.ask(LeaseVerb::Create, create).await
    }

    async fn replace(&self, lease: &Lease) -> Result<Lease, LeaseError> {
        let replace = |world: &mut World| match &world.lease {
            Some(old) if old.metadata.resource_version == lease.metadata.resource_version => {
                Ok(world.store(lease.clone()))
            }
            Some(_) => Err(refusal(LeaseVerb::Update, 409)),
            None => Err(refusal(LeaseVerb::Update, 404)),
        };
        self.ask(LeaseVerb::Update, replace).await
    }

    fn now(&self) -> Instant {
        self.world.lock().unwrap().now
    }

    fn wall_clock(&self) -> Timestamp {
        let world = self.world.lock().unwrap();
        Timestamp::UNIX_EPOCH + self.skew + (world.now - world.began)
    }
}

async fn pause() {
    let mut paused = false;
    poll_fn(|_| if std::mem::replace(&mut paused, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

fn settings(identity: &str) -> LeaseSettings {
    LeaseSettings::new("flux-system", identity)
}

fn candidate(world: &Arc<Mutex<World>>, identity: &str) -> Candidate<View> {
    Candidate::new(View { world: world.clone(), skew: Duration::ZERO }, settings(identity))
}

/// Runs to the end what never waits for anything but its turn.
fn run<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(outcome) = future.as_mut().poll(&mut context) {
            return outcome;
        }
    }
}

fn attempt(candidate: &mut Candidate<View>) -> Result<Standing, LeaseError> {
    run(candidate.try_to_hold())
}

fn holds(candidate: &mut Candidate<View>) -> bool {
    matches!(attempt(candidate), Ok(Standing::Held { .. }))
}

fn other(holder: &str) -> Standing {
    Standing::Other { holder: holder.to_owned() }
}

fn requests(world: &Arc<Mutex<World>>) -> Vec<String> {
    std::mem::take(&mut world.lock().unwrap().requests)
}

#[test]
fn the_first_creates_the_lease_and_renews_it_with_one_request_each() {
    let world = World::new();
    let mut first = candidate(&world, "a");
    assert!(holds(&mut first));
    assert_eq!(requests(&world), ["get", "create"]);
    assert!(holds(&mut first));
    assert_eq!(requests(&world), ["update"]);
    assert_eq!(world.lock().unwrap().spec().lease_transitions, Some(0));
}

#[test]
fn the_second_waits_for_a_silent_holder_for_the_lease_duration_from_first_sight() {
    let world = World::new();
    assert!(holds(&mut candidate(&world, "a")));
    let pass = |seconds| world.lock().unwrap().now += Duration::from_secs(seconds);
    let mut second = candidate(&world, "b");
    pass(100);
    assert_eq!(attempt(&mut second).unwrap(), other("a"));
    pass(34);
    assert_eq!(attempt(&mut second).unwrap(), other("a"));
    pass(1);
    assert!(holds(&mut second));
    assert_eq!(world.lock().unwrap().spec().lease_transitions, Some(1));
}

#[test]
fn a_label_on_the_lease_does_not_delay_a_takeover_and_stays() {
    let world = World::new();
    assert!(holds(&mut candidate(&world, "a")));
    let mut second = candidate(&world, "b");
    assert_eq!(attempt(&mut second).unwrap(), other("a"));
    {
        let mut world = world.lock().unwrap();
        let mut lease = world.lease.clone().unwrap();
        lease.metadata.labels = Some([("team".to_owned(), "x".to_owned())].into());
        world.store(lease);
        world.now += Duration::from_secs(35);
    }
    assert!(holds(&mut second));
    let lease = world.lock().unwrap().lease.clone().unwrap();
    assert_eq!(lease.metadata.labels.unwrap()["team"], "x");
}

#[test]
fn who_comes_second_to_create_the_lease_waits() {
    let world = World::new();
    world.lock().unwrap().intruder = Some(|world| world.overwrite("b"));
    assert_eq!(attempt(&mut candidate(&world, "a")).unwrap(), other("b"));
    assert_eq!(requests(&world), ["get", "create", "get"]);
}

#[test]
fn a_conflict_shows_the_leader_who_took_the_lease() {
    let world = World::new();
    let mut first = candidate(&world, "a");
    assert!(holds(&mut first));
    world.lock().unwrap().overwrite("b");
    assert_eq!(attempt(&mut first).unwrap(), other("b"));
    assert_eq!(world.lock().unwrap().spec().holder_identity.as_deref(), Some("b"));
}

#[test]
fn a_second_conflict_ends_the_attempt() {
    let world = World::new();
    let mut first = candidate(&world, "a");
    assert!(holds(&mut first));
    world.lock().unwrap().overwrite("a");
    requests(&world);
    world.lock().unwrap().intruder = Some(|world| {
        world.overwrite("a");
        world.intruder = Some(|world| world.overwrite("a"));
    });
    assert!(attempt(&mut first).unwrap_err().is_outdated());
    assert_eq!(requests(&world), ["update", "get", "update"]);
    assert!(holds(&mut first));
}

#[test]
fn a_leader_whose_lease_was_deleted_makes_it_again() {
    let world = World::new();
    let mut first = candidate(&world, "a");
    assert!(holds(&mut first));
    world.lock().unwrap().lease = None;
    requests(&world);
    assert!(holds(&mut first));
    assert_eq!(requests(&world), ["update", "get", "create"]);
}

#[test]
fn a_leader_whose_answer_was_lost_finds_its_own_record() {
    let world = World::new();
    let mut first = candidate(&world, "a");
    assert!(holds(&mut first));
    world.lock().unwrap().fate = Fate::AnswerLost;
    assert!(attempt(&mut first).is_err());
    assert!(holds(&mut first));
    assert_eq!(world.lock().unwrap().spec().lease_transitions, Some(0));
}

#[test]
fn a_restarted_operator_goes_on_with_its_own_lease() {
    let world = World::new();
    assert!(holds(&mut candidate(&world, "a")));
    let before = world.lock().unwrap().spec();
    assert!(holds(&mut candidate(&world, "a")));
    assert_eq!(world.lock().unwrap().spec(), before);
}

#[test]
fn a_released_lease_is_taken_at_once() {
    let world = World::new();
    let (mut first, mut second) = (candidate(&world, "a"), candidate(&world, "b"));
    assert!(holds(&mut first));
    assert_eq!(attempt(&mut second).unwrap(), other("a"));
    requests(&world);
    run(first.release()).unwrap();
    assert_eq!(requests(&world), ["update"]);
    assert!(holds(&mut second));
}

#[test]
fn a_release_leaves_the_lease_of_another_and_a_missing_one_alone() {
    let world = World::new();
    let mut first = candidate(&world, "a");
    run(first.release()).unwrap();
    assert_eq!(requests(&world), ["get"]);
    assert!(holds(&mut first));
    world.lock().unwrap().overwrite("b");
    run(first.release()).unwrap();
    assert_eq!(world.lock().unwrap().spec().holder_identity.as_deref(), Some("b"));
}

#[test]
fn a_release_after_a_renewal_that_was_cut_off_empties_the_record() {
    let world = World::new();
    let mut first = candidate(&world, "a");
    assert!(holds(&mut first));
    {
        let mut renewal = Box::pin(first.try_to_hold());
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..2 {
            assert!(renewal.as_mut().poll(&mut context).is_pending());
        }
    }
    assert_eq!(world.lock().unwrap().version, 2, "the renewal was carried out");
    run(first.release()).unwrap();
    assert_eq!(world.lock().unwrap().spec().holder_identity.as_deref(), Some(""));
}

type Attempt = Pin<Box<dyn Future<Output = (Candidate<View>, Result<Standing, LeaseError>)>>>;

/// A process with one candidate: it tries, and believes for the renew deadline what it was told.
struct Process {
    identity: &'static str,
    skew: Duration,
    idle: Option<Candidate<View>>,
    attempt: Option<Attempt>,
    leads_since: Option<Instant>,
}

impl Process {
    fn new(number: usize) -> Self {
        let identity = ["a", "b", "c"][number];
        let skew = Duration::from_hours(100) * u32::try_from(number).unwrap();
        Self { identity, skew, idle: None, attempt: None, leads_since: None }
    }

    fn leads(&self, now: Instant) -> bool {
        self.leads_since.is_some_and(|since| now < since + settings(self.identity).renew_deadline)
    }

    /// Goes on until the next pause. A leader whose time is over ends, and starts anew.
    fn step(&mut self, world: &Arc<Mutex<World>>) {
        let now = world.lock().unwrap().now;
        if self.leads_since.is_some() && !self.leads(now) {
            self.end();
        }
        let Self { identity, skew, .. } = *self;
        let idle = &mut self.idle;
        let attempt = self.attempt.get_or_insert_with(|| {
            let server = View { world: world.clone(), skew };
            let mut candidate = idle.take().unwrap_or_else(|| Candidate::new(server, settings(identity)));
            Box::pin(async move {
                let outcome = candidate.try_to_hold().await;
                (candidate, outcome)
            })
        });
        let Poll::Ready((candidate, outcome)) =
            attempt.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        else {
            return;
        };
        self.attempt = None;
        self.idle = Some(candidate);
        match outcome {
            Ok(Standing::Held { since }) => self.leads_since = Some(since),
            Ok(Standing::Other { .. }) => self.leads_since = None,
            Err(_) => {}
        }
    }

    fn end(&mut self) {
        (self.idle, self.attempt, self.leads_since) = (None, None, None);
    }

    /// The work is over and the lease is given back.
    fn release(&mut self) {
        self.attempt = None;
        if let Some(mut candidate) = self.idle.take() {
            // It may fail: others then wait longer.
            let _ = run(candidate.release());
        }
        self.end();
    }
}

#[derive(Clone, Debug)]
enum Event {
    Step { process: usize, fate: Fate },
    Pass { milliseconds: u64 },
    Kill { process: usize },
    Release { process: usize },
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let process = 0..CANDIDATES;
    let fate = prop_oneof![
        8 => Just(Fate::Answered),
        1 => Just(Fate::Lost),
        1 => Just(Fate::AnswerLost),
    ];
    let step = (process.clone(), fate).prop_map(|(process, fate)| Event::Step { process, fate });
    let pass = prop_oneof![
        4 => 1_u64..2_000,
        1 => 2_000_u64..50_000,
    ];
    let event = prop_oneof![
        20 => step,
        8 => pass.prop_map(|milliseconds| Event::Pass { milliseconds }),
        1 => process.clone().prop_map(|process| Event::Kill { process }),
        1 => process.prop_map(|process| Event::Release { process }),
    ];
    proptest::collection::vec(event, 1..400)
}

/// Lets everything happen, and gives the most leaders that there were at once, and how many changes.
fn play(events: &[Event]) -> (usize, usize) {
    let world = World::new();
    let mut processes: Vec<Process> = (0..CANDIDATES).map(Process::new).collect();
    let (mut most, mut changes, mut leader) = (0, 0, None);
    for event in events {
        match *event {
            Event::Step { process, fate } => {
                world.lock().unwrap().fate = fate;
                processes[process].step(&world);
            }
            Event::Pass { milliseconds } => {
                world.lock().unwrap().now += Duration::from_millis(milliseconds);
            }
            Event::Kill { process } => processes[process].end(),
            Event::Release { process } => processes[process].release(),
        }
        let now = world.lock().unwrap().now;
        let leaders: Vec<_> = processes.iter().filter(|process| process.leads(now)).collect();
        most = most.max(leaders.len());
        if let Some(first) = leaders.first()
            && leader != Some(first.identity)
        {
            (leader, changes) = (Some(first.identity), changes + 1);
        }
    }
    (most, changes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn there_are_never_two_leaders(events in events()) {
        prop_assert!(play(&events).0 <= 1);
    }
}

#[test]
fn the_simulation_sees_leaders_change() {
    use proptest::{strategy::ValueTree as _, test_runner::TestRunner};

    let mut runner = TestRunner::deterministic();
    let games = (0..50).map(|_| play(&events().new_tree(&mut runner).unwrap().current()));
    let changes: usize = games.map(|(_, changes)| changes).sum();
    assert!(changes > 50, "{changes} changes in 50 games");
}
