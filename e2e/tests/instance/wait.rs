//! `flux-operator wait`.

use e2e::Installation;
use serde_json::json;

use crate::LONG;

#[tokio::test]
async fn the_command_waits_for_an_instance_that_is_yet_to_come() {
    let flux = Installation::start("instance-wait").await.unwrap();
    let early = flux.command(&["wait", "instance", "flux", "-n", "flux-system", "--timeout=3s"]).await;
    assert_eq!(early.status.code(), Some(1));
    let message = String::from_utf8(early.stderr).unwrap();
    let last = message.lines().last().unwrap();
    assert_eq!(last, "✗ FluxInstance/flux-system/flux is not ready after 3 s: it does not exist");

    let arguments = ["-n", "flux-system", "wait", "instance", "flux", "--timeout=2m"];
    let waiting = flux.command(&arguments);
    let smallest = json!({});
    let (waited, _) = tokio::join!(waiting, flux.apply(&smallest));
    let message = String::from_utf8(waited.stderr).unwrap();
    assert!(waited.status.success(), "{message}");
    assert!(
        message.contains("✔ FluxInstance/flux-system/flux is ready: Reconciliation finished"),
        "{message}"
    );

    flux.apply(&json!({"distribution": {"version": "3.x", "registry": "ghcr.io/fluxcd"}})).await;
    flux.wait_for_reason("BuildFailed", LONG).await;
    let stalled = flux.command(&["wait", "instance", "flux", "--namespace=flux-system"]).await;
    let message = String::from_utf8(stalled.stderr).unwrap();
    assert!(
        message.contains("✗ FluxInstance/flux-system/flux is stalled: BuildFailed: no version"),
        "{message}"
    );
}
