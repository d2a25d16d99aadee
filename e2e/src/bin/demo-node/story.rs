//! What is shown, step by step.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crds::{DEFAULT_NAMESPACE, FluxInstance, INSTANCE_NAME};
use e2e::{GitServer, Helm, NODE_ADDRESS, Node, has_condition, wait_for, wait_for_any, wait_until_gone};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::{Api, Client, Resource, ResourceExt as _};
use serde_json::json;

use crate::helm::{self, Charts};
use crate::{Outcome, file};

const OPERATOR: &str = "flux-operator";
const APP: &str = "hello";
const REPOSITORY: &str = "fleet";
/// A change of the cluster that takes seconds on idle cores.
const DEADLINE: Duration = Duration::from_mins(2);
/// What the operator promises for a change by hand.
const REPAIRED_WITHIN: Duration = Duration::from_secs(5);

/// Prints what happened, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock(Instant);

impl Clock {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    fn say(self, what: &str) {
        println!("{:>6.1} s  {what}", self.0.elapsed().as_secs_f64());
    }
}

pub(crate) struct Story {
    node: Node,
    client: Client,
    git: GitServer,
    helm: Helm,
    charts: Charts,
    clock: Clock,
}

impl Story {
    /// Begins on a node that has just started.
    pub(crate) async fn start(node: Node, charts: Charts, clock: Clock) -> Outcome<Self> {
        let client = node.client().await?;
        let version = client.apiserver_version().await?.git_version;
        clock.say(&format!("A node is up: Kubernetes {version}, containerd, kube-proxy, CoreDNS."));
        let git = GitServer::start_at(NODE_ADDRESS).await?;
        let helm = Helm::get().await?;
        Ok(Self { node, client, git, helm, charts, clock })
    }

    /// Shows everything; when something is not so, says what the pods of the node do.
    pub(crate) async fn tell(mut self) -> Outcome {
        let outcome = Box::pin(self.steps()).await;
        if outcome.is_err() {
            eprintln!("{}", self.node.report().await);
        }
        outcome
    }

    async fn steps(&mut self) -> Outcome {
        Box::pin(self.install()).await?;
        Box::pin(self.lose_operator()).await?;
        Box::pin(self.lose_agent()).await?;
        self.edit_by_hand().await?;
        Box::pin(self.uninstall()).await
    }

    async fn install(&self) -> Outcome {
        let kubeconfig = self.node.kubeconfig();
        let package = self.charts.operator.to_string_lossy();
        helm::install(&self.helm, &kubeconfig, &[OPERATOR, &package]).await?;
        self.clock.say("Helm has installed chart flux-operator, and the pod of the operator is ready.");

        self.commit(1).await?;
        let package = self.charts.instance.to_string_lossy();
        let values = file("node/values.yaml");
        let url = format!("instance.sync.url={}", self.git.url(REPOSITORY));
        let arguments = [INSTANCE_NAME, &package, "--values", &values.to_string_lossy(), "--set", &url];
        helm::install(&self.helm, &kubeconfig, &arguments).await?;
        let instances: Api<FluxInstance> = Api::namespaced(self.client.clone(), DEFAULT_NAMESPACE);
        let instance = wait_for(&instances, INSTANCE_NAME, has_condition("Ready", "True"), DEADLINE).await?;
        let status = instance.status.unwrap_or_default();
        let revision = status.last_applied_revision.unwrap_or_default();
        self.clock.say(&format!("Helm has installed chart flux-instance, and Flux {revision} is ready:"));
        for component in status.components {
            println!("          {}:{}", component.repository, component.tag);
        }
        self.app_has(1).await?;
        self.clock.say("The app from Git runs in a pod of its own.");
        Ok(())
    }

    async fn lose_operator(&self) -> Outcome {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), DEFAULT_NAMESPACE);
        let selected = ListParams::default().labels("app.kubernetes.io/name=flux-operator");
        let operator = pods.list(&selected).await?.items.pop().ok_or("the operator has no pod")?;
        pods.delete(&operator.name_any(), &DeleteParams::default().grace_period(0)).await?;
        let lost = Instant::now();
        self.clock.say("The operator's pod is killed, and Git gets a commit: two pods of the app.");
        self.commit(2).await?;
        let is_successor = |pod: &Pod| {
            pod.labels().get("app.kubernetes.io/name").is_some_and(|name| name == OPERATOR)
                && pod.uid() != operator.uid()
                && has_condition("Ready", "True")(pod)
        };
        let leases: Api<Lease> = Api::namespaced(self.client.clone(), DEFAULT_NAMESPACE);
        let returned = async {
            let name = wait_for_any(&pods, is_successor, DEADLINE).await?.name_any();
            self.clock.say(&format!("Pod {name} is ready, {} s later.", lost.elapsed().as_secs()));
            let is_held = |lease: &Lease| {
                let holder = lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_ref());
                holder.is_some_and(|holder| holder.starts_with(&name))
            };
            wait_for_any(&leases, is_held, DEADLINE).await?;
            self.clock.say("It holds the lease.");
            Ok(())
        };
        let synced = async {
            self.app_has(2).await?;
            self.clock.say("Flux has rolled the commit out.");
            Ok(())
        };
        let (returned, synced): (Outcome, Outcome) = tokio::join!(returned, synced);
        returned.and(synced)
    }

    async fn lose_agent(&mut self) -> Outcome {
        let before = self.containers().await?;
        self.clock.say("kubelet is killed and started again.");
        let took = self.node.restart_agent().await?;
        self.clock.say(&format!("The node is ready again, {:.1} s later.", took.as_secs_f64()));
        self.commit(3).await?;
        self.app_has(3).await?;
        let after = self.containers().await?;
        let lost: Vec<_> = before.difference(&after).collect();
        if !lost.is_empty() {
            return Err(format!("containers did not survive a new kubelet: {lost:?}").into());
        }
        self.clock.say(&format!(
            "All {} containers still run, and a third pod of the app beside them.",
            before.len()
        ));
        Ok(())
    }

    async fn edit_by_hand(&self) -> Outcome {
        let deployments: Api<Deployment> = Api::namespaced(self.client.clone(), DEFAULT_NAMESPACE);
        let parameters =
            PatchParams { field_manager: Some("kubectl-edit".to_owned()), ..PatchParams::default() };
        let patch = Patch::Merge(json!({"spec": {"replicas": 0}}));
        let edited = deployments.patch("source-controller", &parameters, &patch).await?;
        let began = Instant::now();
        self.clock.say("Somebody scales source-controller to nothing.");
        let is_repaired = |deployment: &Deployment| {
            deployment.metadata.generation > edited.metadata.generation
                && deployment.spec.as_ref().is_some_and(|spec| spec.replicas == Some(1))
        };
        wait_for(&deployments, "source-controller", is_repaired, REPAIRED_WITHIN).await?;
        let took = began.elapsed().as_secs_f64();
        self.clock.say(&format!("The operator has put it back after {took:.2} s."));
        wait_for(&deployments, "source-controller", is_available(1), DEADLINE).await?;
        self.clock.say("source-controller is available.");
        Ok(())
    }

    async fn uninstall(&self) -> Outcome {
        let kubeconfig = self.node.kubeconfig();
        let before = self.pods_of_app().await?;
        helm::uninstall(&self.helm, &kubeconfig, INSTANCE_NAME).await?;
        let instances: Api<FluxInstance> = Api::namespaced(self.client.clone(), DEFAULT_NAMESPACE);
        wait_until_gone(&instances, INSTANCE_NAME, DEADLINE).await?;
        self.clock.say("Helm has uninstalled flux-instance, and the FluxInstance is gone.");

        let deployments: Api<Deployment> = Api::namespaced(self.client.clone(), DEFAULT_NAMESPACE);
        let left: Vec<_> = names(&deployments).await?.into_iter().filter(|name| name != OPERATOR).collect();
        let definitions: Api<CustomResourceDefinition> = Api::all(self.client.clone());
        let of_flux = |name: &String| name.ends_with(".toolkit.fluxcd.io");
        let definitions: Vec<_> = names(&definitions).await?.into_iter().filter(of_flux).collect();
        if !left.is_empty() || !definitions.is_empty() {
            return Err(format!("Flux left Deployments {left:?} and definitions {definitions:?}").into());
        }
        helm::uninstall(&self.helm, &kubeconfig, OPERATOR).await?;
        self.app_has(3).await?;
        let after = self.pods_of_app().await?;
        if before != after {
            return Err(format!("the pods of the app changed from {before:?} to {after:?}").into());
        }
        self.clock.say("Flux and the operator are gone; the app runs on in the same pods.");
        Ok(())
    }

    /// Commits the app with a number of pods.
    async fn commit(&self, pods: usize) -> Outcome {
        let app =
            include_str!("../../../node/app/hello.yaml").replace("replicas: 1", &format!("replicas: {pods}"));
        let files = BTreeMap::from([("clusters/demo/hello.yaml".to_owned(), app)]);
        self.git.commit(REPOSITORY, "main", &files).await?;
        Ok(())
    }

    /// Waits until the app has exactly this many pods, and all are available.
    async fn app_has(&self, pods: i32) -> Outcome {
        let deployments: Api<Deployment> = Api::namespaced(self.client.clone(), APP);
        wait_for(&deployments, APP, is_available(pods), DEADLINE).await?;
        Ok(())
    }

    /// The ids of all containers that run.
    async fn containers(&self) -> Outcome<BTreeSet<String>> {
        let pods = Api::<Pod>::all(self.client.clone()).list(&ListParams::default()).await?;
        let statuses = pods.items.into_iter().filter_map(|pod| pod.status?.container_statuses).flatten();
        let running =
            statuses.filter(|status| status.state.as_ref().is_some_and(|state| state.running.is_some()));
        Ok(running.filter_map(|status| status.container_id).collect())
    }

    /// The pods of the app, by their unique ids.
    async fn pods_of_app(&self) -> Outcome<BTreeSet<String>> {
        let pods = Api::<Pod>::namespaced(self.client.clone(), APP).list(&ListParams::default()).await?;
        Ok(pods.items.into_iter().filter_map(|pod| pod.metadata.uid).collect())
    }
}

fn is_available(pods: i32) -> impl Fn(&Deployment) -> bool {
    move |deployment| {
        let Some(status) = &deployment.status else { return false };
        status.observed_generation == deployment.metadata.generation
            && status.replicas == Some(pods)
            && status.available_replicas == Some(pods)
    }
}

async fn names<K>(api: &Api<K>) -> Result<Vec<String>, kube::Error>
where
    K: Resource + Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let objects = api.list(&ListParams::default()).await?;
    Ok(objects.items.iter().map(|object| object.meta().name.clone().unwrap_or_default()).collect())
}
