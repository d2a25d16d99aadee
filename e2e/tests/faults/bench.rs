//! One turn on the shared control plane: a proxy, an operator behind it that is started again when it ends, and
//! the administrator's client, which goes past the proxy.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crds::status::{Condition, ConditionStatus};
use crds::{DEFAULT_NAMESPACE, FluxInstance, INSTANCE_NAME, conditions::READY};
use e2e::proxy::FaultProxy;
use e2e::{
    ControlPlane, Operator, OperatorOptions, SharedPlane, apply, install_definitions, wait_for,
    wait_until_gone,
};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use kube::{Client, core::DynamicObject};
use serde_json::{Value, json};
use tokio::sync::{Mutex as Turn, MutexGuard};
use tokio::task::AbortHandle;

use crate::LONG;
use crate::snapshot::owned;

static PLANE: SharedPlane = SharedPlane::new("faults");
/// There is one instance in a cluster, and definitions are for all namespaces.
static TURN: Turn<()> = Turn::const_new(());

/// Components of the first spec; the second has no notification-controller.
pub(crate) const ALL: [&str; 4] =
    ["source-controller", "kustomize-controller", "helm-controller", "notification-controller"];
/// How often an operator is started before something is wrong: more often than a life has writes.
const MOST_STARTS: usize = 200;
/// How many requests a message shows.
const SHOWN: usize = 12;

pub(crate) struct Bench {
    pub(crate) client: Client,
    pub(crate) proxy: FaultProxy,
    pub(crate) operators: Arc<Operators>,
    supervisor: AbortHandle,
    _turn: MutexGuard<'static, ()>,
}

/// The operators of one turn: one runs, the others have ended.
pub(crate) struct Operators {
    plane: &'static ControlPlane,
    options: OperatorOptions,
    started: Mutex<Vec<Arc<Operator>>>,
}

impl Bench {
    /// Waits for its turn, and starts an operator on a cluster that holds nothing of earlier turns.
    pub(crate) async fn start() -> Self {
        Self::start_with(Vec::new()).await
    }

    /// The same, with arguments for the operator.
    pub(crate) async fn start_with(arguments: Vec<String>) -> Self {
        let turn = TURN.lock().await;
        let plane = PLANE.get().await.unwrap();
        let client = plane.client().await.unwrap();
        install_definitions(&client).await.unwrap();
        remove_leftovers(&client).await;
        forget_namespace(&client).await;
        let proxy = FaultProxy::start(plane).await.unwrap();
        let options = OperatorOptions {
            kubeconfig: Some(proxy.kubeconfig().to_owned()),
            arguments,
            // The same pod all the time, so that it goes on with its own lease.
            environment: BTreeMap::from([("HOSTNAME".to_owned(), "flux-operator-0".to_owned())]),
            ..OperatorOptions::default()
        };
        let operators = Arc::new(Operators { plane, options, started: Mutex::default() });
        operators.start();
        let supervisor = tokio::spawn(supervise(operators.clone())).abort_handle();
        Self { client, proxy, operators, supervisor, _turn: turn }
    }

    pub(crate) fn instances(&self) -> Api<FluxInstance> {
        Api::namespaced(self.client.clone(), DEFAULT_NAMESPACE)
    }

    /// Applies the instance with these components and annotations.
    pub(crate) async fn apply(&self, components: &[&str], annotations: Value) -> FluxInstance {
        let object = json!({
            "apiVersion": "fluxcd.controlplane.io/v1",
            "kind": "FluxInstance",
            "metadata": {"name": INSTANCE_NAME, "namespace": DEFAULT_NAMESPACE, "annotations": annotations},
            "spec": {
                "distribution": {"version": "2.x", "registry": "ghcr.io/fluxcd"},
                "components": components,
            },
        });
        let applied = apply(&self.client, object).await.unwrap();
        serde_json::from_value(serde_json::to_value(applied).unwrap()).unwrap()
    }

    /// Waits until the instance is ready in its latest generation.
    pub(crate) async fn wait_until_ready(&self) -> FluxInstance {
        let is_ready = |instance: &FluxInstance| {
            ready(instance).is_some_and(|ready| {
                ready.status == ConditionStatus::True
                    && ready.observed_generation == instance.metadata.generation
            })
        };
        let found = wait_for(&self.instances(), INSTANCE_NAME, is_ready, LONG).await;
        found.unwrap_or_else(|error| panic!("{error}\n{}", self.explain()))
    }

    /// Waits until nothing but watches is going on.
    pub(crate) async fn wait_until_quiet(&self, quiet: Duration) {
        let ended = self.proxy.wait_until_quiet(quiet, LONG).await;
        ended.unwrap_or_else(|error| panic!("{error}\n{}", self.explain()));
    }

    /// Deletes the instance and waits until it is gone, and with it everything of Flux but the namespace.
    pub(crate) async fn uninstall(&self) {
        self.instances().delete(INSTANCE_NAME, &DeleteParams::default()).await.unwrap();
        let gone = wait_until_gone(&self.instances(), INSTANCE_NAME, LONG).await;
        gone.unwrap_or_else(|error| panic!("{error}\n{}", self.explain()));
        let left = owned(&self.client).await.into_keys().filter(|id| id.kind != "Namespace");
        let left: Vec<String> = left.map(|id| id.to_string()).collect();
        assert!(left.is_empty(), "the instance is gone, and these are left: {left:?}\n{}", self.explain());
    }

    /// The end of the operator's log and the last requests, for a message.
    pub(crate) fn explain(&self) -> String {
        let seen = self.proxy.since(self.proxy.mark().saturating_sub(SHOWN));
        let seen: Vec<String> = seen.iter().map(ToString::to_string).collect();
        format!("{}\nthe last requests:\n{}", self.operators.current().log_tail(), seen.join("\n"))
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.supervisor.abort();
        self.operators.current().kill();
    }
}

impl Operators {
    /// The one that was started last.
    pub(crate) fn current(&self) -> Arc<Operator> {
        self.started.lock().unwrap().last().unwrap().clone()
    }

    /// How many were started so far.
    pub(crate) fn count(&self) -> usize {
        self.started.lock().unwrap().len()
    }

    fn start(&self) {
        let operator = Operator::start(self.plane, self.options.clone()).unwrap();
        self.started.lock().unwrap().push(Arc::new(operator));
    }
}

/// Starts the operator again when it ends, as a node does.
async fn supervise(operators: Arc<Operators>) {
    for _ in 0..MOST_STARTS {
        while operators.current().wait_for_exit(LONG).await.is_err() {}
        operators.start();
    }
}

/// The Ready condition.
pub(crate) fn ready(instance: &FluxInstance) -> Option<&Condition> {
    instance.status.as_ref()?.conditions.iter().find(|condition| condition.type_ == READY)
}

/// Removes what a failed test left: nothing of it is worth keeping.
async fn remove_leftovers(client: &Client) {
    let instances = Api::<FluxInstance>::namespaced(client.clone(), DEFAULT_NAMESPACE);
    if instances.get_opt(INSTANCE_NAME).await.unwrap().is_some() {
        let free = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        instances.patch(INSTANCE_NAME, &PatchParams::default(), &free).await.unwrap();
        instances.delete(INSTANCE_NAME, &DeleteParams::default()).await.unwrap();
        wait_until_gone(&instances, INSTANCE_NAME, LONG).await.unwrap();
    }
    for (id, object) in owned(client).await {
        let kind = kube::core::GroupVersionKind::try_from(kube::core::TypeMeta {
            api_version: object["apiVersion"].as_str().unwrap_or_default().to_owned(),
            kind: id.kind.clone(),
        });
        let (resource, _) = kube::discovery::pinned_kind(client, &kind.unwrap()).await.unwrap();
        let api: Api<DynamicObject> = if id.namespace.is_empty() {
            Api::all_with(client.clone(), &resource)
        } else {
            Api::namespaced_with(client.clone(), &id.namespace, &resource)
        };
        if id.kind != "Namespace" {
            let _ = api.delete(&id.name, &DeleteParams::background()).await;
            wait_until_gone_dynamic(&api, &id.name).await;
        }
    }
}

/// The namespace survives an uninstallation, with what was written on it: takes that away, as if it were new.
async fn forget_namespace(client: &Client) {
    let namespaces = Api::<Namespace>::all(client.clone());
    let namespace = namespaces.get(DEFAULT_NAMESPACE).await.unwrap();
    let absent = |keys: Option<BTreeMap<String, String>>| -> BTreeMap<String, Option<String>> {
        keys.unwrap_or_default().into_keys().map(|key| (key, None)).collect()
    };
    let patch = json!({"metadata": {
        "labels": absent(namespace.metadata.labels),
        "annotations": absent(namespace.metadata.annotations),
        "managedFields": [{}],
    }});
    namespaces.patch(DEFAULT_NAMESPACE, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
}

async fn wait_until_gone_dynamic(api: &Api<DynamicObject>, name: &str) {
    let gone = async { while api.get_metadata_opt(name).await.unwrap().is_some() {} };
    tokio::time::timeout(LONG, gone).await.unwrap();
}
