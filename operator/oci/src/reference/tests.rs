use proptest::{prelude::any, prop_assert_eq, proptest};
use rstest::rstest;

use super::{Reference, Target};
use crate::Digest;

const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

#[rstest]
#[case("oci://ghcr.io/org/manifests", "ghcr.io", "org/manifests", "latest")]
#[case("oci://ghcr.io/org/manifests:v2.9.5", "ghcr.io", "org/manifests", "v2.9.5")]
#[case("oci://localhost:5000/a:b", "localhost:5000", "a", "b")]
#[case("oci://[::1]:5000/a_b/c__d/e--f.g:_1", "[::1]:5000", "a_b/c__d/e--f.g", "_1")]
#[case("oci://REGISTRY.example.com/a", "registry.example.com", "a", "latest")]
#[case("oci://docker.io/alpine:3", "docker.io", "library/alpine", "3")]
#[case("oci://docker.io/org/a", "docker.io", "org/a", "latest")]
fn a_tag_is_asked_for(#[case] text: &str, #[case] host: &str, #[case] repository: &str, #[case] tag: &str) {
    let reference: Reference = text.parse().unwrap();
    assert_eq!((reference.host(), reference.repository()), (host, repository));
    assert_eq!(reference.target(), Target::Tag(tag));
}

#[test]
fn a_digest_decides_over_a_tag() {
    let digest: Digest = DIGEST.parse().unwrap();
    for text in [format!("oci://ghcr.io/a/b@{DIGEST}"), format!("oci://ghcr.io/a/b:v1@{DIGEST}")] {
        let reference: Reference = text.parse().unwrap();
        assert_eq!(reference.target(), Target::Digest(&digest));
        assert_eq!(reference.to_string(), text);
        assert_eq!(reference.pinned(digest).to_string(), format!("oci://ghcr.io/a/b@{DIGEST}"));
    }
}

#[test]
fn requests_for_docker_hub_go_to_the_host_of_its_registry() {
    let host = |text: &str| text.parse::<Reference>().unwrap().api_host().to_owned();
    assert_eq!(host("oci://docker.io/alpine"), "registry-1.docker.io");
    assert_eq!(host("oci://index.docker.io/alpine"), "registry-1.docker.io");
    assert_eq!(host("oci://ghcr.io/alpine"), "ghcr.io");
}

#[rstest]
#[case("", "oci://host/repository:tag")]
#[case("ghcr.io/a/b", "oci://host/repository:tag")]
#[case("https://ghcr.io/a/b", "oci://host/repository:tag")]
#[case("OCI://ghcr.io/a/b", "oci://host/repository:tag")]
#[case("oci://", "names no repository")]
#[case("oci://ghcr.io", "names no repository")]
#[case("oci://ghcr.io/", "names no repository")]
#[case("oci://ghcr.io/:v1", "names no repository")]
#[case("oci://user:secret@ghcr.io/a", "pull secret")]
#[case("oci:///a", "is no host")]
#[case("oci://ghcr.io:/a", "is no host")]
#[case("oci://ghcr.io:0/a", "is no host")]
#[case("oci://ghcr.io:65536/a", "is no host")]
#[case("oci://ghcr.io:+1/a", "is no host")]
#[case("oci://-a.io/a", "is no host")]
#[case("oci://a..io/a", "is no host")]
#[case("oci://a_b.io/a", "is no host")]
#[case("oci://[::g]/a", "is no host")]
#[case("oci://ghcr.io\\@evil/a", "pull secret")]
#[case("oci://ghcr.io/A", "is no repository")]
#[case("oci://ghcr.io/a//b", "is no repository")]
#[case("oci://ghcr.io/a/../b", "is no repository")]
#[case("oci://ghcr.io/a/b?x=y", "is no repository")]
#[case("oci://ghcr.io/a/%2e%2e", "is no repository")]
#[case("oci://ghcr.io/a___b", "is no repository")]
#[case("oci://ghcr.io/a..b", "is no repository")]
#[case("oci://ghcr.io/a-", "is no repository")]
#[case("oci://ghcr.io/a:", "is no tag")]
#[case("oci://ghcr.io/a:.b", "is no tag")]
#[case("oci://ghcr.io/a:b/c", "is no tag")]
#[case("oci://ghcr.io/a:b:c", "is no tag")]
#[case("oci://ghcr.io/a@", "digest of")]
#[case("oci://ghcr.io/a@sha256:00", "digest of")]
#[case("oci://ghcr.io/a@sha256:00@sha256:00", "digest of")]
fn anything_else_is_refused_and_no_password_is_shown(#[case] text: &str, #[case] expected: &str) {
    let message = text.parse::<Reference>().unwrap_err().to_string();
    assert!(message.contains(expected), "{message}");
    assert!(!message.contains("secret@"), "{message}");
}

#[test]
fn lengths_are_bounded() {
    let message = |text: String| text.parse::<Reference>().unwrap_err().to_string();
    assert!(message(format!("oci://ghcr.io/{}", "a".repeat(256))).contains("255 bytes at most"));
    assert!(message(format!("oci://ghcr.io/a:{}", "a".repeat(129))).contains("128 at most"));
    assert!(message(format!("oci://ghcr.io/{}", "a".repeat(2000))).contains("more than 1024 bytes"));
    format!("oci://ghcr.io/{}:{}", "a".repeat(255), "a".repeat(128)).parse::<Reference>().unwrap();
}

proptest! {
    #[test]
    fn no_text_is_too_strange(text in any::<String>()) {
        let _ = format!("oci://{text}").parse::<Reference>();
    }

    #[test]
    fn what_is_printed_is_read_again(text in "oci://[a-z.]{1,9}(:[1-9]{1,4})?/[a-z_/-]{1,20}(:[a-z.-]{1,9})?") {
        if let Ok(reference) = text.parse::<Reference>() {
            prop_assert_eq!(reference.to_string().parse::<Reference>(), Ok(reference));
        }
    }
}
