//! An instance that cannot be read while its status cannot be written.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crds::{DEFAULT_NAMESPACE, FluxInstance, INSTANCE_NAME};
use e2e::proxy::{Answer, Fault, Moment};
use e2e::{apply, has_condition, install_definitions, wait_for};
use http::StatusCode;
use kube::Api;
use kube::api::{Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject};
use serde_json::{Value, json};

use crate::LONG;
use crate::bench::{ALL, Bench};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_instance_that_cannot_be_read_says_so_when_it_can_be_written_again() {
    let bench = Bench::start().await;
    bench.apply(&ALL, json!({})).await;
    bench.wait_until_ready().await;
    let definition =
        crds::definitions().into_iter().find(|it| it.definition.spec.names.kind == "FluxInstance");
    let mut lax = serde_json::to_value(definition.unwrap().definition).unwrap();
    lax["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] =
        json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    apply(&bench.client, lax).await.unwrap();

    let refusals = Arc::new(AtomicUsize::new(0));
    let counted = refusals.clone();
    bench.proxy.set_rule(move |moment, record| {
        let request = &record.request;
        let is_hit = moment == Moment::Arrived
            && request.verb.is_write()
            && (request.resource.as_str(), request.subresource.as_str()) == ("fluxinstances", "status");
        is_hit.then(|| {
            counted.fetch_add(1, Ordering::SeqCst);
            Fault::Answer(Answer::refuse(StatusCode::FORBIDDEN, "the status is closed"))
        })
    });
    let instances: Api<DynamicObject> = Api::namespaced_with(
        bench.client.clone(),
        DEFAULT_NAMESPACE,
        &ApiResource::erase::<FluxInstance>(&()),
    );
    let set_components = async |components: Value| {
        let patch = Patch::Merge(json!({"spec": {"components": components}}));
        instances.patch(INSTANCE_NAME, &PatchParams::default(), &patch).await.unwrap();
    };
    set_components(json!("all")).await;
    let refused = async {
        while refusals.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, refused).await.unwrap();
    bench.proxy.clear_rule();
    let said = wait_for(&instances, INSTANCE_NAME, has_condition("Stalled", "True"), LONG).await;
    said.unwrap_or_else(|error| panic!("{error}\n{}", bench.explain()));

    set_components(json!(ALL)).await;
    install_definitions(&bench.client).await.unwrap();
    bench.wait_until_ready().await;
    bench.uninstall().await;
}
