//! The operator of a pod has the rights of its ServiceAccount, and not those of whoever runs the tests.

use e2e::Fleet;

use crate::LONG;

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_without_rights_says_what_it_may_not_do() {
    let fleet = Fleet::start("fleet-rights").await.unwrap();
    // Without its role it does not become ready, so nobody waits for it.
    fleet.install_operator(&["--set", "rbac.create=false", "--wait=hookOnly"]).await.unwrap();
    fleet.agent.wait_for_log("flux-operator", "forbidden", LONG).await.unwrap();
}
