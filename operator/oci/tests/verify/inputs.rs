//! What an instance names: keys, identities and trusted roots, and what is said of those that cannot be used.

use std::fs;

use operator_oci::verify::{Pattern, Policy, PublicKey, REFRESHED_FILE, TransparencyLog, TrustRoot};
use rstest::rstest;
use serde_json::{Value, json};
use sigstore_verify::trust_root::SIGSTORE_PRODUCTION_TRUSTED_ROOT;

use crate::fixture::{Fixture, folder};

fn root_file(name: &str) -> Value {
    serde_json::from_slice(&fs::read(folder().join(format!("roots/{name}.json"))).expect("root"))
        .expect("root")
}

fn root_error(root: &Value) -> String {
    let json = serde_json::to_vec(root).expect("JSON");
    TrustRoot::from_json("Secret flux-system/roots", &json).expect_err("an error").to_string()
}

#[test]
fn the_embedded_root_is_the_one_that_the_library_knows() {
    let own: Value = serde_json::from_str(include_str!("../../src/verify/trusted_root.json")).expect("JSON");
    let library: Value = serde_json::from_str(SIGSTORE_PRODUCTION_TRUSTED_ROOT).expect("JSON");
    assert_eq!(own, library, "the library has another root: take the newer one, and its date");
    let root = TrustRoot::embedded().expect("root");
    assert_eq!(root.description().to_string(), "the trusted root inside this program (of 2026-11-05)");
}

#[test]
fn a_root_is_as_young_as_its_newest_member() {
    let json = fs::read(folder().join("roots/root.json")).expect("root");
    let root = TrustRoot::from_json("Secret flux-system/roots", &json).expect("root");
    assert_eq!(root.description().to_string(), "Secret flux-system/roots (of 2025-06-01)");
}

#[test]
fn an_old_root_says_how_to_get_the_present_one() {
    let fixture = Fixture::named("old-root");
    let message = fixture.answer(&fixture.found()).expect_err("a refusal").to_string();
    assert!(
        message.contains("it was signed on 2025-03-01, and the root old-root (of 2024-03-01) is older"),
        "{message}"
    );
    assert!(message.contains("Run `cosign initialize` and store"), "{message}");
    assert!(message.contains(REFRESHED_FILE), "{message}");
}

#[rstest]
#[case::empty(json!({"mediaType": "m"}), "has neither a certificate authority nor a transparency log")]
#[case::not_a_root(json!([]), "is no trusted root in JSON")]
#[case::no_media_type(json!({}), "is no trusted root in JSON, as `cosign initialize` writes it")]
fn a_file_that_is_no_root_is_told(#[case] root: Value, #[case] expected: &str) {
    let message = root_error(&root);
    assert!(message.starts_with("Secret flux-system/roots ") && message.contains(expected), "{message}");
}

#[rstest]
#[case("tlogs", "transparency logs")]
#[case("certificateAuthorities", "certificate authorities")]
#[case("ctlogs", "certificate logs")]
#[case("timestampAuthorities", "timestamp authorities")]
fn a_root_with_too_many_members_is_refused(#[case] list: &str, #[case] what: &str) {
    let mut root = root_file("root");
    let members = root.pointer_mut(&format!("/{list}")).and_then(Value::as_array_mut).expect("a list");
    let first = members.first().expect("a member").clone();
    members.resize(65, first);
    let message = root_error(&root);
    assert!(message.contains(&format!("lists 65 {what}, 64 are allowed")), "{message}");
}

#[test]
fn a_root_that_cannot_be_used_is_refused_before_any_signature() {
    let mut root = root_file("root");
    *root.pointer_mut("/certificateAuthorities/0/certChain/certificates/0/rawBytes").expect("bytes") =
        json!("AAAA");
    assert!(root_error(&root).contains("cannot be used"), "{}", root_error(&root));
    let mut root = root_file("root");
    let log = root.pointer("/tlogs/0").expect("a log").clone();
    root.pointer_mut("/tlogs").and_then(Value::as_array_mut).expect("logs").push(log);
    assert!(root_error(&root).contains("duplicate"), "{}", root_error(&root));
    let large = format!("{{\"mediaType\":\"{}\"}}", "a".repeat(300_000));
    let message = TrustRoot::from_json("the file", large.as_bytes()).expect_err("an error").to_string();
    assert_eq!(message, "the file has 300016 bytes, a trusted root has at most 262144");
}

#[rstest]
#[case::nothing("", "own.pub is no public key in PEM")]
#[case::certificate(
    "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    "own.pub is no public key in PEM"
)]
#[case::private(
    "-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\ncanary\n",
    "own.pub is a private key; store the public one"
)]
#[case::noise("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "own.pub cannot be used")]
#[case::curve(include_str!("../vectors/keys/p521.pub"), "unsupported or invalid EC curve")]
#[case::short(include_str!("../vectors/keys/rsa1024.pub"), "of the kind Rsa and has a length")]
#[case::compressed(include_str!("../vectors/keys/compressed.pub"), "of the kind EcdsaP256 and has a length")]
fn a_file_that_is_no_usable_key_is_told(#[case] pem: &str, #[case] expected: &str) {
    let message = PublicKey::from_pem("own.pub", pem.as_bytes()).expect_err("an error").to_string();
    assert!(message.contains(expected) && !message.contains("canary"), "{message}");
}

#[test]
fn two_keys_in_one_file_are_refused_since_only_one_would_count() {
    let pem = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n".repeat(2);
    let message = PublicKey::from_pem("own.pub", pem.as_bytes()).expect_err("an error").to_string();
    assert_eq!(message, "own.pub holds more than one key: give each a file of its own");
    let message = PublicKey::from_pem("own.pub", &vec![b'a'; 20_000]).expect_err("an error").to_string();
    assert_eq!(message, "own.pub has 20000 bytes, a public key has at most 16384");
}

#[rstest]
#[case(&[], "name at least one issuer and subject, since without them anyone could sign")]
#[case(&[("", ".*")], "matchOIDCIdentity[0].issuer: it is empty")]
#[case(&[("a", "b"), ("a", "")], "matchOIDCIdentity[1].subject: it is empty")]
#[case(&[("(", "b")], "matchOIDCIdentity[0].issuer: \"(\" is no regular expression: unclosed group")]
#[case(&[("a", "b)|(.*")], "matchOIDCIdentity[0].subject: \"b)|(.*\" is no regular expression")]
#[case(&[("a", "(a{1000}){1000}")], "takes more than 1048576 bytes of memory")]
#[case(&[("a", "b"); 33], "33 identities are given, 32 are allowed")]
fn identities_that_mean_nothing_or_anyone_are_refused(
    #[case] identities: &[(&str, &str)],
    #[case] expected: &str,
) {
    let error =
        Policy::identities(identities.iter().copied(), TransparencyLog::Required).expect_err("an error");
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn a_policy_without_a_key_is_refused_and_a_long_pattern_too() {
    let error = Policy::keys(Vec::new(), TransparencyLog::Ignored).expect_err("an error");
    assert!(error.to_string().contains("no public key is given"), "{error}");
    let error = Pattern::parse(&"a".repeat(1025)).expect_err("an error");
    assert_eq!(error.to_string(), "it has 1025 bytes, 1024 are allowed");
}

#[test]
fn a_refusal_says_what_was_looked_for_and_what_was_found_in_bounds() {
    let fixture = Fixture::named("look-alike-suffix");
    let refusal = fixture.answer(&fixture.found()).expect_err("a refusal");
    assert_eq!(
        refusal.to_string(),
        "sha256:03473f89a784c14707308b73a324b887c10627dc400d8f62fd37a74d66b12438 has no acceptable signature: \
         fixture: issuer https://token.actions.githubusercontent.com with subject \
         https://github.com/org-evil/app/.github/workflows/release.yaml@refs/tags/v1.0.0 signed it, which only \
         resembles issuer https://token.actions.githubusercontent.com with subject https://github.com/org/.*: a \
         pattern has to match the whole value, and upper and lower case differ"
    );
    let mut found = fixture.found();
    let signature = found.signatures.first().expect("a signature").clone();
    found.signatures.resize(5, signature);
    let refusal = fixture.answer(&found).expect_err("a refusal").to_string();
    assert!(refusal.ends_with("; and 2 more"), "{refusal}");
}
