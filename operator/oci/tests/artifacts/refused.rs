//! Signatures that are asked for and not proven.

use std::{
    fs,
    sync::{Arc, Mutex},
};

use futures::future::BoxFuture;
use operator_net::Move;
use operator_oci::{Digest, NotProven, Repository, Target, Verifier, verify::Proof};

use crate::{
    fake::Fake,
    published::{artifacts, publish_on, request},
};

/// Looks for a signature and finds none.
#[derive(Default)]
struct NobodySigned(Mutex<Vec<Digest>>);

impl Verifier for NobodySigned {
    fn fingerprint(&self) -> String {
        "nobody".into()
    }

    fn verify<'a>(
        &'a self,
        repository: &'a dyn Repository,
        subject: &'a Digest,
    ) -> BoxFuture<'a, Result<Proof, NotProven>> {
        self.0.lock().unwrap().push(*subject);
        Box::pin(async move {
            let tag = subject.tag(".sig");
            assert!(repository.manifest(Target::Tag(&tag)).await.unwrap().is_none());
            Err(NotProven { next_move: Move::User, cause: format!("there is no tag {tag}").into() })
        })
    }
}

#[tokio::test]
async fn nothing_is_pulled_or_taken_from_the_cache_before_a_signature_is_proven() {
    let fake = Fake::start(|_| None).await;
    let digest = publish_on(&fake, "latest", "one");
    let (folder, artifacts) = artifacts();
    let verifier = Arc::new(NobodySigned::default());
    let mut request = request(fake.reference(""));
    request.verifier = Some(Arc::clone(&verifier) as _);
    let error = artifacts.fetch(&request, None).await.unwrap_err();
    assert_eq!(
        error.message(),
        format!(
            "{} is refused: the signature of {digest} is not proven: there is no tag {}",
            fake.reference(""),
            digest.tag(".sig")
        )
    );
    assert_eq!(error.next_move(), Move::User);
    assert_eq!(fs::read_dir(folder.path().join("cache")).unwrap().count(), 1);
    assert!(fake.lines().iter().all(|line| !line.contains("blobs")));

    request.verifier = None;
    let unverified = artifacts.fetch(&request, None).await.unwrap();
    request.verifier = Some(Arc::clone(&verifier) as _);
    artifacts.fetch(&request, Some(&unverified)).await.unwrap_err();
    assert_eq!(*verifier.0.lock().unwrap(), [digest, digest]);
}
