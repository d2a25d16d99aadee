use rstest::rstest;

use super::{Keychain, KeychainError};
use crate::Credential;

fn keychain(text: &str) -> Keychain {
    let mut keychain = Keychain::default();
    keychain.add_docker_config_json(text.as_bytes()).unwrap();
    keychain
}

fn basic(username: &str, password: &str) -> Credential {
    Credential::Basic { username: username.into(), password: password.into() }
}

fn found(keychain: &Keychain, reference: &str) -> Credential {
    keychain.find(&reference.parse().unwrap())
}

#[rstest]
#[case(r#"{"auth":"dXNlcjpwYTpzcw=="}"#, basic("user", "pa:ss"))]
#[case(r#"{"auth":"dXNlcjpwYTpzcw"}"#, basic("user", "pa:ss"))]
#[case(r#"{"auth":"dXNlcjpwYTpzcw==","username":"other","password":"x"}"#, basic("user", "pa:ss"))]
#[case(r#"{"username":"user","password":"pass","email":"a@b"}"#, basic("user", "pass"))]
#[case(r#"{"username":"user","auth":""}"#, basic("user", ""))]
#[case(r#"{"auth":"MDAwMA6","identitytoken":"id"}"#, Credential::Identity { token: "id".into() })]
#[case(r#"{"identitytoken":"id","registrytoken":"reg"}"#, Credential::Registry { token: "reg".into() })]
#[case("{}", Credential::Anonymous)]
fn values_are_read_as_docker_means_them(#[case] values: &str, #[case] expected: Credential) {
    let keychain = keychain(&format!(r#"{{"auths":{{"ghcr.io":{values}}},"credsStore":"x"}}"#));
    assert!(found(&keychain, "oci://ghcr.io/a") == expected);
}

#[test]
fn the_most_exact_key_wins_and_then_the_first_secret() {
    let mut keychain = keychain(
        r#"{"auths":{"ghcr.io":{"username":"host"},"ghcr.io/org":{"username":"org"},
            "https://ghcr.io/v2/org/a":{"username":"a"},"*.io":{"username":"any"}}}"#,
    );
    keychain.add_docker_config_json(br#"{"auths":{"ghcr.io":{"username":"second"}}}"#).unwrap();
    keychain.add_docker_config(br#"{"quay.io/x":{"username":"old"}}"#).unwrap();
    assert!(found(&keychain, "oci://ghcr.io/other") == basic("host", ""));
    assert!(found(&keychain, "oci://ghcr.io/org/b:v1") == basic("org", ""));
    assert!(found(&keychain, "oci://ghcr.io/org/a/b") == basic("a", ""));
    assert!(found(&keychain, "oci://quay.io/x") == basic("old", ""));
    assert!(found(&keychain, "oci://quay.io/y") == basic("any", ""));
    assert!(found(&keychain, "oci://example.com/y") == Credential::Anonymous);
}

#[rstest]
#[case("{", KeychainError::Malformed { line: 1, column: 1 })]
#[case(r#"{"auths":{"a":"secret"}}"#, KeychainError::Malformed { line: 1, column: 22 })]
#[case("{}", KeychainError::NoRegistries)]
#[case(r#"{"auths":{"":{}}}"#, KeychainError::Key { key: String::new() })]
#[case(r#"{"auths":{"a":{"auth":"c2VjcmV0"}}}"#, KeychainError::Auth { key: "a".into() })]
#[case(r#"{"auths":{"a":{"auth":"%%"}}}"#, KeychainError::Auth { key: "a".into() })]
fn what_is_wrong_is_said_without_what_is_secret(#[case] text: &str, #[case] expected: KeychainError) {
    let error = Keychain::default().add_docker_config_json(text.as_bytes()).unwrap_err();
    assert!(!error.to_string().contains("secret"), "{error}");
    assert_eq!(error, expected);
}

#[test]
fn sizes_are_bounded_and_nothing_secret_is_shown() {
    let large = vec![b' '; 1024 * 1024 + 1];
    assert_eq!(Keychain::default().add_docker_config_json(&large), Err(KeychainError::TooLarge));
    let shown = format!("{:?}", keychain(r#"{"auths":{"a":{"username":"user","password":"secret"}}}"#));
    assert!(!shown.contains("secret") && shown.contains("user and password"), "{shown}");
}
