//! Where signatures are looked for. What is there is taken as it is: a signature that cannot be read is one that
//! does not count, and only a registry that does not answer is an error.

use std::collections::{HashMap, hash_map::Entry};

use super::{
    excerpt::Excerpt,
    signature::{
        Found, MAX_BUNDLE_BYTES, MAX_PAYLOAD_BYTES, MAX_SIGNATURES, Signature, SignatureContent, TagSignature,
    },
};
use crate::{
    digest::Digest,
    manifest::{Descriptor, Manifest, RawManifest},
    reference::Target,
    registry::RegistryError,
    repository::Repository,
};

/// The kinds of bundles: `application/vnd.dev.sigstore.bundle.v0.3+json`, and older ones.
const BUNDLE_TYPE: &str = "application/vnd.dev.sigstore.bundle";
/// What some registries name instead: the kind of the manifest's configuration, and bundles have none.
const EMPTY_TYPE: &str = "application/vnd.oci.empty.v1+json";
/// The kind of a layer under a tag that is a signature.
const PAYLOAD_TYPE: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
/// Bytes of all signatures that are kept at once. 32 of cosign take less than 1 MiB.
const MAX_ALL_BYTES: usize = 4 << 20;

/// Fetches the signatures of one artifact.
pub(super) struct Gatherer<'a> {
    repository: &'a dyn Repository,
    artifact: Digest,
    bytes_left: usize,
}

impl<'a> Gatherer<'a> {
    pub(super) fn new(repository: &'a dyn Repository, artifact: Digest) -> Self {
        Self { repository, artifact, bytes_left: MAX_ALL_BYTES }
    }

    /// The bundles that refer to the artifact.
    pub(super) async fn bundles(&mut self) -> Result<Found, RegistryError> {
        let artifact = self.artifact;
        let mut referrers = self.repository.referrers(&artifact).await?;
        referrers.retain(|referrer| may_be_bundle(&referrer.artifact_type));
        let looked_at = vec![Excerpt::of(&format!("what refers to {artifact}"))];
        let mut found = Found { looked_at, ..Found::default() };
        for referrer in newest(&referrers, &mut found.left_out) {
            let target = Target::Digest(&referrer.digest);
            let Some(manifest) = self.repository.manifest(target).await? else { continue };
            let content = match bundle_layer(&manifest) {
                Ok(Some(layer)) => match self.fetch("bundle", &layer, MAX_BUNDLE_BYTES).await? {
                    Ok(json) => SignatureContent::Bundle(json),
                    Err(unusable) => unusable,
                },
                Ok(None) => continue,
                Err(problem) => SignatureContent::Unreadable(problem),
            };
            found.signatures.push(Signature { location: Excerpt::of(&referrer.digest.to_string()), content });
        }
        Ok(found)
    }

    /// The signatures under the tag that is made of the digest.
    pub(super) async fn tagged(&mut self) -> Result<Found, RegistryError> {
        let tag = self.artifact.tag(".sig");
        let location = Excerpt::of(&format!("the tag {tag}"));
        let mut found = Found { looked_at: vec![location.clone()], ..Found::default() };
        let Some(manifest) = self.repository.manifest(Target::Tag(&tag)).await? else { return Ok(found) };
        let layers: Vec<_> = match layers(&manifest) {
            Ok(layers) => layers.into_iter().filter(|layer| layer.media_type == PAYLOAD_TYPE).collect(),
            Err(problem) => {
                found.signatures.push(Signature { location, content: SignatureContent::Unreadable(problem) });
                return Ok(found);
            }
        };
        // Several signatures of one payload differ in their annotations.
        let mut payloads = HashMap::new();
        for layer in newest(&layers, &mut found.left_out) {
            let payload = match payloads.entry(layer.digest) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(self.fetch("payload", layer, MAX_PAYLOAD_BYTES).await?),
            };
            let content = match payload {
                Ok(payload) => {
                    let annotations = layer.annotations.iter();
                    let annotations = annotations.map(|(name, value)| (name.as_str(), value.as_str()));
                    SignatureContent::Tag(TagSignature::new(payload.clone(), annotations))
                }
                Err(unusable) => unusable.clone(),
            };
            found.signatures.push(Signature { location: location.clone(), content });
        }
        Ok(found)
    }

    /// A part of a signature, or why it is none.
    async fn fetch(
        &mut self,
        what: &'static str,
        layer: &Descriptor,
        limit: usize,
    ) -> Result<Result<Vec<u8>, SignatureContent>, RegistryError> {
        let limit = limit.min(self.bytes_left);
        let size = usize::try_from(layer.size).unwrap_or(usize::MAX);
        if size > limit {
            return Ok(Err(SignatureContent::TooLarge { what, size, limit }));
        }
        self.bytes_left = self.bytes_left.saturating_sub(size);
        match self.repository.blob(layer, layer.size).await {
            Ok(content) => Ok(Ok(content)),
            Err(error @ RegistryError::NotFound { .. }) => {
                Ok(Err(SignatureContent::Unreadable(Excerpt::of(&error.to_string()))))
            }
            Err(error) => Err(error),
        }
    }
}

/// A registry that does not say what kind of thing refers to the artifact leaves it to the manifest to tell.
fn may_be_bundle(kind: &str) -> bool {
    kind.is_empty() || kind == EMPTY_TYPE || kind.starts_with(BUNDLE_TYPE)
}

fn bundle_layer(manifest: &RawManifest) -> Result<Option<Descriptor>, Excerpt> {
    let layers = layers(manifest)?;
    let mut bundles = layers.into_iter().filter(|layer| layer.media_type.starts_with(BUNDLE_TYPE));
    match (bundles.next(), bundles.next()) {
        (Some(_), Some(_)) => Err(Excerpt::of("it has more than one bundle")),
        (only, _) => Ok(only),
    }
}

fn layers(manifest: &RawManifest) -> Result<Vec<Descriptor>, Excerpt> {
    match manifest.read() {
        Ok(Manifest::Image(layers)) => Ok(layers),
        Ok(Manifest::Index(_)) => Err(Excerpt::of("it is an index, but an image is expected")),
        Err(error) => Err(Excerpt::of(&error.to_string())),
    }
}

/// The last of `all`, which are the newest; how many more there are is counted.
fn newest<'a>(all: &'a [Descriptor], left_out: &mut usize) -> &'a [Descriptor] {
    *left_out = all.len().saturating_sub(MAX_SIGNATURES);
    all.get(*left_out..).unwrap_or_default()
}
