use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, Config, core::Status};
use rstest::rstest;
use thiserror::Error;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    task::JoinHandle,
};

use super::{RequestError, bounded, explain, repeated};

const FOUND: &str =
    r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "resourceVersion": "1"}}"#;

#[derive(Debug, Error)]
#[error("failed to apply")]
struct Outer(#[source] Inner);

#[derive(Debug, Error)]
#[error("connection refused")]
struct Inner;

#[test]
fn causes_are_part_of_the_sentence() {
    assert_eq!(explain(&Outer(Inner)), "failed to apply: connection refused");
}

/// How the API server answers: a status and a body, or by closing the connection.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Say(u16, &'static str),
    Refuse(u16),
    Close,
}

/// ConfigMaps of an API server that gives these answers, one a connection, and its task.
async fn server(answers: Vec<Answer>) -> (Api<ConfigMap>, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let task = tokio::spawn(async move {
        for answer in answers {
            let mut stream = listener.accept().await.unwrap().0;
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                assert_ne!(stream.read_buf(&mut head).await.unwrap(), 0, "the request ended early");
            }
            let said = match answer {
                Answer::Say(status, body) => Some((status, body.to_owned())),
                Answer::Refuse(code) => {
                    let status = Status::failure("no", "Because").with_code(code);
                    Some((code, serde_json::to_string(&status).unwrap()))
                }
                Answer::Close => None,
            };
            if let Some((status, body)) = said {
                let length = body.len();
                let text = format!(
                    "HTTP/1.1 {status} Word\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
                );
                stream.write_all(text.as_bytes()).await.unwrap();
            }
        }
    });
    let client = Client::try_from(Config::new(url.parse().unwrap())).unwrap();
    (Api::namespaced(client, "default"), task)
}

#[rstest]
#[case::a_failure(Answer::Refuse(500))]
#[case::a_gateway(Answer::Say(502, "bad gateway"))]
#[case::a_cut(Answer::Close)]
#[case::nonsense(Answer::Say(200, "<html>"))]
#[tokio::test]
async fn what_may_pass_is_tried_again(#[case] failure: Answer) {
    let (config_maps, task) = server(vec![failure, failure, Answer::Say(200, FOUND)]).await;
    let found = repeated(|| config_maps.get("a")).await.unwrap();
    assert_eq!(found.metadata.name.as_deref(), Some("a"));
    task.await.unwrap();
}

#[rstest]
#[case::denied(403)]
#[case::conflict(409)]
#[case::invalid(422)]
#[tokio::test]
async fn a_refusal_is_not_questioned(#[case] status: u16) {
    let (config_maps, task) = server(vec![Answer::Refuse(status)]).await;
    let error = repeated(|| config_maps.get("a")).await.unwrap_err();
    assert_eq!(error.code(), Some(status));
    task.await.unwrap();
}

#[tokio::test]
async fn a_failure_that_lasts_is_told() {
    let (config_maps, task) = server(vec![Answer::Close; 4]).await;
    let error = repeated(|| config_maps.get("a")).await.unwrap_err();
    let text = explain(&error);
    assert!(text.starts_with("the API server could not be reached (connection"), "{text}");
    assert!(text.ends_with(") and is asked again"), "{text}");
    for word in ["ServiceError", "client error", "SendRequest", "hyper"] {
        assert!(!text.contains(word), "{text}");
    }
    task.await.unwrap();
}

#[tokio::test]
async fn nobody_at_the_address_is_told_in_the_words_of_the_system() {
    let (config_maps, task) = server(Vec::new()).await;
    task.await.unwrap();
    let error = bounded(config_maps.get("a")).await.unwrap_err();
    let expected = "the API server could not be reached (connection refused) and is asked again";
    assert_eq!(explain(&error), expected);
}

#[test]
fn the_words_of_the_api_server_are_passed_on() {
    let refused = Status::failure("no", "Forbidden").with_code(403);
    let error = RequestError::from(kube::Error::Api(refused.boxed()));
    assert_eq!((error.code(), error.to_string()), (Some(403), "no".to_owned()));
}
