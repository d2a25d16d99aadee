//! Nodes with real pods: what is said where there can be none. What they do is shown by `make demo-node`.

use std::process::Command;

#[test]
fn a_machine_that_cannot_have_a_node_is_told_what_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let mut check = Command::new(env!("CARGO_BIN_EXE_demo-node"));
    let output = check.arg("check").env("PATH", folder.path()).output().unwrap();
    assert!(!output.status.success());
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.starts_with("demo-node: a node cannot run here: "), "{message}");
    for lack in ["containerd is missing: install containerd", "nft is missing: install nftables"] {
        assert!(message.contains(lack), "{message}");
    }
}

#[test]
fn unknown_arguments_are_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_demo-node")).arg("up").output().unwrap();
    assert!(!output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "demo-node: usage: demo-node [check]\n");
}
