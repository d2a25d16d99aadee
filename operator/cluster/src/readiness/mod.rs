//! Whether an object is ready, from its own status.
//!
//! The rules are those of kstatus, which Flux and kubectl's appliers follow too:
//!
//! 1. an object with a `deletionTimestamp` is being deleted;
//! 2. one whose `observedGeneration` is not its `generation` waits for its controller;
//! 3. `Reconciling` and `Stalled` conditions decide when they are true;
//! 4. built-in kinds have rules of their own, told apart by group and kind;
//! 5. elsewhere a `Ready` condition decides, and an object without one is ready because it exists.
//!
//! Two answers differ on purpose:
//!
//! - A Job is ready when it is complete or suspended. To kstatus it is as soon as it runs, which is no use to
//!   those who wait for its work. Flux has the same rule.
//! - An unschedulable Pod stays in progress. kstatus fails it 15 seconds after its creation; there is no clock
//!   here, so that an object always has one answer, and a node may still come.
//!
//! Where kstatus cannot read a field, its callers see an unknown status and wait on; so do we.

mod fields;
mod kinds;
mod pods;
mod replicas;

use serde_json::Value;

use self::fields::{Malformed, Observed, field, integer};

/// The longest phrase, in characters: what fits into a condition next to those of other objects.
const PHRASE_CHARACTERS: usize = 1024;

/// What an object's own status says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It does what its spec asks for.
    Ready,
    /// It may become ready by itself; the phrase says what it waits for.
    InProgress(String),
    /// It will not become ready by itself; the phrase says why.
    Failed(String),
    /// It is being deleted.
    Deleted,
}

/// The readiness of an object as it was read from a cluster, with its status.
///
/// It depends on the object alone: neither on the clock nor on other objects. Any JSON is answered; what is
/// not an object of Kubernetes is in progress. A phrase is one line of at most 1024 characters.
#[must_use]
pub fn readiness(object: &Value) -> Readiness {
    match judge(object) {
        Ok(Readiness::InProgress(what)) => Readiness::InProgress(phrase(&what)),
        Ok(Readiness::Failed(why)) => Readiness::Failed(phrase(&why)),
        Ok(other) => other,
        Err(malformed) => Readiness::InProgress(phrase(&malformed.to_string())),
    }
}

fn judge(object: &Value) -> Result<Readiness, Malformed> {
    if is_being_deleted(object)? {
        return Ok(Readiness::Deleted);
    }
    if let Some(what) = unobserved_change(object)? {
        return Ok(Readiness::InProgress(what));
    }
    let observed = Observed::read(object)?;
    let decided = standard_conditions(&observed);
    Ok(decided
        .unwrap_or_else(|| kinds::rule(object).map_or_else(|| general(&observed), |rule| rule(&observed))))
}

fn is_being_deleted(object: &Value) -> Result<bool, Malformed> {
    const PATH: &str = "metadata.deletionTimestamp";
    match field(object, PATH)? {
        None => Ok(false),
        Some(Value::String(time)) => Ok(!time.is_empty()),
        Some(other) => Err(Malformed::new(PATH, other, "a string")),
    }
}

fn unobserved_change(object: &Value) -> Result<Option<String>, Malformed> {
    let Some(generation) = integer(object, "metadata.generation")? else { return Ok(None) };
    let seen = integer(object, "status.observedGeneration")?.filter(|seen| *seen != generation);
    Ok(seen.map(|seen| format!("Observed generation: {seen}, latest: {generation}")))
}

/// The conditions that mean the same on every kind. They are there only while something is off.
fn standard_conditions(observed: &Observed<'_>) -> Option<Readiness> {
    observed.conditions().iter().find_map(|condition| match (condition.kind, condition.status) {
        ("Reconciling", "True") => Some(Readiness::InProgress(condition.explain())),
        ("Stalled", "True") => Some(Readiness::Failed(condition.explain())),
        _ => None,
    })
}

/// The rule for kinds without one of their own. That Ready is False does not tell whether it will stay so.
fn general(observed: &Observed<'_>) -> Readiness {
    let mut ready = observed.conditions().iter().filter(|condition| condition.kind == "Ready");
    let decided = ready.find_map(|condition| match condition.status {
        "True" => Some(Readiness::Ready),
        "False" | "Unknown" => Some(Readiness::InProgress(condition.explain())),
        _ => None,
    });
    decided.unwrap_or(Readiness::Ready)
}

/// One line without surplus blanks, cut where it is too long.
fn phrase(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().nth(PHRASE_CHARACTERS).is_none() {
        return line;
    }
    line.chars().take(PHRASE_CHARACTERS - 1).chain(['…']).collect()
}
