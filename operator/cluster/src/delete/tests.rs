use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use crds::status::InventoryEntry;
use kube::{Client, Config};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use super::{Deletion, Owner, Standing, delete, look};
use crate::kinds::Kinds;

const OWNER: Owner<'_> = Owner { name: "flux", namespace: "flux-system" };
const OBJECT: &str = "/namespaces/n/policies/a";

/// What an API server has, by method and path. Everything else is not there, and a page says so.
#[derive(Clone, Default)]
struct Server {
    answers: Arc<Mutex<BTreeMap<String, (u16, String)>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    async fn start(versions: &[&str]) -> (Self, Kinds) {
        let server = Self::default();
        server.serve(versions);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answering = server.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                answering.answer(stream).await;
            }
        });
        (server, Kinds::new(Client::try_from(Config::new(url.parse().unwrap())).unwrap()))
    }

    /// Serves the kind in these versions, and one object of it.
    fn serve(&self, versions: &[&str]) {
        let named = |version: &&str| json!({"groupVersion": format!("x.io/{version}"), "version": version});
        let list: Vec<Value> = versions.iter().map(named).collect();
        let group = json!({"name": "x.io", "versions": list, "preferredVersion": list.first()});
        let groups: Vec<Value> = if versions.is_empty() { Vec::new() } else { vec![group] };
        self.answers.lock().unwrap().clear();
        self.set("GET /apis", 200, &json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}));
        for version in versions {
            let resource = json!({
                "name": "policies", "singularName": "policy", "namespaced": true, "kind": "Policy",
                "verbs": ["get", "delete"],
            });
            let list = json!({
                "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": format!("x.io/{version}"),
                "resources": [resource],
            });
            self.set(&format!("GET /apis/x.io/{version}"), 200, &list);
            let labels = json!({"fluxcd.controlplane.io/name": "flux", "fluxcd.controlplane.io/namespace": "flux-system"});
            let object = json!({
                "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
                "metadata": {"name": "a", "namespace": "n", "uid": "u", "labels": labels},
            });
            self.set(&format!("GET /apis/x.io/{version}{OBJECT}"), 200, &object);
            let done = json!({"kind": "Status", "apiVersion": "v1", "status": "Success"});
            self.set(&format!("DELETE /apis/x.io/{version}{OBJECT}"), 200, &done);
        }
    }

    fn set(&self, request: &str, status: u16, body: &Value) {
        self.answers.lock().unwrap().insert(request.to_owned(), (status, body.to_string()));
    }

    fn deletions(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|request| request.starts_with("DELETE")).cloned().collect()
    }

    async fn answer(&self, mut stream: TcpStream) {
        let mut text = Vec::new();
        let request = loop {
            assert_ne!(stream.read_buf(&mut text).await.unwrap(), 0, "the request ended early");
            let text = String::from_utf8(text.clone()).unwrap();
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() == length.map_or(0, |length| length.parse().unwrap()) {
                let words: Vec<&str> = head.split([' ', '?']).collect();
                break format!("{} {}", words[0], words[1]);
            }
        };
        let answer = self.answers.lock().unwrap().get(&request).cloned();
        let (status, body) = answer.unwrap_or((404, "404 page not found\n".to_owned()));
        self.asked.lock().unwrap().push(request);
        let head =
            format!("HTTP/1.1 {status} Word\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
        stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    }
}

fn entry(version: &str) -> InventoryEntry {
    InventoryEntry { id: "n_a_x.io_Policy".to_owned(), v: version.to_owned(), uid: Some("u".to_owned()) }
}

async fn deleted(kinds: &Kinds, version: &str) -> Deletion {
    delete(kinds, &entry(version), OWNER).await.unwrap()
}

#[tokio::test]
async fn an_object_whose_recorded_version_went_is_deleted_in_another_one() {
    let (server, kinds) = Server::start(&["v1", "v2"]).await;
    assert_eq!(deleted(&kinds, "v1beta1").await, Deletion::Deleted);
    assert_eq!(server.deletions(), ["DELETE /apis/x.io/v1/namespaces/n/policies/a"]);
}

#[tokio::test]
async fn a_version_that_goes_after_its_kind_was_looked_up_takes_no_object_with_it() {
    let (server, kinds) = Server::start(&["v1"]).await;
    assert_eq!(deleted(&kinds, "v1").await, Deletion::Deleted);
    server.serve(&["v2"]);
    assert_eq!(deleted(&kinds, "v1").await, Deletion::Deleted);
    let expected = ["v1", "v2"].map(|version| format!("DELETE /apis/x.io/{version}{OBJECT}"));
    assert_eq!(server.deletions(), expected);
}

#[tokio::test]
async fn an_object_goes_with_its_kind() {
    let (server, kinds) = Server::start(&[]).await;
    assert_eq!(deleted(&kinds, "v1").await, Deletion::Absent);
    assert_eq!(server.deletions(), Vec::<String>::new());
}

#[tokio::test]
async fn an_object_that_the_api_server_does_not_find_is_gone() {
    let (server, kinds) = Server::start(&["v1"]).await;
    let missing = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404,
        "message": "policies.x.io \"a\" not found",
        "details": {"name": "a", "group": "x.io", "kind": "policies"},
    });
    server.set(&format!("GET /apis/x.io/v1{OBJECT}"), 404, &missing);
    assert_eq!(deleted(&kinds, "v1").await, Deletion::Absent);
}

#[tokio::test]
async fn a_look_tells_what_a_deletion_would_find_and_deletes_nothing() {
    let (server, kinds) = Server::start(&["v1"]).await;
    let labels =
        json!({"fluxcd.controlplane.io/name": "flux", "fluxcd.controlplane.io/namespace": "flux-system"});
    let protected = json!({"fluxcd.controlplane.io/prune": "disabled"});
    let cases = [
        (json!({"uid": "u", "labels": labels}), Standing::Ours),
        (json!({"uid": "u", "labels": {}}), Standing::Foreign),
        (json!({"uid": "another", "labels": labels}), Standing::Foreign),
        (json!({"uid": "u", "labels": labels, "annotations": protected}), Standing::Protected),
        (
            json!({"uid": "u", "labels": labels, "deletionTimestamp": "2026-01-01T00:00:00Z"}),
            Standing::Terminating,
        ),
    ];
    for (mut metadata, expected) in cases {
        metadata["name"] = json!("a");
        metadata["namespace"] = json!("n");
        let object = json!({
            "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": metadata,
        });
        server.set(&format!("GET /apis/x.io/v1{OBJECT}"), 200, &object);
        assert_eq!(look(&kinds, &entry("v1"), OWNER).await.unwrap(), expected, "{metadata}");
    }
    assert_eq!(server.deletions(), Vec::<String>::new());
}
