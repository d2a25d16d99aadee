//! Processes that are killed while they pull, and others that share their cache.

use std::{
    env, fs,
    process::{Command, Stdio},
    sync::Arc,
};

use operator_oci::{ArtifactLimits, Artifacts};
use tempfile::TempDir;
use tokio::sync::Notify;

use crate::{
    fake::{Fake, Reply},
    published::{archive, publish_on, request},
};

const CACHE: &str = "TEST_CACHE";
const REFERENCE: &str = "TEST_REFERENCE";

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_process_leaves_is_cleared_away_and_harms_nobody() {
    let folder = TempDir::new().unwrap();
    let is_pulling = Arc::new(Notify::new());
    let (tell, mut pulls) = (Arc::clone(&is_pulling), 0);
    let fake = Fake::start(move |asked| {
        if !asked.path.contains("/blobs/") {
            return None;
        }
        pulls += 1;
        tell.notify_one();
        (pulls == 1).then(|| Reply::new(200, archive("one")).hang_after(20))
    })
    .await;
    publish_on(&fake, "latest", "one");
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "killed::a_process_of_its_own", "--ignored"])
        .env(CACHE, folder.path())
        .env(REFERENCE, fake.reference("").to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    is_pulling.notified().await;
    let alive = Artifacts::new(folder.path(), ArtifactLimits::default()).unwrap();
    assert_eq!(names(&folder).len(), 2, "the draft of a process that lives stays: {:?}", names(&folder));
    child.kill().unwrap();
    child.wait().unwrap();
    alive.fetch(&request(fake.reference("")), None).await.unwrap();
    let left = names(&folder);
    assert!(left.len() == 2 && left.iter().all(|name| !name.starts_with("draft-")), "{left:?}");
}

fn names(folder: &TempDir) -> Vec<String> {
    fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[tokio::test]
#[ignore = "the test above runs it in a process of its own, and kills it"]
async fn a_process_of_its_own() {
    let artifacts = Artifacts::new(env::var(CACHE).unwrap(), ArtifactLimits::default()).unwrap();
    let reference = env::var(REFERENCE).unwrap().parse().unwrap();
    artifacts.fetch(&request(reference), None).await.unwrap();
}
