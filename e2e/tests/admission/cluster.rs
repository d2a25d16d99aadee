//! A control plane with our definitions.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::path::Path;
use std::time::Duration;

use e2e::{SharedPlane, apply_yaml, wait_until_gone};
use futures::FutureExt as _;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams};
use kube::{Client, ResourceExt as _};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;

static PLANE: SharedPlane = SharedPlane::new("admission");

/// Whether our definitions are installed; held by the one test that uses them.
static INSTALLED: Mutex<bool> = Mutex::const_new(false);

/// A definition is served, or gone, in a second; busy cores take longer.
const WITHIN: Duration = Duration::from_secs(30);
/// Between two looks whether a kind is served.
const INTERVAL: Duration = Duration::from_millis(50);

/// The form of everything that is sent, and of most answers.
const JSON: &str = "application/json";

/// The API server, as a client sees it that sends what it likes.
pub(crate) struct Cluster {
    client: Client,
}

/// Runs a test with our definitions installed and no objects, alone. A lent cluster gets rid of them again.
pub(crate) async fn on_cluster(test: impl AsyncFnOnce(&Cluster)) {
    let mut is_installed = INSTALLED.lock().await;
    let plane = PLANE.get().await.unwrap();
    let cluster = Cluster { client: plane.client().await.unwrap() };
    if !*is_installed {
        cluster.install().await;
    }
    let outcome = AssertUnwindSafe(test(&cluster)).catch_unwind().await;
    cluster.clear().await;
    if plane.is_external() {
        cluster.remove().await;
    }
    *is_installed = !plane.is_external();
    outcome.unwrap_or_else(|panic| resume_unwind(panic));
}

impl Cluster {
    /// What the API server makes of a new object, without keeping it, or what it says against it.
    pub(crate) async fn would_create(&self, plural: &str, object: &Value) -> Result<Value, String> {
        self.send("POST", &format!("{}?dryRun=All", path(plural)), object).await
    }

    /// What the API server makes of the new form of an object, without keeping it, or what it says against it.
    pub(crate) async fn would_update(&self, plural: &str, object: &Value) -> Result<Value, String> {
        let name = object["metadata"]["name"].as_str().unwrap();
        self.send("PUT", &format!("{}/{name}?dryRun=All", path(plural)), object).await
    }

    /// Creates an object.
    pub(crate) async fn create(&self, plural: &str, object: &Value) -> Value {
        self.send("POST", &path(plural), object).await.unwrap()
    }

    /// The answer to `kubectl get`.
    pub(crate) async fn table(&self, plural: &str) -> Value {
        self.get(&path(plural), "application/json;as=Table;v=v1;g=meta.k8s.io").await.unwrap()
    }

    /// What `kubectl explain` is told, once it is told of all the kinds.
    pub(crate) async fn documentation(&self, schemas: &[String]) -> Value {
        let path = format!("/openapi/v3/apis/{}/{}", crds::GROUP, crds::VERSION);
        until(&path, async || {
            let answer = self.get(&path, JSON).await.ok()?;
            schemas.iter().all(|name| answer["components"]["schemas"][name].is_object()).then_some(answer)
        })
        .await
    }

    async fn install(&self) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crds/yaml");
        for definition in crds::definitions() {
            let text = std::fs::read_to_string(folder.join(definition.file_name)).unwrap();
            apply_yaml(&self.client, &text).await.unwrap();
            let path = path(&definition.definition.spec.names.plural);
            until(&path, async || self.get(&path, JSON).await.ok()).await;
        }
    }

    async fn clear(&self) {
        for definition in crds::definitions() {
            let path = path(&definition.definition.spec.names.plural);
            let request = http::Request::delete(&path).body(Vec::new()).unwrap();
            let _: Value = self.client.request(request).await.unwrap();
        }
    }

    async fn remove(&self) {
        let definitions: Api<CustomResourceDefinition> = Api::all(self.client.clone());
        for definition in crds::definitions() {
            let name = definition.definition.name_any();
            definitions.delete(&name, &DeleteParams::default()).await.unwrap();
            wait_until_gone(&definitions, &name, WITHIN).await.unwrap();
        }
    }

    async fn get(&self, path: &str, accept: &str) -> Result<Value, kube::Error> {
        let request = http::Request::get(path).header(http::header::ACCEPT, accept).body(Vec::new()).unwrap();
        self.client.request(request).await
    }

    async fn send(&self, method: &str, path: &str, object: &Value) -> Result<Value, String> {
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header(http::header::CONTENT_TYPE, JSON)
            .body(serde_json::to_vec(object).unwrap())
            .unwrap();
        match self.client.request(request).await {
            Ok(answer) => Ok(answer),
            Err(kube::Error::Api(status)) if matches!(status.code, 400 | 422) => Err(status.message),
            Err(error) => panic!("{method} {path}: {error:?}"),
        }
    }
}

fn path(plural: &str) -> String {
    format!("/apis/{}/{}/namespaces/default/{plural}", crds::GROUP, crds::VERSION)
}

/// Asks again until there is an answer.
async fn until<T>(what: &str, question: impl AsyncFn() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(answer) = question().await {
            return answer;
        }
        assert!(began.elapsed() < WITHIN, "no answer from {what}");
        tokio::time::sleep(INTERVAL).await;
    }
}
