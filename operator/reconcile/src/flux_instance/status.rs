//! What a pass writes into the status. Everything here is a function of the old status.

use crds::{
    FluxInstanceStatus, conditions,
    status::{Condition, ConditionStatus, Inventory, MAX_HISTORY, Snapshot},
};
use manifests::flux_instance::Build;

use crate::conditions::{Conditions, find};

/// When and on what a pass acts.
#[derive(Clone, Debug)]
pub(super) struct Observed {
    /// Generation of the spec.
    pub(super) generation: Option<i64>,
    /// Value of the annotation that asked for the pass.
    pub(super) requested_at: Option<String>,
    /// The time, in RFC 3339.
    pub(super) now: String,
}

/// What a pass did, for the history.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    /// Digest of the desired state, `sha256:<hex>`.
    pub(super) digest: String,
    /// How long it took, as a Go duration.
    pub(super) duration: String,
    /// The version of Flux, when there is one.
    pub(super) version: Option<String>,
}

/// The conditions of an instance that cannot be read.
pub(super) fn unreadable(generation: Option<i64>, message: &str) -> Vec<Condition> {
    let (mut list, now) = (Vec::new(), super::now());
    let mut conditions = Conditions { list: &mut list, generation, now: &now };
    conditions.set(conditions::READY, ConditionStatus::False, conditions::BUILD_FAILED, message);
    conditions.set(conditions::STALLED, ConditionStatus::True, conditions::BUILD_FAILED, message);
    list
}

impl Observed {
    /// Nothing is left to do for this spec and request.
    pub(super) fn is_done(&self, status: &FluxInstanceStatus) -> bool {
        let ready = find(&status.conditions, conditions::READY);
        ready.is_some_and(|ready| {
            ready.observed_generation == self.generation && ready.status == ConditionStatus::True
        }) && self.is_handled(status)
    }

    /// The request that asked for the pass has been acted on.
    pub(super) fn is_handled(&self, status: &FluxInstanceStatus) -> bool {
        self.requested_at.is_none() || self.requested_at == status.last_handled_reconcile_at
    }

    /// The status says that already, of this generation.
    pub(super) fn says(&self, status: &FluxInstanceStatus, reason: &str, message: &str) -> bool {
        find(&status.conditions, conditions::READY).is_some_and(|ready| {
            ready.reason == reason && ready.message == message && ready.observed_generation == self.generation
        })
    }

    /// The status before anything is created: what may exist from now on, and what is going on. A retry of a
    /// failed state keeps its words; a pass that was given up is no failure.
    pub(super) fn progressing(
        &self,
        old: &FluxInstanceStatus,
        revision: &str,
        message: &str,
        inventory: Inventory,
    ) -> FluxInstanceStatus {
        let mut status = FluxInstanceStatus { inventory: Some(inventory), ..old.clone() };
        let is_retry = old.last_attempted_revision.as_deref() == Some(revision)
            && find(&old.conditions, conditions::READY).is_some_and(|ready| {
                ready.status == ConditionStatus::False
                    && ready.observed_generation == self.generation
                    && ready.reason != conditions::HEALTH_CHECK_CANCELED
            });
        status.last_attempted_revision = Some(revision.to_owned());
        let mut conditions = self.conditions(&mut status);
        conditions.remove(conditions::STALLED);
        if is_retry {
            return status;
        }
        conditions.set(conditions::READY, ConditionStatus::Unknown, conditions::PROGRESSING, message);
        conditions.set(conditions::RECONCILING, ConditionStatus::True, conditions::PROGRESSING, message);
        status
    }

    /// The status while the pass waits; none when it is not new, or the last pass failed and its words stay.
    pub(super) fn waiting(&self, old: &FluxInstanceStatus, message: &str) -> Option<FluxInstanceStatus> {
        let ready = find(&old.conditions, conditions::READY)?;
        if ready.status != ConditionStatus::Unknown || ready.message == message {
            return None;
        }
        let mut status = old.clone();
        let mut conditions = self.conditions(&mut status);
        conditions.set(conditions::READY, ConditionStatus::Unknown, conditions::PROGRESSING, message);
        conditions.set(conditions::RECONCILING, ConditionStatus::True, conditions::PROGRESSING, message);
        Some(status)
    }

    /// The status after a failure that the next try may cure.
    pub(super) fn failed(
        &self,
        old: &FluxInstanceStatus,
        reason: &str,
        message: &str,
        attempt: Option<&Attempt>,
    ) -> FluxInstanceStatus {
        let mut status = self.handled(old);
        if let Some(attempt) = attempt {
            self.remember(&mut status.history, attempt, reason);
        }
        let mut conditions = self.conditions(&mut status);
        conditions.remove(conditions::STALLED);
        conditions.set(conditions::READY, ConditionStatus::False, reason, message);
        conditions.set(
            conditions::RECONCILING,
            ConditionStatus::True,
            conditions::PROGRESSING_WITH_RETRY,
            "the last pass failed and is tried again",
        );
        status
    }

    /// The status when nothing but a change of the spec can help.
    pub(super) fn stalled(
        &self,
        old: &FluxInstanceStatus,
        message: &str,
        attempt: &Attempt,
    ) -> FluxInstanceStatus {
        let mut status = self.handled(old);
        self.remember(&mut status.history, attempt, conditions::BUILD_FAILED);
        let mut conditions = self.conditions(&mut status);
        conditions.remove(conditions::RECONCILING);
        conditions.set(conditions::READY, ConditionStatus::False, conditions::BUILD_FAILED, message);
        conditions.set(conditions::STALLED, ConditionStatus::True, conditions::BUILD_FAILED, message);
        status
    }

    /// The status when the cluster is as declared.
    pub(super) fn ready(
        &self,
        old: &FluxInstanceStatus,
        build: &Build,
        message: &str,
        attempt: &Attempt,
    ) -> FluxInstanceStatus {
        let mut status = self.handled(old);
        status.last_attempted_revision = Some(build.revision());
        status.last_applied_revision = Some(build.revision());
        status.components.clone_from(&build.components);
        self.remember(&mut status.history, attempt, conditions::RECONCILIATION_SUCCEEDED);
        let mut conditions = self.conditions(&mut status);
        conditions.remove(conditions::RECONCILING);
        conditions.remove(conditions::STALLED);
        conditions.set(
            conditions::READY,
            ConditionStatus::True,
            conditions::RECONCILIATION_SUCCEEDED,
            message,
        );
        status
    }

    /// The status while Flux is being removed.
    pub(super) fn uninstalling(&self, old: &FluxInstanceStatus) -> FluxInstanceStatus {
        let mut status = old.clone();
        let is_retry = find(&old.conditions, conditions::READY).is_some_and(|ready| {
            ready.observed_generation == self.generation
                && ready.message.starts_with(conditions::UNINSTALLATION_UNFINISHED)
        });
        if is_retry {
            return status;
        }
        let message = "Uninstalling Flux";
        let mut conditions = self.conditions(&mut status);
        conditions.remove(conditions::STALLED);
        conditions.set(conditions::READY, ConditionStatus::Unknown, conditions::PROGRESSING, message);
        conditions.set(conditions::RECONCILING, ConditionStatus::True, conditions::PROGRESSING, message);
        status
    }

    /// The status of an instance that was created while its reconciliation was disabled.
    pub(super) fn disabled(&self, old: &FluxInstanceStatus) -> FluxInstanceStatus {
        let mut status = old.clone();
        if find(&status.conditions, conditions::READY).is_none() {
            self.conditions(&mut status).set(
                conditions::READY,
                ConditionStatus::True,
                conditions::RECONCILIATION_DISABLED,
                "Reconciliation is disabled",
            );
        }
        status
    }

    fn handled(&self, old: &FluxInstanceStatus) -> FluxInstanceStatus {
        let mut status = old.clone();
        if self.requested_at.is_some() {
            status.last_handled_reconcile_at.clone_from(&self.requested_at);
        }
        status
    }

    fn conditions<'a>(&'a self, status: &'a mut FluxInstanceStatus) -> Conditions<'a> {
        Conditions { list: &mut status.conditions, generation: self.generation, now: &self.now }
    }

    /// Counts the attempt in the history, newest first.
    fn remember(&self, history: &mut Vec<Snapshot>, attempt: &Attempt, reason: &str) {
        let known = history.iter().position(|snapshot| {
            snapshot.digest == attempt.digest && snapshot.last_reconciled_status == reason
        });
        let known = known.map(|position| history.remove(position));
        let metadata = attempt.version.as_ref().map(|version| [("flux".to_owned(), version.clone())].into());
        history.insert(
            0,
            Snapshot {
                digest: attempt.digest.clone(),
                first_reconciled: known
                    .as_ref()
                    .map_or_else(|| self.now.clone(), |snapshot| snapshot.first_reconciled.clone()),
                last_reconciled: self.now.clone(),
                last_reconciled_duration: attempt.duration.clone(),
                last_reconciled_status: reason.to_owned(),
                total_reconciliations: known.map_or(0, |snapshot| snapshot.total_reconciliations) + 1,
                metadata,
            },
        );
        history.truncate(MAX_HISTORY);
    }
}

#[cfg(test)]
mod tests {
    use crds::{
        FluxInstanceStatus,
        conditions::*,
        status::{ConditionStatus, Inventory},
    };

    use super::{Attempt, Observed};
    use crate::conditions::find;

    fn observed(generation: i64, now: &str) -> Observed {
        Observed { generation: Some(generation), requested_at: None, now: now.to_owned() }
    }

    fn attempt(digest: &str) -> Attempt {
        Attempt { digest: digest.to_owned(), duration: "1s".to_owned(), version: Some("v2.9.5".to_owned()) }
    }

    fn words(status: &FluxInstanceStatus, type_: &str) -> Option<(ConditionStatus, String, String)> {
        find(&status.conditions, type_)
            .map(|condition| (condition.status, condition.reason.clone(), condition.message.clone()))
    }

    #[test]
    fn a_retry_keeps_the_words_of_the_failure() {
        let first = observed(1, "t1").progressing(
            &FluxInstanceStatus::default(),
            "r1",
            "installing",
            Inventory::default(),
        );
        assert_eq!(words(&first, READY).unwrap().0, ConditionStatus::Unknown);
        let failed = observed(1, "t2").failed(&first, RECONCILIATION_FAILED, "no", Some(&attempt("a")));
        let retry = observed(1, "t3").progressing(&failed, "r1", "installing", Inventory::default());
        assert_eq!(words(&retry, READY), words(&failed, READY));
        assert_eq!(words(&retry, RECONCILING).unwrap().1, PROGRESSING_WITH_RETRY);
        let given_up = observed(1, "t2").failed(&first, HEALTH_CHECK_CANCELED, "no", Some(&attempt("a")));
        let next = observed(1, "t3").progressing(&given_up, "r1", "installing", Inventory::default());
        assert_eq!(words(&next, READY).unwrap().1, PROGRESSING, "a pass that was given up is no failure");
        let changed = observed(2, "t4").progressing(&failed, "r1", "installing", Inventory::default());
        assert_eq!(words(&changed, READY).unwrap().1, PROGRESSING);
    }

    #[test]
    fn a_wait_is_told_unless_the_last_pass_failed() {
        let now = |now: &str| observed(1, now);
        let first =
            now("t1").progressing(&FluxInstanceStatus::default(), "r1", "installing", Inventory::default());
        let waiting = now("t2").waiting(&first, "Waiting for a").unwrap();
        let expected = (ConditionStatus::Unknown, PROGRESSING.to_owned(), "Waiting for a".to_owned());
        assert_eq!(words(&waiting, READY), Some(expected));
        assert_eq!(find(&waiting.conditions, READY).unwrap().last_transition_time, "t1");
        assert_eq!(now("t3").waiting(&waiting, "Waiting for a"), None);
        let failed = now("t3").failed(&waiting, RECONCILIATION_FAILED, "no", Some(&attempt("a")));
        assert_eq!(now("t4").waiting(&failed, "Waiting for a"), None);
    }

    #[test]
    fn reconciling_and_stalled_exclude_each_other() {
        let stalled = observed(1, "t").stalled(&FluxInstanceStatus::default(), "bad", &attempt("a"));
        assert!(words(&stalled, STALLED).is_some() && words(&stalled, RECONCILING).is_none());
        let progressing = observed(2, "t").progressing(&stalled, "r", "x", Inventory::default());
        assert!(words(&progressing, STALLED).is_none() && words(&progressing, RECONCILING).is_some());
        let failed = observed(2, "t").failed(&stalled, RECONCILIATION_FAILED, "no", None);
        assert!(words(&failed, STALLED).is_none() && words(&failed, RECONCILING).is_some());
    }

    #[test]
    fn equal_attempts_are_counted_and_the_oldest_fall_out() {
        let mut status = FluxInstanceStatus::default();
        for (round, digest) in ["a", "a", "b", "a"].into_iter().enumerate() {
            status = observed(1, &format!("t{round}")).failed(
                &status,
                RECONCILIATION_FAILED,
                "no",
                Some(&attempt(digest)),
            );
        }
        let history: Vec<_> = status
            .history
            .iter()
            .map(|entry| {
                (entry.digest.as_str(), entry.total_reconciliations, entry.first_reconciled.as_str())
            })
            .collect();
        assert_eq!(history, [("a", 3, "t0"), ("b", 1, "t2")]);
        for digest in ["c", "d", "e", "f"] {
            status = observed(1, "t").failed(&status, RECONCILIATION_FAILED, "no", Some(&attempt(digest)));
        }
        assert_eq!(status.history.len(), 5);
        assert_eq!(status.history[4].digest, "a");
    }

    #[test]
    fn a_request_is_echoed_and_asks_for_a_pass() {
        let requested = Observed { requested_at: Some("now".to_owned()), ..observed(1, "t") };
        let failed = requested.failed(&FluxInstanceStatus::default(), RECONCILIATION_FAILED, "no", None);
        assert_eq!(failed.last_handled_reconcile_at.as_deref(), Some("now"));
        let mut ready = failed;
        observed(1, "t").conditions(&mut ready).set(READY, ConditionStatus::True, "x", "x");
        assert!(requested.is_done(&ready));
        assert!(!Observed { requested_at: Some("later".to_owned()), ..requested }.is_done(&ready));
        assert!(!observed(2, "t").is_done(&ready));
    }

    #[test]
    fn an_instance_that_is_created_disabled_is_ready() {
        let status = observed(1, "t").disabled(&FluxInstanceStatus::default());
        assert_eq!(words(&status, READY).unwrap().1, RECONCILIATION_DISABLED);
        let failed =
            observed(1, "t").failed(&FluxInstanceStatus::default(), RECONCILIATION_FAILED, "no", None);
        assert_eq!(observed(1, "t").disabled(&failed), failed);
    }
}
