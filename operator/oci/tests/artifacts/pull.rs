//! From a name to files.

use std::{fs, sync::Arc};

use operator_guard::Files as _;
use operator_oci::{Digest, TrustedArtifact};

use crate::{
    fake::Fake,
    published::{INDEX, artifacts, publish_on, request},
};

fn text(artifact: &TrustedArtifact) -> String {
    artifact.artifact().distribution().unwrap().read("flux/v2.9.5/rbac.yaml").unwrap().unwrap()
}

#[tokio::test]
async fn an_artifact_is_pulled_by_digest_and_its_files_are_a_distribution() {
    let fake = Fake::start(|_| None).await;
    let digest = publish_on(&fake, "latest", "one");
    let (_folder, artifacts) = artifacts();
    let fetched = artifacts.fetch(&request(fake.reference("")), None).await.unwrap();
    assert!(matches!(fetched.artifact(), TrustedArtifact::Unverified(_)));
    assert_eq!(text(fetched.artifact()), "one");
    let artifact = fetched.artifact().artifact();
    assert_eq!((artifact.digest(), artifact.image_digest(), fetched.moved_to()), (digest, digest, None));
    assert_eq!(artifact.distribution().unwrap().origin(), fake.reference(&format!("@{digest}")).to_string());
    let expected = [
        "HEAD /v2/org/flux/manifests/latest",
        "GET /v2/org/flux/manifests/<digest>",
        "GET /v2/org/flux/blobs/<digest>",
        "HEAD /v2/org/flux/manifests/latest",
    ];
    assert_eq!(fake.lines(), expected);
}

#[tokio::test]
async fn an_unchanged_artifact_costs_one_head() {
    let fake = Fake::start(|_| None).await;
    publish_on(&fake, "v2", "one");
    let (_folder, artifacts) = artifacts();
    let request = request(fake.reference(":v2"));
    let first = artifacts.fetch(&request, None).await.unwrap();
    fake.take();
    let again = artifacts.fetch(&request, Some(&first)).await.unwrap();
    assert_eq!(fake.lines(), ["HEAD /v2/org/flux/manifests/v2"]);
    assert_eq!(again.artifact().artifact().path(), first.artifact().artifact().path());
    let after_a_restart = artifacts.fetch(&request, None).await.unwrap();
    assert_eq!(fake.lines(), ["HEAD /v2/org/flux/manifests/v2"]);
    assert_eq!(text(after_a_restart.artifact()), "one");
    assert_eq!(artifacts.resolve(&request).await.unwrap(), first.artifact().artifact().digest());
    assert_eq!(fake.lines(), ["HEAD /v2/org/flux/manifests/v2"]);
}

#[tokio::test]
async fn a_moved_tag_is_pulled_and_the_files_of_before_stay_as_long_as_they_are_read() {
    let fake = Fake::start(|_| None).await;
    publish_on(&fake, "v2", "one");
    let (_folder, artifacts) = artifacts();
    let request = request(fake.reference(":v2"));
    let first = artifacts.fetch(&request, None).await.unwrap();
    publish_on(&fake, "v2", "two");
    let second = artifacts.fetch(&request, Some(&first)).await.unwrap();
    assert_eq!((text(first.artifact()), text(second.artifact())), ("one".into(), "two".into()));
}

#[tokio::test]
async fn a_digest_needs_no_head_and_no_request_once_it_is_here() {
    let fake = Fake::start(|_| None).await;
    let digest = publish_on(&fake, "v2", "one");
    publish_on(&fake, "v2", "two");
    let (_folder, artifacts) = artifacts();
    let request = request(fake.reference(&format!(":v2@{digest}")));
    assert_eq!(text(artifacts.fetch(&request, None).await.unwrap().artifact()), "one");
    assert_eq!(fake.lines(), ["GET /v2/org/flux/manifests/<digest>", "GET /v2/org/flux/blobs/<digest>"]);
    artifacts.fetch(&request, None).await.unwrap();
    assert_eq!(fake.lines(), Vec::<String>::new());
}

#[tokio::test]
async fn the_manifest_for_the_platform_is_taken_from_an_index() {
    let fake = Fake::start(|_| None).await;
    let image = publish_on(&fake, "image", "one");
    let index = {
        let mut content = fake.content.lock().unwrap();
        let other = Digest::of(b"other");
        let row = |digest: Digest, platform: &str| {
            format!(
                r#"{{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"{digest}","size":1,"platform":{{"os":"linux","architecture":"{platform}"}}}}"#
            )
        };
        let rows = format!("{},{}", row(other, "arm64"), row(image, "amd64"));
        content.add_manifest("v2", INDEX, &format!(r#"{{"mediaType":"{INDEX}","manifests":[{rows}]}}"#))
    };
    let (_folder, artifacts) = artifacts();
    let fetched = artifacts.fetch(&request(fake.reference(":v2")), None).await.unwrap();
    let artifact = fetched.artifact().artifact();
    assert_eq!((artifact.digest(), artifact.image_digest()), (index, image));
    assert_eq!(text(fetched.artifact()), "one");
}

#[tokio::test]
async fn two_that_fetch_the_same_at_once_get_the_same() {
    let fake = Fake::start(|_| None).await;
    publish_on(&fake, "latest", "one");
    let (folder, artifacts) = artifacts();
    let (artifacts, request) = (Arc::new(artifacts), Arc::new(request(fake.reference(""))));
    let fetch = || {
        let (artifacts, request) = (Arc::clone(&artifacts), Arc::clone(&request));
        tokio::spawn(async move { artifacts.fetch(&request, None).await.unwrap() })
    };
    let (one, two) = (fetch(), fetch());
    let (one, two) = (one.await.unwrap(), two.await.unwrap());
    assert_eq!(one.artifact().artifact().path(), two.artifact().artifact().path());
    assert_eq!(fs::read_dir(folder.path().join("cache")).unwrap().count(), 2);
}
