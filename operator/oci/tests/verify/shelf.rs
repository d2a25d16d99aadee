//! A repository in memory that counts what it is asked.

use std::{collections::BTreeMap, sync::Mutex, time::Duration};

use data_encoding::BASE64;
use futures::{FutureExt as _, future::BoxFuture};
use operator_oci::{Descriptor, Digest, RawManifest, RegistryError, Repository, Target};
use serde_json::{Value, json};

use crate::fixture::{FixtureSignature, FixtureTag};

const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";
pub(crate) const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";

#[derive(Default)]
pub(crate) struct Shelf {
    tags: BTreeMap<String, Vec<u8>>,
    manifests: BTreeMap<String, Vec<u8>>,
    blobs: BTreeMap<String, Vec<u8>>,
    referrers: Vec<Value>,
    asked: Mutex<Vec<String>>,
    /// What does not answer.
    broken: Option<&'static str>,
}

impl Shelf {
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("asked").clone()
    }

    /// Lays a bundle or a tag down, each as cosign does.
    pub(crate) fn with(mut self, artifact: Digest, signatures: &[FixtureSignature]) -> Self {
        let tags: Vec<_> = signatures.iter().filter_map(|signature| signature.tag.clone()).collect();
        if !tags.is_empty() {
            let layers: Vec<_> = tags.iter().map(|tag| self.layer(tag)).collect();
            self.put_tag(&artifact.tag(".sig"), &json!({"mediaType": IMAGE, "layers": layers}));
        }
        for bundle in signatures.iter().filter_map(|signature| signature.bundle.as_ref()) {
            self.refer(BUNDLE, &serde_json::to_vec(bundle).expect("bundle"));
        }
        self
    }

    pub(crate) fn put_tag(&mut self, tag: &str, manifest: &Value) {
        self.tags.insert(tag.to_owned(), serde_json::to_vec(manifest).expect("manifest"));
    }

    /// Lays down something of a kind that refers to the artifact.
    pub(crate) fn refer(&mut self, kind: &str, content: &[u8]) -> Digest {
        let layer = self.blob(kind, content, &BTreeMap::new());
        let manifest =
            serde_json::to_vec(&json!({"mediaType": IMAGE, "artifactType": kind, "layers": [layer]}));
        let manifest = manifest.expect("manifest");
        let digest = Digest::of(&manifest);
        self.referrers.push(json!({
            "mediaType": IMAGE, "digest": digest.to_string(), "size": manifest.len(), "artifactType": kind,
        }));
        self.manifests.insert(digest.to_string(), manifest);
        digest
    }

    /// Lets one kind of request go without an answer.
    pub(crate) fn without(self, broken: &'static str) -> Self {
        Self { broken: Some(broken), ..self }
    }

    /// Forgets the content of blobs.
    pub(crate) fn lose_blobs(&mut self) {
        self.blobs.clear();
    }

    fn layer(&mut self, tag: &FixtureTag) -> Value {
        let payload = BASE64.decode(tag.payload.as_bytes()).expect("payload");
        self.blob("application/vnd.dev.cosign.simplesigning.v1+json", &payload, &tag.annotations)
    }

    fn blob(&mut self, kind: &str, content: &[u8], annotations: &BTreeMap<String, String>) -> Value {
        let digest = Digest::of(content).to_string();
        self.blobs.insert(digest.clone(), content.to_vec());
        json!({"mediaType": kind, "digest": digest, "size": content.len(), "annotations": annotations})
    }

    fn ask(&self, what: String) -> Result<(), RegistryError> {
        let is_broken = self.broken.is_some_and(|broken| what.starts_with(broken));
        self.asked.lock().expect("asked").push(what.clone());
        if is_broken { Err(RegistryError::Stalled { what, limit: Duration::from_secs(1) }) } else { Ok(()) }
    }

    fn find(&self, target: Target<'_>) -> Result<Option<RawManifest>, RegistryError> {
        let bytes = match target {
            Target::Tag(tag) => {
                self.ask("tag".to_owned())?;
                self.tags.get(tag)
            }
            Target::Digest(digest) => {
                self.ask("manifest".to_owned())?;
                self.manifests.get(&digest.to_string())
            }
        };
        Ok(bytes.map(|bytes| RawManifest {
            digest: Digest::of(bytes),
            bytes: bytes.clone(),
            media_type: IMAGE.to_owned(),
        }))
    }

    fn content(&self, descriptor: &Descriptor, limit_bytes: u64) -> Result<Vec<u8>, RegistryError> {
        self.ask("blob".to_owned())?;
        assert!(descriptor.size <= limit_bytes, "a blob is asked for up to its size");
        let what = descriptor.digest.to_string();
        self.blobs.get(&what).cloned().ok_or(RegistryError::NotFound { what })
    }
}

impl Repository for Shelf {
    fn manifest<'a>(
        &'a self,
        target: Target<'a>,
    ) -> BoxFuture<'a, Result<Option<RawManifest>, RegistryError>> {
        async move { self.find(target) }.boxed()
    }

    fn blob<'a>(
        &'a self,
        descriptor: &'a Descriptor,
        limit_bytes: u64,
    ) -> BoxFuture<'a, Result<Vec<u8>, RegistryError>> {
        async move { self.content(descriptor, limit_bytes) }.boxed()
    }

    fn referrers<'a>(&'a self, _: &'a Digest) -> BoxFuture<'a, Result<Vec<Descriptor>, RegistryError>> {
        async move {
            self.ask("referrers".to_owned())?;
            Ok(self
                .referrers
                .iter()
                .map(|one| serde_json::from_value(one.clone()).expect("descriptor"))
                .collect())
        }
        .boxed()
    }
}
