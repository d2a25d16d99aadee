//! Artifacts as `flux push artifact` makes them.

use std::{io::Write as _, time::Duration};

use flate2::{Compression, write::GzEncoder};
use operator_oci::{ArtifactLimits, ArtifactRequest, Artifacts, Digest, Keychain, Reference, Transport};
use tar::{Builder, Header};
use tempfile::TempDir;

use crate::fake::{Content, Fake};

pub(crate) const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";
pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// An archive with one release of Flux, told apart by a text.
pub(crate) fn archive(text: &str) -> Vec<u8> {
    archive_of(&[("flux/v2.9.5/rbac.yaml", text.as_bytes())])
}

pub(crate) fn archive_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (path, bytes) in files {
        let mut header = Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, path, *bytes).unwrap();
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&builder.into_inner().unwrap()).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn manifest(layer: Digest, size: usize) -> String {
    let config = Digest::of(b"{}");
    format!(
        r#"{{"schemaVersion":2,"mediaType":"{IMAGE}","config":{{"mediaType":"application/vnd.cncf.flux.config.v1+json","digest":"{config}","size":2}},"layers":[{{"mediaType":"application/vnd.cncf.flux.content.v1.tar+gzip","digest":"{layer}","size":{size}}}]}}"#
    )
}

/// Adds an artifact under a tag.
pub(crate) fn publish(content: &mut Content, tag: &str, text: &str) -> Digest {
    let archive = archive(text);
    let layer = content.add_blob(&archive);
    content.add_manifest(tag, IMAGE, &manifest(layer, archive.len()))
}

pub(crate) fn publish_on(fake: &Fake, tag: &str, text: &str) -> Digest {
    publish(&mut fake.content.lock().unwrap(), tag, text)
}

/// An empty cache, which goes with the folder.
pub(crate) fn artifacts() -> (TempDir, Artifacts) {
    let folder = TempDir::new().unwrap();
    let limits = ArtifactLimits { time: Duration::from_secs(20), ..ArtifactLimits::default() };
    let artifacts = Artifacts::new(folder.path().join("cache"), limits).unwrap();
    (folder, artifacts)
}

/// By plain HTTP, without a credential.
pub(crate) fn request(reference: Reference) -> ArtifactRequest {
    ArtifactRequest {
        reference,
        keychain: Keychain::default(),
        trust: operator_net::Trust::default(),
        transport: Transport::PlainHttp,
        verifier: None,
    }
}
