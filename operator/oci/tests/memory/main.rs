//! What pulling an artifact takes. Alone in its process, whose memory is measured.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

#[path = "../registries/layout.rs"]
mod layout;
#[path = "../registries/programs.rs"]
#[expect(dead_code, reason = "one of the registries is enough here")]
mod programs;

use std::fs;

use operator_net::Trust;
use operator_oci::{ArtifactLimits, ArtifactRequest, Artifacts, Keychain, Transport};
use tempfile::TempDir;

use programs::{crane, has, registry_with_referrers};

const MEBIBYTE: usize = 1024 * 1024;

/// A line of the state of this process, in bytes.
fn memory(name: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim_matches([':', '\t', ' ']).trim_end_matches(" kB").trim().parse::<usize>().unwrap() * 1024
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pulling_takes_16_mebibytes_besides_the_artifact_at_most() {
    if !has(&["go"], "pulling_takes_16_mebibytes_besides_the_artifact_at_most") {
        return;
    }
    let folder = TempDir::new().unwrap();
    let registry = registry_with_referrers().await;
    let repository = format!("{}/org/flux", registry.address);
    for (tag, bytes) in [("small", 10), ("large", 5 * MEBIBYTE)] {
        let path = folder.path().join(tag);
        layout::write(&path, &layout::archive(bytes), None);
        crane(folder.path(), None, &["push", &path.to_string_lossy(), &format!("{repository}:{tag}")]);
    }
    let artifacts = Artifacts::new(folder.path().join("cache"), ArtifactLimits::default()).unwrap();
    let request = |tag: &str| ArtifactRequest {
        reference: format!("oci://{repository}:{tag}").parse().unwrap(),
        keychain: Keychain::default(),
        trust: Trust::default(),
        transport: Transport::PlainHttp,
        verifier: None,
    };
    artifacts.fetch(&request("small"), None).await.unwrap();
    // The highest that was measured so far is forgotten.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = memory("VmHWM");
    let fetched = artifacts.fetch(&request("large"), None).await.unwrap();
    let more = memory("VmHWM").saturating_sub(before);
    let size =
        fs::metadata(fetched.artifact().artifact().path().join("flux/v2.9.5/rbac.yaml")).unwrap().len();
    assert_eq!(size, 5 * MEBIBYTE as u64);
    println!("pulling 5 MiB took {} KiB more", more / 1024);
    assert!(more < 16 * MEBIBYTE, "pulling 5 MiB took {} KiB more", more / 1024);
}
