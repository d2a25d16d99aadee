use serde::Deserialize;

use super::{excerpt::Excerpt, rejection::Rejection};
use crate::digest::Digest;

const SIGNATURE_TYPE: &str = "cosign container image signature";

/// What is signed in the layout with a tag.
#[derive(Deserialize)]
struct Payload {
    critical: Critical,
}

#[derive(Deserialize)]
struct Critical {
    image: Image,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Image {
    #[serde(rename = "docker-manifest-digest")]
    digest: String,
}

/// Whether a payload is a signature of `artifact`. The name of the image in it is not looked at: a mirror has another.
pub(super) fn check(artifact: Digest, payload: &[u8]) -> Result<(), Rejection> {
    let payload: Payload = serde_json::from_slice(payload)
        .map_err(|error| Rejection::Unreadable { problem: Excerpt::of(&format!("the payload: {error}")) })?;
    if payload.critical.kind != SIGNATURE_TYPE {
        return Err(Rejection::NotASignature { predicate: Excerpt::of(&payload.critical.kind) });
    }
    if payload.critical.image.digest == artifact.to_string() {
        Ok(())
    } else {
        Err(Rejection::OtherArtifact { artifact, found: Excerpt::of(&payload.critical.image.digest) })
    }
}
