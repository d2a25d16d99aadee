//! A registry with the API for referrers.

use operator_net::Trust;
use operator_oci::{
    ArtifactLimits, ArtifactRequest, Artifacts, Digest, Keychain, Repository as _, Target, Transport,
};
use tempfile::TempDir;

use crate::{
    layout,
    programs::{crane, has, registry_with_referrers},
};

#[tokio::test(flavor = "multi_thread")]
async fn what_refers_to_an_artifact_is_found_and_read() {
    if !has(&["go"], "what_refers_to_an_artifact_is_found_and_read") {
        return;
    }
    let folder = TempDir::new().unwrap();
    let registry = registry_with_referrers().await;
    let repository = format!("{}/org/flux", registry.address);
    let push = |name: &str, archive: &[u8], subject| {
        let path = folder.path().join(name);
        let written = layout::write(&path, archive, subject);
        crane(folder.path(), None, &["push", &path.to_string_lossy(), &format!("{repository}:{name}")]);
        written
    };
    let (artifact, size) = push("v2", &layout::archive(100), None);
    let (signature, _) = push("signature", b"signature", Some((artifact, size)));

    let artifacts = Artifacts::new(folder.path().join("cache"), ArtifactLimits::default()).unwrap();
    let request = ArtifactRequest {
        reference: format!("oci://{repository}:v2").parse().unwrap(),
        keychain: Keychain::default(),
        trust: Trust::default(),
        transport: Transport::PlainHttp,
        verifier: None,
    };
    assert_eq!(artifacts.fetch(&request, None).await.unwrap().artifact().artifact().digest(), artifact);
    let remote = artifacts.repository(&request).unwrap();
    let found = remote.referrers(&artifact).await.unwrap();
    assert_eq!(found.iter().map(|found| found.digest).collect::<Vec<_>>(), [signature]);
    assert!(remote.referrers(&signature).await.unwrap().is_empty());
    let manifest = remote.manifest(Target::Digest(&found[0].digest)).await.unwrap().unwrap();
    assert!(manifest.bytes.windows(9).any(|bytes| bytes == b"\"subject\""));
    assert!(remote.manifest(Target::Tag("nothing")).await.unwrap().is_none());
    let mut layer = found[0].clone();
    (layer.digest, layer.size) = (Digest::of(b"signature"), 9);
    assert_eq!(remote.blob(&layer, 9).await.unwrap(), b"signature");
    let message = remote.blob(&layer, 8).await.unwrap_err().to_string();
    assert!(message.ends_with("has more than 8 bytes"), "{message}");
}
