//! Artifacts in folders, as crane pushes them.

use std::{fs, io::Write as _, path::Path};

use flate2::{Compression, write::GzEncoder};
use operator_oci::Digest;
use tar::{Builder, Header};

pub(crate) const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";
pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// An archive with a release of Flux of so many bytes that do not compress.
pub(crate) fn archive(bytes: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let content: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    })
    .take(bytes)
    .collect();
    let mut builder = Builder::new(Vec::new());
    let mut header = Header::new_gnu();
    header.set_size(content.len() as u64);
    header.set_mode(0o644);
    builder.append_data(&mut header, "flux/v2.9.5/rbac.yaml", content.as_slice()).unwrap();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&builder.into_inner().unwrap()).unwrap();
    encoder.finish().unwrap()
}

fn add_blob(folder: &Path, bytes: &[u8]) -> Digest {
    let digest = Digest::of(bytes);
    fs::create_dir_all(folder.join("blobs/sha256")).unwrap();
    fs::write(folder.join("blobs/sha256").join(digest.hexadecimal()), bytes).unwrap();
    digest
}

/// Writes an artifact as `flux push artifact` makes it, which may be about another; returns its digest.
pub(crate) fn write(folder: &Path, archive: &[u8], subject: Option<(Digest, usize)>) -> (Digest, usize) {
    let (layer, config) = (add_blob(folder, archive), add_blob(folder, b"{}"));
    let subject = subject.map_or_else(String::new, |(digest, size)| {
        format!(r#","subject":{{"mediaType":"{IMAGE}","digest":"{digest}","size":{size}}}"#)
    });
    let manifest = format!(
        r#"{{"schemaVersion":2,"mediaType":"{IMAGE}","config":{{"mediaType":"application/vnd.cncf.flux.config.v1+json","digest":"{config}","size":2}},"layers":[{{"mediaType":"application/vnd.cncf.flux.content.v1.tar+gzip","digest":"{layer}","size":{}}}]{subject}}}"#,
        archive.len()
    );
    let digest = add_blob(folder, manifest.as_bytes());
    fs::write(folder.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#).unwrap();
    let index = format!(
        r#"{{"schemaVersion":2,"mediaType":"{INDEX}","manifests":[{{"mediaType":"{IMAGE}","digest":"{digest}","size":{}}}]}}"#,
        manifest.len()
    );
    fs::write(folder.join("index.json"), index).unwrap();
    (digest, manifest.len())
}
