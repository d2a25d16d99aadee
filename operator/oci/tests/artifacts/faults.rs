//! Registries with trouble, and registries that lie.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use operator_net::Move;
use operator_oci::{ArtifactLimits, Artifacts, Digest, FetchError};
use rstest::rstest;
use tempfile::TempDir;

use crate::{
    fake::{Fake, Reply},
    published::{IMAGE, archive, archive_of, artifacts, manifest, publish, publish_on, request},
};

/// Answers so many requests to a path otherwise.
fn first(
    count: usize,
    part: &'static str,
    reply: impl Fn() -> Reply + Send + 'static,
) -> impl FnMut(&crate::fake::Asked) -> Option<Reply> + Send + 'static {
    let mut left = count;
    move |asked| {
        if left == 0 || !asked.path.contains(part) {
            return None;
        }
        left -= 1;
        Some(reply())
    }
}

async fn message(fake: &Fake) -> (String, Move) {
    let (folder, artifacts) = artifacts();
    let error = artifacts.fetch(&request(fake.reference("")), None).await.unwrap_err();
    let left: Vec<_> = fs::read_dir(folder.path().join("cache")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    (error.message(), error.next_move())
}

#[rstest]
#[case(429, "/manifests/")]
#[case(503, "/manifests/")]
#[case(500, "/blobs/")]
#[case(502, "/blobs/")]
#[tokio::test]
async fn trouble_that_passes_is_waited_for(#[case] status: u16, #[case] part: &'static str) {
    let fake = Fake::start(first(2, part, move || Reply::new(status, "").header("retry-after", "0"))).await;
    publish_on(&fake, "latest", "one");
    let (_folder, artifacts) = artifacts();
    artifacts.fetch(&request(fake.reference("")), None).await.unwrap();
}

#[tokio::test]
async fn a_registry_that_wants_to_be_left_alone_for_longer_than_there_is_time_is() {
    let fake = Fake::start(|_| {
        let body = r#"{"errors":[{"code":"TOOMANYREQUESTS","message":"pull rate"}]}"#;
        Some(Reply::new(429, body).header("retry-after", "900"))
    })
    .await;
    let (_folder, artifacts) = artifacts();
    let error = artifacts.fetch(&request(fake.reference("")), None).await.unwrap_err();
    assert_eq!((error.retry_after(), error.next_move()), (Some(Duration::from_mins(15)), Move::Nobody));
    assert!(error.message().contains("the registry answered 429"), "{}", error.message());
    assert_eq!(fake.take().len(), 1);
}

#[rstest]
#[case("/blobs/")]
#[case("manifests/sha256")]
#[tokio::test]
async fn half_a_body_is_asked_for_again(#[case] part: &'static str) {
    let bytes = archive("one");
    let text = manifest(Digest::of(&bytes), bytes.len());
    let body = if part == "/blobs/" { bytes } else { text.into_bytes() };
    let fake = Fake::start(first(2, part, move || Reply::new(200, body.clone()).cut(body.len() / 2))).await;
    publish_on(&fake, "latest", "one");
    let (_folder, artifacts) = artifacts();
    artifacts.fetch(&request(fake.reference("")), None).await.unwrap();
}

#[tokio::test]
async fn half_a_body_each_time_is_told_and_leaves_nothing() {
    let fake =
        Fake::start(|asked| asked.path.contains("/blobs/").then(|| Reply::new(200, archive("one")).cut(20)))
            .await;
    publish_on(&fake, "latest", "one");
    let (message, next_move) = message(&fake).await;
    assert!(message.contains("the connection broke"), "{message}");
    assert_eq!(next_move, Move::Nobody);
}

#[tokio::test]
async fn other_bytes_than_those_of_the_digest_are_refused() {
    let good = archive("one");
    let mut bad = good.clone();
    *bad.last_mut().unwrap() ^= 1;
    for (body, expected) in [
        (bad, "the registry gave something else for blob sha256:"),
        (good[1..].to_vec(), "bytes or more for blob"),
        ([good.as_slice(), b"x"].concat(), "bytes or more for blob"),
    ] {
        let fake =
            Fake::start(move |asked| asked.path.contains("/blobs/").then(|| Reply::new(200, body.clone())))
                .await;
        publish_on(&fake, "latest", "one");
        let (message, next_move) = message(&fake).await;
        assert!(message.contains(expected), "{message}");
        assert_eq!(next_move, Move::Nobody);
    }
    let fake = Fake::start(|asked| {
        let is_pull = asked.method == "GET" && asked.path.contains("/manifests/");
        is_pull.then(|| Reply::new(200, r#"{"layers":[]}"#).header("content-type", IMAGE))
    })
    .await;
    publish_on(&fake, "latest", "one");
    let (message, _) = message(&fake).await;
    assert!(message.contains("the registry gave something else for manifest sha256:"), "{message}");
}

#[tokio::test]
async fn a_registry_that_does_not_say_digests_is_asked_for_the_manifest() {
    for reply in [
        Reply::new(200, ""),
        Reply::new(405, ""),
        Reply::new(200, "").header("docker-content-digest", "sha512:1"),
    ] {
        let fake = Fake::start(move |asked| (asked.method == "HEAD").then(|| reply.clone())).await;
        let digest = publish_on(&fake, "latest", "one");
        let (_folder, artifacts) = artifacts();
        assert_eq!(artifacts.resolve(&request(fake.reference(""))).await.unwrap(), digest);
        assert_eq!(fake.lines()[1..], ["GET /v2/org/flux/manifests/latest"]);
    }
}

#[tokio::test]
async fn what_is_not_there_or_not_allowed_is_told_with_the_words_of_the_registry() {
    let fake = Fake::start(|_| None).await;
    let (text, next_move) = message(&fake).await;
    assert_eq!(
        text,
        format!("failed to resolve {0}: the registry has no tag latest in {0}", fake.reference(""))
    );
    assert_eq!(next_move, Move::User);
    let denied = r#"{"errors":[{"code":"DENIED","message":"ask\nyour admin"}]}"#;
    let fake = Fake::start(move |asked| (asked.method == "GET").then(|| Reply::new(403, denied))).await;
    publish_on(&fake, "latest", "one");
    let (text, next_move) = message(&fake).await;
    assert!(text.contains("denies it to who asks with no credentials (DENIED: ask your admin)"), "{text}");
    assert_eq!(next_move, Move::User);
}

#[tokio::test]
async fn something_else_than_files_for_flux_is_told() {
    let fake = Fake::start(|_| None).await;
    let html = "<html>";
    let chart = archive("one");
    {
        let mut content = fake.content.lock().unwrap();
        content.add_manifest("html", "text/html", html);
        let layer = content.add_blob(&chart);
        let text = manifest(layer, chart.len());
        content.add_manifest("empty", IMAGE, &text.replace("\"layers\":[{", "\"other\":[{"));
        content.add_manifest("kind", IMAGE, &text.replace("content.v1.tar+gzip", "content.v1.tar"));
        content.add_manifest("large", IMAGE, &text.replace(&format!(":{}}}", chart.len()), ":104857601}"));
        let hostile = archive_of(&[("a", b"1"), ("A", b"2")]);
        let layer = content.add_blob(&hostile);
        content.add_manifest("hostile", IMAGE, &manifest(layer, hostile.len()));
    }
    for (tag, expected) in [
        ("html", "no manifest in JSON"),
        ("empty", "it has no layers"),
        ("kind", "its first layer is a \"application/vnd.cncf.flux.content.v1.tar\""),
        ("large", "has more than 104857600 bytes"),
        ("hostile", "\"A\" in the archive is not allowed: it differs from \"a\""),
    ] {
        let (_folder, artifacts) = artifacts();
        let error = artifacts.fetch(&request(fake.reference(&format!(":{tag}"))), None).await.unwrap_err();
        assert!(error.message().contains(expected), "{}", error.message());
        assert_eq!(error.next_move(), Move::User);
    }
}

#[tokio::test]
async fn an_artifact_without_releases_of_flux_is_told() {
    let fake = Fake::start(|_| None).await;
    {
        let mut content = fake.content.lock().unwrap();
        let archive = archive_of(&[("deploy/app.yaml", b"a: 1")]);
        let layer = content.add_blob(&archive);
        content.add_manifest("latest", IMAGE, &manifest(layer, archive.len()));
    }
    let (_folder, artifacts) = artifacts();
    let fetched = artifacts.fetch(&request(fake.reference("")), None).await.unwrap();
    let error = fetched.artifact().artifact().distribution().unwrap_err();
    assert!(error.message().starts_with(&format!("{} cannot be used: sha256:", fake.reference(""))));
    assert!(error.message().contains("has no folder flux/"), "{}", error.message());
    assert_eq!(error.next_move(), Move::User);
}

#[tokio::test]
async fn a_tag_that_moves_while_it_is_pulled_is_noticed() {
    let content = Arc::new(std::sync::OnceLock::<Arc<std::sync::Mutex<crate::fake::Content>>>::new());
    let has = Arc::clone(&content);
    let fake = Fake::start(move |asked| {
        if asked.path.contains("/blobs/")
            && let Some(content) = has.get()
        {
            publish(&mut content.lock().unwrap(), "latest", "two");
        }
        None
    })
    .await;
    let one = publish_on(&fake, "latest", "one");
    content.set(Arc::clone(&fake.content)).ok().unwrap();
    let (_folder, artifacts) = artifacts();
    let request = request(fake.reference(""));
    let fetched = artifacts.fetch(&request, None).await.unwrap();
    assert_eq!(fetched.artifact().artifact().digest(), one);
    let two = fetched.moved_to().unwrap();
    let fetched = artifacts.fetch(&request, Some(&fetched)).await.unwrap();
    assert_eq!((fetched.artifact().artifact().digest(), fetched.moved_to()), (two, None));
}

#[tokio::test]
async fn a_tag_that_moves_and_takes_its_manifest_along_is_told_as_moved() {
    let content = Arc::new(std::sync::OnceLock::<Arc<std::sync::Mutex<crate::fake::Content>>>::new());
    let has = Arc::clone(&content);
    let fake = Fake::start(move |asked| {
        if let ("GET", Some((_, digest)), Some(content)) =
            (asked.method.as_str(), asked.path.split_once("/manifests/"), has.get())
        {
            let mut content = content.lock().unwrap();
            content.remove(&format!("manifests/{digest}"));
            publish(&mut content, "latest", "two");
        }
        None
    })
    .await;
    publish_on(&fake, "latest", "one");
    content.set(Arc::clone(&fake.content)).ok().unwrap();
    let (_folder, artifacts) = artifacts();
    let error = artifacts.fetch(&request(fake.reference("")), None).await.unwrap_err();
    assert!(matches!(error, FetchError::Moved { .. }), "{error:?}");
    assert_eq!(error.next_move(), Move::Nobody);
}

#[tokio::test]
async fn nothing_takes_longer_than_it_may() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let folder = TempDir::new().unwrap();
    let limits = ArtifactLimits { time: Duration::from_millis(300), ..ArtifactLimits::default() };
    let artifacts = Artifacts::new(folder.path(), limits).unwrap();
    let reference = format!("oci://{}/a", silent.local_addr().unwrap()).parse().unwrap();
    let error = artifacts.fetch(&request(reference), None).await.unwrap_err();
    assert_eq!(error.next_move(), Move::Nobody);
    assert!(error.message().contains("within"), "{}", error.message());
}

#[tokio::test]
async fn a_server_that_is_down_is_asked_again_a_few_times() {
    let count = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    let fake = Fake::start(move |_| {
        seen.fetch_add(1, Ordering::SeqCst);
        Some(Reply::new(503, "").header("retry-after", "0"))
    })
    .await;
    let (text, next_move) = message(&fake).await;
    assert!(text.contains("the registry answered 503"), "{text}");
    assert_eq!((next_move, count.load(Ordering::SeqCst)), (Move::Nobody, 5));
}
