//! Blobs that are somewhere else.

use std::sync::{Arc, Mutex};

use crate::{
    auth::keychain,
    fake::{Fake, Reply},
    published::{archive, artifacts, publish_on, request},
};

#[tokio::test]
async fn another_server_gets_the_request_and_no_credential() {
    let storage =
        Fake::start(|asked| (asked.path == "/blob?sig=1").then(|| Reply::new(200, archive("one")))).await;
    let location = format!("http://127.0.0.1:{}/blob?sig=1", storage.port);
    let fake = Fake::start(move |asked| {
        if asked.header("authorization").is_empty() {
            return Some(Reply::new(401, "").header("www-authenticate", "Basic"));
        }
        asked.path.contains("/blobs/").then(|| Reply::new(307, "").header("location", location.clone()))
    })
    .await;
    publish_on(&fake, "latest", "one");
    let (_folder, artifacts) = artifacts();
    let mut request = request(fake.reference(""));
    request.keychain =
        keychain(&format!("127.0.0.1:{}", fake.port), r#""username":"user","password":"pass""#);
    artifacts.fetch(&request, None).await.unwrap();
    let asked = storage.take();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].header("authorization"), "");
    assert!(fake.take().iter().skip(1).all(|asked| asked.header("authorization") == "Basic dXNlcjpwYXNz"));
}

#[tokio::test]
async fn redirects_that_lead_nowhere_or_in_circles_end() {
    let location = Arc::new(Mutex::new("/v2/org/flux/blobs/around".to_owned()));
    let target = Arc::clone(&location);
    let fake = Fake::start(move |asked| {
        let location = target.lock().unwrap().clone();
        asked.path.contains("/blobs/").then(|| Reply::new(302, "").header("location", location))
    })
    .await;
    publish_on(&fake, "latest", "one");
    let (_folder, artifacts) = artifacts();
    let request = request(fake.reference(""));
    for (to, expected) in [
        ("/v2/org/flux/blobs/around", "it was redirected more than 5 times"),
        ("file:///etc/passwd", "a redirect that is not followed: the other address is none of HTTP"),
    ] {
        to.clone_into(&mut location.lock().unwrap());
        let message = artifacts.fetch(&request, None).await.unwrap_err().message();
        assert!(message.contains(expected), "{message}");
    }
}
