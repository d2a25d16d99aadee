//! Requests that are sent again, and answers that are read piece by piece.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[expect(dead_code, reason = "these tests count no connections")]
mod server;

use std::time::Duration;

use operator_net::{Ask, Deadline, HttpClient, HttpError, Limits};
use server::Server;

const SECONDS: Duration = Duration::from_secs(20);
const LIMITS: Limits = Limits { connect: SECONDS, request: SECONDS, answer_bytes: 64 };

fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
}

#[tokio::test]
async fn trouble_is_waited_for_and_the_same_is_sent_again() {
    let busy = answer("503 Busy", "retry-after: 0\r\n", "later");
    let server = Server::start([busy, answer("200 OK", "x-one: 1\r\nx-one: 2\r\n", "done")]).await;
    let ask = Ask::get(server.url("/a")).header("accept", "text/plain").unwrap();
    let client = HttpClient::new(LIMITS).unwrap();
    let answer = client.send_patiently(ask, Deadline::after(SECONDS)).await.unwrap();
    assert_eq!((answer.status(), answer.header("x-one")), (200, Some("1")));
    assert_eq!(answer.headers("x-one").collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(answer.body(4).await.unwrap(), b"done");
    let requests = server.requests().await;
    assert!(requests.iter().all(|request| request.contains("accept: text/plain\r\n")), "{requests:?}");
    assert_eq!(requests.len(), 2);
}

#[tokio::test]
async fn an_answer_that_comes_too_late_to_be_waited_for_is_given_as_it_is() {
    let server = Server::start([answer("429 Slow down", "retry-after: 30\r\n", "")]).await;
    let client = HttpClient::new(LIMITS).unwrap();
    let answer = client.send_patiently(Ask::head(server.url("/")), Deadline::after(SECONDS)).await.unwrap();
    assert_eq!((answer.status(), answer.retry_after()), (429, Some(Duration::from_secs(30))));
    assert!(matches!(answer.refused(), HttpError::Refused { status: 429, .. }));
}

#[tokio::test]
async fn what_is_too_large_ends_when_the_limit_is_reached() {
    let server = Server::start([answer("200 OK", "", "12345")]).await;
    let answer = HttpClient::new(LIMITS).unwrap().send(Ask::get(server.url("/"))).await.unwrap();
    assert!(matches!(answer.body(4).await, Err(HttpError::TooLarge { limit: 4, .. })));
}

#[tokio::test]
async fn a_form_is_encoded_and_its_credentials_are_not_shown() {
    let server = Server::start([answer("200 OK", "", "")]).await;
    let fields = [("a", "1 &=\u{e4}"), ("b", "")];
    let ask = Ask::post_form(server.url("/token?x=y"), &fields).unwrap().authorization("canary").unwrap();
    assert_eq!(format!("{ask:?}"), format!("Ask(POST {})", server.url("/token")));
    HttpClient::new(LIMITS).unwrap().send(ask).await.unwrap();
    let request = server.requests().await.remove(0);
    assert!(request.starts_with("POST /token?x=y HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("authorization: canary\r\n"), "{request}");
    assert!(request.ends_with("\r\n\r\na=1+%26%3D%C3%A4&b="), "{request}");
}

#[tokio::test]
async fn a_header_that_would_be_two_is_refused() {
    let url = "http://127.0.0.1:1/".parse().unwrap();
    let error = Ask::get(url).authorization("canary\r\nx: y").unwrap_err();
    assert!(!format!("{error} {error:?}").contains("canary"), "{error:?}");
    assert!(matches!(error, HttpError::Header { name: "authorization", .. }));
}
