//! Who asks: nobody, somebody with a password, somebody with a token.

use operator_net::Move;
use operator_oci::{Keychain, Transport};
use rstest::rstest;

use crate::{
    fake::{Asked, Fake, Reply},
    published::{artifacts, publish_on, request},
};

pub(crate) fn keychain(host: &str, values: &str) -> Keychain {
    let mut keychain = Keychain::default();
    keychain.add_docker_config_json(format!(r#"{{"auths":{{"{host}":{{{values}}}}}}}"#).as_bytes()).unwrap();
    keychain
}

/// Wants the token of its own service.
fn bearer(asked: &Asked, token: &str) -> Option<Reply> {
    if !asked.path.starts_with("/v2/") || asked.header("authorization") == format!("Bearer {token}") {
        return None;
    }
    let challenge =
        format!(r#"Bearer realm="http://{}/token",service="registry",scope="x""#, asked.header("host"));
    Some(Reply::new(401, "").header("www-authenticate", challenge))
}

fn granted(token: &str) -> Reply {
    Reply::new(200, format!(r#"{{"token":"{token}","expires_in":300}}"#))
}

#[tokio::test]
async fn a_token_is_fetched_once_for_many_requests() {
    let fake = Fake::start(|asked| {
        bearer(asked, "t").or_else(|| asked.path.starts_with("/token").then(|| granted("t")))
    })
    .await;
    publish_on(&fake, "latest", "one");
    let (_folder, artifacts) = artifacts();
    let request = request(fake.reference(""));
    let first = artifacts.fetch(&request, None).await.unwrap();
    let token = "GET /token?service=registry&scope=repository%3Aorg%2Fflux%3Apull";
    let lines = fake.lines();
    assert_eq!(
        lines[..3],
        ["HEAD /v2/org/flux/manifests/latest", token, "HEAD /v2/org/flux/manifests/latest"]
    );
    assert!(!lines[3..].contains(&token.to_owned()), "{lines:?}");
    artifacts.fetch(&request, Some(&first)).await.unwrap();
    assert_eq!(fake.lines(), ["HEAD /v2/org/flux/manifests/latest"]);
}

#[tokio::test]
async fn a_token_that_ends_early_or_is_not_taken_any_more_is_fetched_anew() {
    let mut tokens = 0;
    let fake = Fake::start(move |asked| {
        if asked.path.starts_with("/token") {
            tokens += 1;
            let lifetime = if tokens == 1 { 0 } else { 300 };
            return Some(Reply::new(
                200,
                format!(r#"{{"access_token":"t{tokens}","expires_in":{lifetime}}}"#),
            ));
        }
        bearer(asked, &format!("t{tokens}"))
    })
    .await;
    publish_on(&fake, "latest", "one");
    let (_folder, artifacts) = artifacts();
    let request = request(fake.reference(""));
    artifacts.resolve(&request).await.unwrap();
    let head = "HEAD /v2/org/flux/manifests/latest";
    let token = "GET /token?service=registry&scope=repository%3Aorg%2Fflux%3Apull";
    assert_eq!(fake.lines(), [head, token, head]);
    artifacts.resolve(&request).await.unwrap();
    assert_eq!(fake.lines(), [token, head]);
    artifacts.resolve(&request).await.unwrap();
    assert_eq!(fake.lines(), [head]);
}

#[tokio::test]
async fn rights_that_are_given_later_are_asked_for_anew() {
    let mut tokens = 0;
    let fake = Fake::start(move |asked| {
        if asked.path.starts_with("/token") {
            tokens += 1;
            return Some(granted(&format!("t{tokens}")));
        }
        match asked.header("authorization") {
            "Bearer t1" => Some(Reply::new(403, "")),
            _ => bearer(asked, &format!("t{tokens}")),
        }
    })
    .await;
    publish_on(&fake, "latest", "one");
    let (_folder, artifacts) = artifacts();
    let request = request(fake.reference(""));
    assert!(artifacts.resolve(&request).await.unwrap_err().message().contains("denies it"));
    artifacts.resolve(&request).await.unwrap();
}

#[tokio::test]
async fn user_and_password_go_to_the_token_service() {
    let fake = Fake::start(|asked| {
        if asked.path.starts_with("/token") {
            let is_user = asked.header("authorization") == "Basic dXNlcjpwYXNz";
            return Some(if is_user { granted("t") } else { Reply::new(401, "") });
        }
        bearer(asked, "t")
    })
    .await;
    publish_on(&fake, "latest", "one");
    let (_folder, artifacts) = artifacts();
    let mut request = request(fake.reference(""));
    let error = artifacts.fetch(&request, None).await.unwrap_err();
    assert_eq!(error.next_move(), Move::User);
    assert!(
        error.message().contains("it was told no credentials, check the pull secret"),
        "{}",
        error.message()
    );
    request.keychain = keychain(&format!("127.0.0.1:{}", fake.port), r#""auth":"dXNlcjpwYXNz""#);
    artifacts.fetch(&request, None).await.unwrap();
}

#[rstest]
#[case(true)]
#[case(false)]
#[tokio::test]
async fn an_identity_token_is_exchanged_or_used_for_a_password(#[case] knows_exchange: bool) {
    let fake = Fake::start(move |asked| {
        if !asked.path.starts_with("/token") {
            return bearer(asked, "t");
        }
        Some(match (asked.method.as_str(), knows_exchange) {
            ("POST", true) => {
                assert_eq!(asked.header("content-type"), "application/x-www-form-urlencoded");
                let expected = "grant_type=refresh_token&client_id=flux-operator&service=registry\
                                &scope=repository%3Aorg%2Fflux%3Apull&refresh_token=a+b%26c";
                assert_eq!((asked.path.as_str(), asked.body.as_str()), ("/token", expected));
                Reply::new(200, r#"{"access_token":"t"}"#)
            }
            ("GET", false) if asked.header("authorization") == "Basic PHRva2VuPjphIGImYw==" => granted("t"),
            ("POST", false) => Reply::new(405, ""),
            _ => Reply::new(401, ""),
        })
    })
    .await;
    publish_on(&fake, "latest", "one");
    let (_folder, artifacts) = artifacts();
    let mut request = request(fake.reference(""));
    request.keychain = keychain(&format!("127.0.0.1:{}/org", fake.port), r#""identitytoken":"a b&c""#);
    artifacts.fetch(&request, None).await.unwrap();
}

#[tokio::test]
async fn a_registry_token_is_used_as_it_is() {
    let fake = Fake::start(|asked| bearer(asked, "mine")).await;
    publish_on(&fake, "latest", "one");
    let (_folder, artifacts) = artifacts();
    let mut request = request(fake.reference(""));
    request.keychain = keychain(&format!("127.0.0.1:{}", fake.port), r#""registrytoken":"mine""#);
    artifacts.fetch(&request, None).await.unwrap();
    assert!(fake.take().iter().all(|asked| asked.header("authorization") == "Bearer mine"));
}

#[tokio::test]
async fn the_credential_of_another_registry_is_not_told() {
    let fake = Fake::start(|asked| {
        asked
            .header("authorization")
            .is_empty()
            .then(|| Reply::new(401, "").header("www-authenticate", "Basic"))
    })
    .await;
    publish_on(&fake, "latest", "one");
    let (_folder, artifacts) = artifacts();
    let mut request = request(fake.reference(""));
    request.keychain = keychain("127.0.0.1:1", r#""username":"user","password":"canary""#);
    let message = artifacts.fetch(&request, None).await.unwrap_err().message();
    assert!(message.contains("it was told no credentials"), "{message}");
    assert!(fake.take().iter().all(|asked| asked.header("authorization").is_empty()));
}

#[rstest]
#[case(r#"Bearer realm="not a url""#, "cannot be used")]
#[case(r#"Bearer service="x""#, "cannot be used")]
#[case(r#"Bearer realm="ftp://a/""#, "cannot be used")]
#[case("Negotiate", "\"Negotiate\"")]
#[case("", "wants to know who asks")]
#[tokio::test]
async fn a_challenge_that_nobody_can_answer_is_told(#[case] challenge: &'static str, #[case] expected: &str) {
    let fake = Fake::start(move |_| Some(Reply::new(401, "").header("www-authenticate", challenge))).await;
    let (_folder, artifacts) = artifacts();
    let mut request = request(fake.reference(""));
    request.keychain =
        keychain(&format!("127.0.0.1:{}", fake.port), r#""username":"user","password":"canary""#);
    let error = artifacts.fetch(&request, None).await.unwrap_err();
    assert!(error.message().contains(expected), "{}", error.message());
    assert!(!format!("{error:?} {}", error.message()).contains("canary"));
}

#[rstest]
#[case("{}")]
#[case(r#"{"token":""}"#)]
#[case("<html>canary</html>")]
#[tokio::test]
async fn an_answer_without_a_token_is_told(#[case] answer: &'static str) {
    let fake = Fake::start(move |asked| {
        if asked.path.starts_with("/token") { Some(Reply::new(200, answer)) } else { bearer(asked, "t") }
    })
    .await;
    let (_folder, artifacts) = artifacts();
    let error = artifacts.fetch(&request(fake.reference("")), None).await.unwrap_err();
    assert!(error.message().contains("the token service answered without a token"), "{}", error.message());
    assert!(!error.message().contains("canary"));
}

#[tokio::test]
async fn a_credential_with_the_end_of_a_line_is_never_sent() {
    let fake = Fake::start(|asked| bearer(asked, "x")).await;
    let (_folder, artifacts) = artifacts();
    let mut request = request(fake.reference(""));
    request.keychain = keychain(&format!("127.0.0.1:{}", fake.port), r#""registrytoken":"canary\nx""#);
    let message = artifacts.fetch(&request, None).await.unwrap_err().message();
    assert!(message.contains("the value of authorization has characters"), "{message}");
    assert!(!message.contains("canary") && fake.take().is_empty());
}

#[tokio::test]
async fn plain_http_is_spoken_only_when_it_is_said() {
    let fake = Fake::start(|_| None).await;
    publish_on(&fake, "latest", "one");
    let (_folder, artifacts) = artifacts();
    let mut request = request(fake.reference(""));
    request.transport = Transport::Https;
    let error = artifacts.fetch(&request, None).await.unwrap_err();
    assert!(error.message().ends_with("set artifactInsecure"), "{}", error.message());
    assert_eq!(error.next_move(), Move::User);
    assert!(fake.take().is_empty());
}
