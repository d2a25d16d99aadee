//! Artifacts that released programs have signed, in registries that others wrote.

use std::{fs, sync::Arc};

use jiff::Timestamp;
use operator_net::{Move, Trust};
use operator_oci::{
    ArtifactLimits, ArtifactRequest, Artifacts, Digest, FetchError, Fetched, Keychain, Transport,
    TrustedArtifact,
    verify::{Cosign as Verifier, Policy, PublicKey, TransparencyLog, TrustRoot},
};
use rstest::rstest;
use tempfile::TempDir;

use crate::{
    layout,
    programs::{Cosign, Registry, crane, has, registry_with_referrers, registry_without_referrers},
};

const PROGRAMS: [&str; 1] = ["go"];

struct Bed {
    folder: TempDir,
    registry: Registry,
    artifacts: Artifacts,
}

#[derive(Clone, Copy, Debug)]
enum Referrers {
    Known,
    Unknown,
}

impl Bed {
    async fn new(referrers: Referrers) -> Self {
        let folder = TempDir::new().unwrap();
        let registry = match referrers {
            Referrers::Known => registry_with_referrers().await,
            Referrers::Unknown => registry_without_referrers().await,
        };
        Cosign::generate_keys(folder.path(), "own");
        Cosign::generate_keys(folder.path(), "other");
        let artifacts = Artifacts::new(folder.path().join("cache"), ArtifactLimits::default()).unwrap();
        Self { folder, registry, artifacts }
    }

    /// Pushes an artifact that no other test has, as tag v1 of a repository.
    fn push(&self, repository: &str, bytes: usize) -> Digest {
        let path = self.folder.path().join(repository);
        let (digest, _) = layout::write(&path, &layout::archive(bytes), None);
        self.crane(&["push", &path.to_string_lossy(), &format!("{}:v1", self.name(repository))]);
        digest
    }

    fn sign(&self, cosign: Cosign, key: &str, repository: &str, digest: Digest) {
        cosign.sign(self.folder.path(), key, &format!("{}@{digest}", self.name(repository)));
    }

    fn name(&self, repository: &str) -> String {
        format!("{}/org/{repository}", self.registry.address)
    }

    fn crane(&self, arguments: &[&str]) -> String {
        crane(self.folder.path(), None, arguments)
    }

    async fn fetch(&self, repository: &str, log: TransparencyLog) -> Result<Fetched, FetchError> {
        let pem = fs::read(self.folder.path().join("own.pub")).unwrap();
        let policy = Policy::keys(vec![PublicKey::from_pem("own.pub", &pem).unwrap()], log).unwrap();
        let root = Arc::new(TrustRoot::embedded().unwrap());
        let request = ArtifactRequest {
            reference: format!("oci://{}:v1", self.name(repository)).parse().unwrap(),
            keychain: Keychain::default(),
            trust: Trust::default(),
            transport: Transport::PlainHttp,
            verifier: Some(Arc::new(Verifier::new(policy, root, Timestamp::now))),
        };
        self.artifacts.fetch(&request, None).await
    }

    async fn refusal(&self, repository: &str, log: TransparencyLog) -> String {
        let error = self.fetch(repository, log).await.unwrap_err();
        assert!(matches!(error, FetchError::NotVerified { .. }), "{}", error.message());
        assert_eq!(error.next_move(), Move::User, "{}", error.message());
        error.message()
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn what_cosign_has_signed_is_accepted_and_nothing_else(
    #[values(Referrers::Known, Referrers::Unknown)] referrers: Referrers,
    #[values(Cosign::Two, Cosign::Three)] cosign: Cosign,
) {
    if !has(&PROGRAMS, "what_cosign_has_signed_is_accepted_and_nothing_else") {
        return;
    }
    let bed = Bed::new(referrers).await;
    let ignored = TransparencyLog::Ignored;

    let unsigned = bed.push("unsigned", 10);
    let message = bed.refusal("unsigned", ignored).await;
    assert!(message.contains(&format!("{unsigned} is not signed: looked for signatures at")), "{message}");
    assert!(message.contains(&unsigned.tag(".sig")), "{message}");

    let signed = bed.push("signed", 20);
    bed.sign(cosign, "other", "signed", signed);
    let message = bed.refusal("signed", ignored).await;
    assert!(message.contains("it was made with another key"), "{message}");
    assert!(message.contains("looked for own.pub (sha256:"), "{message}");

    // Two signatures: one that does not count, and one that does.
    bed.sign(cosign, "own", "signed", signed);
    let fetched = bed.fetch("signed", ignored).await.unwrap();
    let TrustedArtifact::Verified(verified) = fetched.artifact() else { panic!("it is verified") };
    assert_eq!(verified.proof().subject(), signed);
    assert!(verified.proof().to_string().starts_with("signed by key sha256:"), "{}", verified.proof());

    let message = bed.refusal("signed", TransparencyLog::Required).await;
    assert!(message.contains("no transparency log has it"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mirror_needs_the_signatures_too() {
    if !has(&PROGRAMS, "a_mirror_needs_the_signatures_too") {
        return;
    }
    let bed = Bed::new(Referrers::Unknown).await;
    let digest = bed.push("signed", 30);
    bed.sign(Cosign::Two, "own", "signed", digest);
    bed.crane(&["copy", &format!("{}:v1", bed.name("signed")), &format!("{}:v1", bed.name("mirror"))]);
    let message = bed.refusal("mirror", TransparencyLog::Ignored).await;
    assert!(message.contains("is not signed"), "{message}");

    let tag = digest.tag(".sig");
    bed.crane(&["copy", &format!("{}:{tag}", bed.name("signed")), &format!("{}:{tag}", bed.name("mirror"))]);
    bed.fetch("mirror", TransparencyLog::Ignored).await.unwrap();
}
