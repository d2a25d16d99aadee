//! What every test of a `FluxInstance` begins with.

use std::{process::Output, time::Duration};

use crds::{
    DEFAULT_NAMESPACE, FluxInstance, INSTANCE_NAME,
    conditions::READY,
    definitions,
    status::{Condition, ConditionStatus},
};
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::{
    ControlPlane, ObjectError, Operator, OperatorOptions, apply, apply_yaml, error::BedError,
    operator_binary, wait_for,
};

/// A control plane with our definitions, the namespace of Flux, and a running operator.
pub struct Installation {
    /// The operator; it can be killed and started anew.
    pub operator: Operator,
    /// The connection of an administrator.
    pub client: Client,
    /// The control plane.
    pub plane: ControlPlane,
}

/// Why there is no installation.
#[derive(Debug, thiserror::Error)]
pub enum InstallationError {
    /// The control plane or the operator did not start.
    #[error(transparent)]
    Bed(#[from] BedError),
    /// The definitions or the namespace could not be created.
    #[error(transparent)]
    Object(#[from] ObjectError),
}

impl Installation {
    /// Starts all of it.
    ///
    /// # Errors
    /// When a part does not start, or the definitions are refused.
    pub async fn start(name: &str) -> Result<Self, InstallationError> {
        let plane = ControlPlane::start(name).await?;
        let client = plane.client().await?;
        install_definitions(&client).await?;
        let operator = Operator::start(&plane, OperatorOptions::default())?;
        Ok(Self { operator, client, plane })
    }

    /// The instances of the operator's namespace.
    #[must_use]
    pub fn instances(&self) -> Api<FluxInstance> {
        Api::namespaced(self.client.clone(), DEFAULT_NAMESPACE)
    }

    /// Runs a command of the binary against the cluster.
    ///
    /// # Panics
    /// When it cannot be run.
    pub async fn command(&self, arguments: &[&str]) -> Output {
        let binary = operator_binary().unwrap_or_else(|error| panic!("{error}"));
        let output =
            Command::new(binary).args(arguments).env("KUBECONFIG", self.plane.kubeconfig()).output().await;
        output.unwrap_or_else(|error| panic!("the command did not run: {error}"))
    }

    /// Creates the instance, or gives it a new spec: the fields override those of the smallest instance.
    ///
    /// # Panics
    /// When the API server refuses it.
    pub async fn apply(&self, fields: &Value) -> FluxInstance {
        let mut spec = json!({"distribution": {"version": "2.x", "registry": "ghcr.io/fluxcd"}});
        for (field, value) in fields.as_object().into_iter().flatten() {
            spec[field] = value.clone();
        }
        let object = json!({
            "apiVersion": "fluxcd.controlplane.io/v1",
            "kind": "FluxInstance",
            "metadata": {"name": INSTANCE_NAME},
            "spec": spec,
        });
        let parameters = PatchParams::apply("a-user").force();
        let applied = self.instances().patch(INSTANCE_NAME, &parameters, &Patch::Apply(&object)).await;
        applied.unwrap_or_else(|error| panic!("the instance was refused: {error}"))
    }

    /// Sets or, with null, removes an annotation of the instance.
    ///
    /// # Panics
    /// When the API server refuses it.
    pub async fn annotate(&self, key: &str, value: Value) {
        let patch = json!({"metadata": {"annotations": {key: value}}});
        let annotated =
            self.instances().patch(INSTANCE_NAME, &PatchParams::default(), &Patch::Merge(&patch)).await;
        annotated.unwrap_or_else(|error| panic!("the annotation was refused: {error}"));
    }

    /// Waits until the instance, as of its latest generation, has a Ready condition with this reason.
    ///
    /// # Panics
    /// When it does not within the deadline: with its conditions and the end of the operator's log.
    pub async fn wait_for_reason(&self, reason: &str, within: Duration) -> FluxInstance {
        let has_reason = |instance: &FluxInstance| {
            ready(instance).is_some_and(|ready| {
                ready.reason == reason && ready.observed_generation == instance.metadata.generation
            })
        };
        let found = wait_for(&self.instances(), INSTANCE_NAME, has_reason, within).await;
        found.unwrap_or_else(|error| panic!("no {reason}: {error}\n{}", self.operator.log_tail()))
    }

    /// Waits until the instance is ready.
    ///
    /// # Panics
    /// When it is not within the deadline.
    pub async fn wait_until_ready(&self, within: Duration) -> FluxInstance {
        let instance = self.wait_for_reason("ReconciliationSucceeded", within).await;
        assert_eq!(ready(&instance).map(|ready| ready.status), Some(ConditionStatus::True));
        instance
    }
}

/// The Ready condition of an instance.
#[must_use]
pub fn ready(instance: &FluxInstance) -> Option<&Condition> {
    instance.status.as_ref()?.conditions.iter().find(|condition| condition.type_ == READY)
}

/// Installs our definitions, and the namespace of Flux.
///
/// # Errors
/// When the API server refuses one of them.
///
/// # Panics
/// When a definition is no JSON, which the tests of `crds` exclude.
pub async fn install_definitions(client: &Client) -> Result<(), ObjectError> {
    for definition in definitions() {
        let object = serde_json::to_value(&definition.definition).expect("a definition is JSON");
        apply(client, object).await?;
    }
    let namespace = format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: {DEFAULT_NAMESPACE}}}}}");
    apply_yaml(client, &namespace).await?;
    Ok(())
}
