//! Where signatures are looked for, and what it takes until an answer is there.

use std::sync::Arc;

use jiff::Timestamp;
use operator_net::Move;
use operator_oci::{
    Digest, NotProven, Verifier as _,
    verify::{Cosign, MAX_BUNDLE_BYTES, MAX_SIGNATURES, Proof, Refusal},
};
use rstest::rstest;
use serde_json::json;

use crate::{
    fixture::{Fixture, FixtureSignature},
    shelf::{BUNDLE, Shelf},
};

fn clock() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().expect("time")
}

fn cosign(fixture: &Fixture) -> Cosign {
    Cosign::new(fixture.policy(), Arc::new(fixture.trusted_root()), clock)
}

/// The signatures of fixtures that share a trusted root and an artifact.
fn signatures(names: &[&str]) -> (Fixture, Vec<FixtureSignature>) {
    let mut fixture = Fixture::named(names.first().expect("a name"));
    let mut all = std::mem::take(&mut fixture.signatures);
    for name in names.iter().skip(1) {
        all.append(&mut Fixture::named(name).signatures);
    }
    (fixture, all)
}

async fn ask(shelf: &Shelf, fixture: &Fixture) -> Result<Proof, NotProven> {
    cosign(fixture).verify(shelf, &fixture.artifact()).await
}

fn refusal(answer: Result<Proof, NotProven>) -> Refusal {
    let error = answer.expect_err("a refusal");
    assert_eq!(error.next_move, Move::User);
    *error.cause.downcast::<Refusal>().expect("a refusal")
}

#[rstest]
#[case::bundle(&["identity-p256"], &["referrers", "manifest", "blob"])]
#[case::tag(&["tag-identity"], &["referrers", "tag", "blob"])]
#[case::bundle_before_tag(&["identity-p256", "tag-identity"], &["referrers", "manifest", "blob"])]
#[case::bad_bundle_and_good_tag(&["identity-p256", "tag-identity"], &["referrers", "manifest", "blob", "tag", "blob"])]
#[tokio::test]
async fn bundles_are_looked_for_first_and_the_tag_where_they_prove_nothing(
    #[case] names: &[&str],
    #[case] asked: &[&str],
) {
    let (fixture, mut all) = signatures(names);
    if asked.len() == 5 {
        all.retain(|signature| signature.tag.is_some());
        all.append(&mut Fixture::named("other-artifact").signatures);
    }
    let shelf = Shelf::default().with(fixture.artifact(), &all);
    let proof = ask(&shelf, &fixture).await.expect("a proof");
    assert_eq!(proof.subject(), fixture.artifact());
    assert!(proof.signer().to_string().contains("https://github.com/org/app"), "{proof}");
    assert_eq!(shelf.asked(), asked);
}

#[tokio::test]
async fn a_missing_signature_names_the_places() {
    let fixture = Fixture::named("identity-p256");
    let mut shelf = Shelf::default();
    shelf.refer("application/vnd.cyclonedx+json", b"{}");
    let refused = refusal(ask(&shelf, &fixture).await);
    assert_eq!(refused.reason(), "NoSignature");
    let (artifact, tag) = (fixture.artifact(), fixture.artifact().tag(".sig"));
    assert_eq!(
        refused.to_string(),
        format!(
            "{artifact} is not signed: looked for signatures at what refers to {artifact} and the tag {tag}"
        )
    );
    // A list of contents is no signature, and is not fetched.
    assert_eq!(shelf.asked(), ["referrers", "tag"]);
}

#[tokio::test]
async fn both_places_are_told_of_when_neither_proves_anything() {
    let (fixture, all) = signatures(&["other-workflow", "tag-other-artifact"]);
    let shelf = Shelf::default().with(fixture.artifact(), &all);
    let refused = refusal(ask(&shelf, &fixture).await);
    assert_eq!(refused.reason(), "WrongIdentity");
    let message = refused.to_string();
    assert!(message.contains("test.yaml") && message.contains("it is about another artifact"), "{message}");
}

#[tokio::test]
async fn the_newest_of_many_counts_and_the_rest_is_told() {
    let (fixture, mut good) = signatures(&["tag-identity"]);
    let bad = || Fixture::named("tag-other-artifact").signatures;
    let many: Vec<_> = (0..MAX_SIGNATURES + 8).flat_map(|_| bad()).collect();
    let shelf = Shelf::default().with(fixture.artifact(), &many);
    let refused = refusal(ask(&shelf, &fixture).await);
    assert_eq!(refused.reason(), "TooManySignatures");
    assert!(refused.to_string().contains("none of the 32 newest"), "{refused}");
    assert!(refused.to_string().contains("8 more were not looked at"), "{refused}");
    // One payload is fetched once, however often it was signed.
    assert_eq!(shelf.asked().iter().filter(|what| *what == "blob").count(), 1);

    let many: Vec<_> = many.into_iter().chain(good.drain(..)).collect();
    let shelf = Shelf::default().with(fixture.artifact(), &many);
    ask(&shelf, &fixture).await.expect("a proof");
}

#[tokio::test]
async fn what_is_too_large_is_not_fetched() {
    let fixture = Fixture::named("identity-p256");
    let mut shelf = Shelf::default();
    shelf.refer(BUNDLE, &vec![b' '; MAX_BUNDLE_BYTES + 1]);
    let refused = refusal(ask(&shelf, &fixture).await);
    assert_eq!(refused.reason(), "SignatureTooLarge");
    assert!(refused.to_string().contains("1048577 bytes, 1048576 are allowed"), "{refused}");
    assert_eq!(shelf.asked(), ["referrers", "manifest", "tag"]);
    // Together they may not take more either.
    let mut shelf = Shelf::default();
    for index in 0..8 {
        shelf.refer(BUNDLE, &[vec![b' '; MAX_BUNDLE_BYTES - 1], vec![b'0' + index]].concat());
    }
    refusal(ask(&shelf, &fixture).await);
    assert_eq!(shelf.asked().iter().filter(|what| *what == "blob").count(), 4);
}

#[tokio::test]
async fn what_is_there_and_no_signature_does_not_count() {
    let fixture = Fixture::named("identity-p256");
    let mut shelf = Shelf::default();
    shelf.put_tag(
        &fixture.artifact().tag(".sig"),
        &json!({"mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []}),
    );
    let refused = refusal(ask(&shelf, &fixture).await);
    assert_eq!(refused.reason(), "SignatureUnreadable");
    assert!(refused.to_string().contains("it is an index"), "{refused}");

    let mut shelf = Shelf::default().with(fixture.artifact(), &fixture.signatures);
    shelf.lose_blobs();
    let refused = refusal(ask(&shelf, &fixture).await);
    assert_eq!(refused.reason(), "SignatureUnreadable");
    assert!(refused.to_string().contains("the registry has no sha256:"), "{refused}");
}

#[rstest]
#[tokio::test]
async fn a_registry_that_does_not_answer_refuses_nothing(
    #[values("referrers", "manifest", "blob", "tag")] broken: &'static str,
) {
    let (fixture, all) = signatures(&["other-artifact", "tag-identity"]);
    let shelf = Shelf::default().with(fixture.artifact(), &all).without(broken);
    let error = ask(&shelf, &fixture).await.expect_err("an error");
    assert_eq!(error.next_move, Move::Nobody);
    assert!(error.to_string().contains("did not come within 1s"), "{error}");
}

#[rstest]
#[tokio::test]
async fn a_signature_of_the_future_is_waited_for(#[values("future", "far-future")] name: &str) {
    let fixture = Fixture::named(name);
    let shelf = Shelf::default().with(fixture.artifact(), &fixture.signatures);
    let verifier = Cosign::new(fixture.policy(), Arc::new(fixture.trusted_root()), || Timestamp::UNIX_EPOCH);
    let error = verifier.verify(&shelf, &fixture.artifact()).await.expect_err("a refusal");
    assert_eq!(error.next_move, Move::Nobody);
    assert!(error.to_string().contains("is the clock of this node right?"), "{error}");
}

#[test]
fn a_verifier_is_known_by_everything_that_it_asks_for() {
    let names = [
        "identity-p256",
        "identity-address",
        "unlogged-stamped",
        "key-logged-p256",
        "key-wrong",
        "ended-stamper",
    ];
    let fingerprint = |name: &&str| cosign(&Fixture::named(name)).fingerprint();
    let all: std::collections::BTreeSet<_> = names.iter().map(fingerprint).collect();
    assert_eq!(all.len(), names.len());
    assert_eq!(fingerprint(&"identity-p256"), fingerprint(&"identity-p384"));
    assert_eq!(Digest::of(b"").to_string().len(), "sha256:".len() + fingerprint(&"key-wrong").len());
}
