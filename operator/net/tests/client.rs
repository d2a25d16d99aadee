//! What the client does with servers of all kinds, against real sockets.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod server;

use std::{env, process::Command, time::Duration};

use operator_net::{HttpClient, HttpError, Limits, Move, Url};
use rstest::rstest;
use server::Server;

const LIMITS: Limits =
    Limits { connect: Duration::from_secs(20), request: Duration::from_secs(20), answer_bytes: 64 };

fn client(limits: Limits) -> HttpClient {
    HttpClient::new(limits).unwrap()
}

async fn post(limits: Limits, url: &Url) -> Result<String, HttpError> {
    let answer = client(limits).post(url, "application/json", b"{\"a\":1}".to_vec()).await?;
    Ok(String::from_utf8(answer).unwrap())
}

fn answer(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

#[tokio::test]
async fn a_post_says_who_asks_and_what_the_body_is() {
    let server = Server::start([answer("202 Accepted", "thanks")]).await;
    let mut url = server.url("/events?token=x");
    url.set_username("user").unwrap();
    assert_eq!(post(LIMITS, &url).await.unwrap(), "thanks");
    let request = server.requests().await.remove(0);
    assert!(request.starts_with("POST /events?token=x HTTP/1.1\r\n"), "{request}");
    assert!(request.ends_with("\r\n\r\n{\"a\":1}"), "{request}");
    let version = env!("CARGO_PKG_VERSION");
    for header in
        [format!("user-agent: flux-operator/{version}\r\n"), "content-type: application/json\r\n".to_owned()]
    {
        assert!(request.contains(&header), "{request}");
    }
}

#[tokio::test]
async fn a_connection_serves_the_next_request_too() {
    let server = Server::start([answer("200 OK", "one"), answer("200 OK", "two")]).await;
    let client = client(LIMITS);
    for expected in ["one", "two"] {
        let body = client.post(&server.url("/"), "text/plain", Vec::new()).await.unwrap();
        assert_eq!(String::from_utf8(body).unwrap(), expected);
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_redirect_is_a_refusal_and_is_not_followed() {
    let other = Server::start([answer("200 OK", "stolen")]).await;
    let location = other.url("/");
    let redirect =
        format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
    let server = Server::start([redirect]).await;
    let refused = post(LIMITS, &server.url("/")).await.unwrap_err();
    assert_eq!((refused.status(), refused.next_move()), (Some(307), Move::User));
    assert_eq!(other.connections(), 0);
}

#[rstest]
#[case::of_a_stated_length(answer("200 OK", &"x".repeat(65)))]
#[case::in_pieces(format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{}0\r\n\r\n", format!("20\r\n{}\r\n", "x".repeat(32)).repeat(3)))]
#[tokio::test]
async fn an_answer_that_is_too_large_is_not_read(#[case] answer: String) {
    let server = Server::start([answer]).await;
    let problem = post(LIMITS, &server.url("/a?b")).await.unwrap_err();
    let expected = format!("failed to POST {}: the answer has more than 64 bytes", server.url("/a"));
    assert_eq!((problem.to_string(), problem.next_move()), (expected, Move::User));
}

#[tokio::test]
async fn an_answer_of_just_the_limit_is_read() {
    let server = Server::start([answer("200 OK", &"x".repeat(64))]).await;
    assert_eq!(post(LIMITS, &server.url("/")).await.unwrap().len(), 64);
}

#[rstest]
#[case::to_answer("")]
#[case::to_end_the_body("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc")]
#[tokio::test]
async fn who_takes_too_long_is_given_up(#[case] answer: &str) {
    let server = Server::start([answer.to_owned()]).await;
    let limits = Limits { request: Duration::from_millis(200), ..LIMITS };
    let mut url = server.url("/");
    url.set_password(Some("secret")).unwrap();
    let problem = post(limits, &url).await.unwrap_err();
    let expected = format!("failed to POST {}: no answer within 200ms", server.url("/"));
    assert_eq!((problem.to_string(), problem.next_move()), (expected, Move::Nobody));
}

#[tokio::test]
async fn what_is_no_http_breaks_the_request_and_nothing_else() {
    let server = Server::start(["SSH-2.0-OpenSSH_9.9\r\n\r\n".to_owned()]).await;
    let problem = post(LIMITS, &server.url("/")).await.unwrap_err();
    assert!(matches!(problem, HttpError::Broken { .. }), "{problem:?}");
    assert_eq!(problem.next_move(), Move::Nobody);
}

#[tokio::test]
async fn nobody_there_is_told_without_secrets() {
    let url = Server::start([]).await.url("/p");
    let mut secret = url.clone();
    secret.set_password(Some("hidden")).unwrap();
    secret.set_query(Some("token=hidden"));
    let problem = post(LIMITS, &secret).await.unwrap_err();
    assert_eq!(problem.to_string(), format!("failed to POST {url}: the server cannot be reached"));
    assert_eq!(problem.next_move(), Move::Nobody);
    assert!(!format!("{problem:?}").contains("hidden"), "{problem:?}");
}

#[rstest]
#[case("ftp://example.com/")]
#[case("mailto:someone@example.com")]
#[case("data:text/plain,hello")]
#[tokio::test]
async fn what_cannot_be_asked_is_the_users_move(#[case] url: &str) {
    let problem = post(LIMITS, &Url::parse(url).unwrap()).await.unwrap_err();
    assert_eq!(problem.next_move(), Move::User, "{problem:?}");
}

/// The environment of a process is read once, so these ask from a process of their own.
async fn post_elsewhere(url: &str, environment: &[(&str, &str)]) {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", "a_process_of_its_own", "--ignored"]).env("ASK", url);
    for variable in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
        child.env_remove(variable).env_remove(variable.to_lowercase());
    }
    child.envs(environment.iter().copied());
    let output = tokio::task::spawn_blocking(move || child.output().unwrap()).await.unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[tokio::test]
#[ignore = "the tests below run it in processes of their own"]
async fn a_process_of_its_own() {
    assert_eq!(post(LIMITS, &env::var("ASK").unwrap().parse().unwrap()).await.unwrap(), "here");
}

#[tokio::test]
async fn the_proxy_of_the_environment_is_asked() {
    let proxy = Server::start([answer("200 OK", "here")]).await;
    post_elsewhere("http://far.invalid./a", &[("HTTP_PROXY", proxy.url("/").as_str())]).await;
    let request = proxy.requests().await.remove(0);
    assert!(request.starts_with("POST http://far.invalid./a HTTP/1.1\r\n"), "{request}");
}

#[tokio::test]
async fn hosts_that_need_no_proxy_are_asked_themselves() {
    let proxy = Server::start([]).await;
    let server = Server::start([answer("200 OK", "here")]).await;
    let environment = [("HTTP_PROXY", proxy.url("/").to_string()), ("NO_PROXY", "127.0.0.0/8".to_owned())];
    let environment = environment.each_ref().map(|(name, value)| (*name, value.as_str()));
    post_elsewhere(server.url("/").as_str(), &environment).await;
    assert_eq!((proxy.connections(), server.connections()), (0, 1));
}

#[tokio::test]
async fn a_system_without_certificates_still_speaks_http() {
    let server = Server::start([answer("200 OK", "here")]).await;
    let nowhere = [("SSL_CERT_FILE", "/nonexistent"), ("SSL_CERT_DIR", "/nonexistent")];
    post_elsewhere(server.url("/").as_str(), &nowhere).await;
}
