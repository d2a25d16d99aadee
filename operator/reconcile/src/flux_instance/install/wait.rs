//! Waiting for what was applied: meanwhile the status says what is waited for, and what drifts is put right.

use std::{
    future::{Future, pending},
    pin::pin,
    time::Duration,
};

use crds::ObjectId;
use manifests::{flux_instance::Build, order::Stage};
use operator_cluster::{
    explain,
    readiness::{Readiness, readiness},
    wait::{Deadline, Pending, WaitError, until_ready},
};
use serde_json::Value;
use tokio::time::{Instant, sleep_until};
use tracing::debug;

use super::{InstallError, Work, is_sync};
use crate::flux_instance::{
    now,
    pass::{Pass, PassError},
    repair::warn_of_drift,
};

/// How long definitions, namespaces and classes may take to be usable.
const STAGE_TIMEOUT: Duration = Duration::from_mins(1);

/// The shortest time between two writes of what is waited for: every one is seen by all who watch instances.
const TELL_INTERVAL: Duration = Duration::from_secs(10);

/// The most objects that are named while a pass waits.
const NAMED_WAITS: usize = 3;

/// How a wait ended.
enum Waited {
    Ready,
    Ended,
}

impl Pass<'_> {
    /// Waits until what later stages need is usable.
    pub(super) async fn wait_until_usable(
        &mut self,
        live: &[Value],
        stage: Stage,
    ) -> Result<(), InstallError> {
        match self.wait_for(live, Deadline::after(STAGE_TIMEOUT), pending()).await {
            Ok(_) => Ok(()),
            Err(source) => Err(InstallError::Stage { stage: stage_name(stage), source }),
        }
    }

    /// Waits until everything that was applied is ready. What is suspended never gets there, and is not waited for.
    pub(super) async fn wait(&mut self, work: &mut Work<'_>) -> Result<(), InstallError> {
        let (reconciler, deadline) = (self.reconciler, Deadline::after(self.timeout()));
        loop {
            let is_unready =
                |object: &&Value| readiness(object) != Readiness::Ready && !is_suspended_sync(object);
            let unready: Vec<Value> = work.live.iter().filter(is_unready).cloned().collect();
            match self.wait_for(&unready, deadline, reconciler.drift_is_due()).await? {
                Waited::Ready => return Ok(()),
                Waited::Ended => {
                    if let Err(problem) = self.put_back(work).await {
                        reconciler.give_up_drift();
                        warn_of_drift(&problem);
                    }
                }
            }
        }
    }

    /// Puts right what drifted since the last pass.
    pub(in crate::flux_instance) async fn repair(&mut self, built: &Build) -> Result<(), PassError> {
        let mut work = Work::new(built, self.status().inventory.unwrap_or_default());
        self.put_back(&mut work).await
    }

    async fn wait_for(
        &mut self,
        objects: &[Value],
        deadline: Deadline,
        end: impl Future<Output = ()>,
    ) -> Result<Waited, WaitError> {
        let (reconciler, pending) = (self.reconciler, Pending::default());
        let waited = async {
            tokio::select! {
                done = until_ready(&reconciler.kinds, objects, deadline, &pending) => done.map(|()| Waited::Ready),
                () = end => Ok(Waited::Ended),
            }
        };
        self.telling(&pending, waited).await
    }

    /// Waits, and tells meanwhile what is waited for.
    pub(in crate::flux_instance) async fn telling<T>(
        &mut self,
        pending: &Pending,
        wait: impl Future<Output = T>,
    ) -> T {
        let mut wait = pin!(wait);
        loop {
            tokio::select! {
                done = &mut wait => return done,
                () = sleep_until(self.told + TELL_INTERVAL) => self.tell_waiting(pending).await,
            }
        }
    }

    async fn tell_waiting(&mut self, pending: &Pending) {
        self.told = Instant::now();
        self.observed.now = now();
        let Some(what) = pending.describe(NAMED_WAITS) else { return };
        let message = self.with_missing_secrets(format!("Waiting for {what}")).await;
        let status = self.observed.waiting(&self.status(), &message);
        if let Some(status) = status
            && let Err(problem) = self.write(status).await
        {
            debug!(error = explain(&problem), "the status does not tell what is waited for");
        }
    }

    /// Puts right what drifted and is due.
    async fn put_back(&mut self, work: &mut Work<'_>) -> Result<(), PassError> {
        let due = self.reconciler.due_drift();
        let objects: Vec<&Value> =
            work.built.objects.iter().filter(|object| due.contains(&ObjectId::of(object))).collect();
        if objects.is_empty() {
            return Ok(());
        }
        self.record_losses(work, &objects).await?;
        match self.apply(work, objects.clone()).await {
            Ok(live) => work.see(live),
            Err(problem) => {
                warn_of_drift(&problem);
                return Ok(());
            }
        }
        self.write_inventory(work).await?;
        self.tell_repair(work, &objects).await;
        Ok(())
    }
}

/// Whether an object of the sync is suspended, by the instance or by `flux suspend`.
fn is_suspended_sync(object: &Value) -> bool {
    is_sync(object) && object.pointer("/spec/suspend").and_then(Value::as_bool) == Some(true)
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Definitions => "CustomResourceDefinitions, Namespaces and ClusterRoles",
        Stage::Classes => "classes",
        Stage::Rest => "objects",
    }
}
