//! Whatever happens to a signature, it is refused or says what it said before, and nothing panics.

use std::sync::LazyLock;

use operator_oci::verify::{
    Found, Pattern, Policy, Proof, PublicKey, SignatureContent, TagSignature, TrustRoot,
};
use proptest::{collection, prelude::*, sample};
use rstest::rstest;

use crate::fixture::{Fixture, folder, located};

/// Asks about `content` in the place of the signature of `fixture`, and compares with the answer to that.
struct Judge {
    fixture: Fixture,
    policy: Policy,
    root: TrustRoot,
    original: Proof,
}

impl Judge {
    fn of(name: &str) -> Self {
        let fixture = Fixture::named(name);
        let original = fixture.answer(&fixture.found()).expect("the fixture is accepted");
        Self { policy: fixture.policy(), root: fixture.trusted_root(), original, fixture }
    }

    /// Whether the changed signature is still accepted.
    fn accepts(&self, content: SignatureContent) -> bool {
        let found = Found { signatures: vec![located(content)], ..Found::default() };
        match self.fixture.answer_with(&self.policy, &self.root, &found) {
            Ok(verified) => {
                assert_eq!(verified.subject(), self.original.subject());
                assert_eq!(verified.signer(), self.original.signer());
                // A log that proves that it has a signature need not prove since when.
                assert!(verified.signed_at().is_none_or(|time| Some(time) == self.original.signed_at()));
                true
            }
            Err(refusal) => {
                assert!(refusal.to_string().len() < 3000, "{refusal}");
                false
            }
        }
    }

    fn bundle(&self) -> Vec<u8> {
        let bundle = self.fixture.signatures.first().and_then(|signature| signature.bundle.as_ref());
        serde_json::to_vec(bundle.expect("a bundle")).expect("JSON")
    }

    fn tag(&self) -> TagSignature {
        let tag = self.fixture.signatures.first().and_then(|signature| signature.tag.as_ref());
        tag.expect("a tag").content()
    }
}

#[rstest]
#[case("identity-stamped")]
#[case("identity-message")]
#[case("identity-tiles")]
#[case("key-logged-p256")]
fn every_changed_byte_of_a_bundle_is_refused_or_without_effect(#[case] name: &str) {
    let judge = Judge::of(name);
    let bundle = judge.bundle();
    let mut accepted = 0;
    for index in 0..bundle.len() {
        let mut changed = bundle.clone();
        // A different bit each time: some changes of letters are still base64, others break the JSON.
        changed[index] ^= 1 << (index % 7);
        accepted += usize::from(judge.accepts(SignatureContent::Bundle(changed)));
    }
    // What has no effect are names and values that nobody reads, such as the checkpoint's name.
    assert!(accepted * 10 < bundle.len(), "{accepted} of {}", bundle.len());
}

#[rstest]
#[case("tag-identity")]
#[case("tag-key-logged-p256")]
fn every_changed_byte_of_a_tag_is_refused_or_without_effect(#[case] name: &str) {
    let judge = Judge::of(name);
    let tag = judge.tag();
    for index in 0..tag.payload.len() {
        let mut changed = tag.clone();
        changed.payload[index] ^= 1 << (index % 8);
        assert!(!judge.accepts(SignatureContent::Tag(changed)), "byte {index} of the payload");
    }
    let fields: [fn(&mut TagSignature) -> &mut Option<String>; 4] = [
        |tag| &mut tag.signature,
        |tag| &mut tag.certificate,
        |tag| &mut tag.chain,
        |tag| &mut tag.log_entry,
    ];
    for field in fields {
        let Some(text) = field(&mut tag.clone()).clone() else { continue };
        for index in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[index] ^= 1 << (index % 7);
            let mut changed = tag.clone();
            *field(&mut changed) = Some(String::from_utf8(bytes).expect("ASCII"));
            judge.accepts(SignatureContent::Tag(changed));
        }
    }
}

#[test]
fn every_truncated_bundle_is_refused() {
    let judge = Judge::of("identity-stamped");
    let bundle = judge.bundle();
    for length in 0..bundle.len() {
        assert!(!judge.accepts(SignatureContent::Bundle(bundle[..length].to_vec())), "{length} bytes");
    }
}

static PLAIN: LazyLock<Judge> = LazyLock::new(|| Judge::of("identity-p256"));
static STAMPED: LazyLock<Judge> = LazyLock::new(|| Judge::of("identity-stamped"));
static TAG: LazyLock<Judge> = LazyLock::new(|| Judge::of("tag-identity"));

proptest! {
    #[test]
    fn several_changes_at_once_are_refused_or_without_effect(
        changes in collection::vec((any::<sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bundle = STAMPED.bundle();
        for (index, byte) in changes {
            let index = index.index(bundle.len());
            bundle[index] = byte;
        }
        STAMPED.accepts(SignatureContent::Bundle(bundle));
    }

    #[test]
    fn a_part_of_one_bundle_in_another_is_refused_or_without_effect(
        pointer in sample::select(vec![
            "/verificationMaterial/certificate", "/verificationMaterial/tlogEntries",
            "/verificationMaterial/tlogEntries/0/inclusionProof", "/verificationMaterial/tlogEntries/0/inclusionPromise",
            "/verificationMaterial/tlogEntries/0/canonicalizedBody", "/verificationMaterial/timestampVerificationData",
            "/dsseEnvelope", "/dsseEnvelope/payload", "/dsseEnvelope/signatures",
        ]),
        other in sample::select(vec!["other-artifact", "late", "provenance", "other-log", "identity-stamped"]),
    ) {
        let other = Fixture::named(other);
        let mut bundle: serde_json::Value = serde_json::from_slice(&PLAIN.bundle()).expect("JSON");
        let part = other.signatures.first().and_then(|signature| signature.bundle.as_ref());
        let part = part.and_then(|bundle| bundle.pointer(pointer)).cloned().unwrap_or_default();
        let Some(place) = bundle.pointer_mut(pointer) else { return Ok(()) };
        let is_same = *place == part;
        *place = part;
        let accepted = PLAIN.accepts(SignatureContent::Bundle(serde_json::to_vec(&bundle).expect("JSON")));
        prop_assert_eq!(accepted, is_same);
    }

    #[test]
    fn no_bytes_make_anything_panic(bytes in collection::vec(any::<u8>(), 0..300), text in ".{0,200}") {
        prop_assert!(!PLAIN.accepts(SignatureContent::Bundle(bytes.clone())));
        let tag = TagSignature {
            payload: TAG.tag().payload,
            signature: Some(text.clone()),
            certificate: Some(text.clone()),
            chain: Some(text.clone()),
            log_entry: Some(text.clone()),
            timestamp: Some(text.clone()),
        };
        prop_assert!(!PLAIN.accepts(SignatureContent::Tag(tag)));
        prop_assert!(TrustRoot::from_json("noise", &bytes).is_err());
        prop_assert!(PublicKey::from_pem("noise", &bytes).is_err());
        let _ = Pattern::parse(&text).map(|pattern| pattern.matches(&text));
    }

    #[test]
    fn a_changed_trusted_root_is_refused_or_used_without_a_panic(index in any::<sample::Index>(), byte in any::<u8>()) {
        let mut json = std::fs::read(folder().join("roots/root.json")).expect("root");
        let index = index.index(json.len());
        json[index] = byte;
        if let Ok(root) = TrustRoot::from_json("a changed root", &json) {
            let _ = STAMPED.fixture.answer_with(&STAMPED.policy, &root, &STAMPED.fixture.found());
        }
    }
}
