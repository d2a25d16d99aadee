//! A converged cluster is left alone.

use std::time::Duration;

use crds::INSTANCE_NAME;
use crds::keys::RECONCILE_EVERY;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::bench::{ALL, Bench};

/// What counts the passes over a ready instance.
const PASSES: &str =
    "controller_runtime_reconcile_total{controller=\"fluxinstance\",result=\"requeue_after\"}";
/// Three intervals of 2 s, which are up to 5 % longer, and a little.
const INTERVALS: Duration = Duration::from_millis(6_500);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn passes_over_what_has_not_changed_ask_and_change_nothing() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let bench = Bench::start_with(vec![format!("--metrics-addr=127.0.0.1:{port}")]).await;
    bench.apply(&ALL, json!({RECONCILE_EVERY: "2s"})).await;
    bench.wait_until_ready().await;
    bench.wait_until_quiet(Duration::from_millis(500)).await;

    let (mark, passes_before) = (bench.proxy.mark(), passes(port).await);
    let before = bench.instances().get(INSTANCE_NAME).await.unwrap();
    let is_quiet = bench.proxy.wait_until_quiet(INTERVALS, INTERVALS + Duration::from_secs(1)).await;
    let seen = bench.proxy.since(mark);
    let seen: Vec<String> =
        seen.iter().filter(|record| !record.is_background()).map(ToString::to_string).collect();
    assert!(is_quiet.is_ok() && seen.is_empty(), "over three intervals: {seen:?}");
    assert_eq!(bench.instances().get(INSTANCE_NAME).await.unwrap(), before);
    let made = passes(port).await - passes_before;
    println!("{made} passes, and nothing was asked");
    assert!(made >= 3, "there were {made} passes in three intervals");
    bench.uninstall().await;
}

/// How many passes the operator has made, from its metrics.
async fn passes(port: u16) -> u64 {
    let mut connection = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    connection
        .write_all(b"GET /metrics HTTP/1.1\r\nHost: metrics\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    let line = answer.lines().find(|line| line.starts_with(PASSES));
    let line = line.unwrap_or_else(|| panic!("no {PASSES} in {answer}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}
