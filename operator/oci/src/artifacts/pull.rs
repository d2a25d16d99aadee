use std::{fs::File, io::BufReader};

use super::{Artifacts, FetchError};
use crate::{
    cache::{About, Draft, Entry},
    digest::Digest,
    manifest::{self, Descriptor, Manifest, ManifestError, RawManifest},
    reference::Target,
    registry::{RegistryError, Remote, Sink},
    unpack::{UnpackError, unpack},
};

/// How much of the layer is read at a time, in bytes.
const BUFFER_BYTES: usize = 64 * 1024;

impl Artifacts {
    pub(super) async fn find(&self, digest: Digest) -> Result<Option<Entry>, FetchError> {
        let cache = self.cache.clone();
        blocking(move || Ok(cache.find(&digest)?)).await
    }

    /// Pulls what a digest names into the cache.
    pub(super) async fn pull(&self, remote: &Remote, digest: Digest) -> Result<Entry, FetchError> {
        let (image, layer) = self.layer(remote, digest).await?;
        let cache = self.cache.clone();
        let draft = blocking(move || Ok(cache.begin()?)).await?;
        self.fetch_layer(remote, &layer, &draft).await?;
        let (cache, limits, reference) = (self.cache.clone(), self.limits.unpacked, remote.reference.clone());
        // The draft goes along: when nobody waits for it any more, it is done with it that it goes.
        blocking(move || {
            let failed = |source| FetchError::Unpack { reference, digest, source };
            let archive = match File::open(draft.layer()) {
                Ok(file) => BufReader::with_capacity(BUFFER_BYTES, file),
                Err(source) => return Err(failed(UnpackError::Damaged(source))),
            };
            let bytes = unpack(archive, &draft.files(), &limits).map_err(failed)?;
            Ok(cache.publish(draft, &digest, &About { image: image.to_string(), bytes })?)
        })
        .await
    }

    async fn fetch_layer(
        &self,
        remote: &Remote,
        layer: &Descriptor,
        draft: &Draft,
    ) -> Result<(), FetchError> {
        let failed = |source| FetchError::Pull { reference: remote.reference.clone(), source };
        let file = tokio::fs::File::create(draft.layer()).await.map_err(|source| {
            failed(RegistryError::Disk { what: format!("blob {}", layer.digest), source })
        })?;
        let mut sink = Sink::File(file);
        remote.fetch_blob(layer, &mut sink, self.limits.layer_bytes).await.map_err(failed)
    }

    /// The image that a digest names, and its layer.
    async fn layer(&self, remote: &Remote, digest: Digest) -> Result<(Digest, Descriptor), FetchError> {
        let wrong = |source: ManifestError| FetchError::Manifest {
            reference: remote.reference.clone(),
            digest,
            source,
        };
        let (image, layers) = match get(remote, digest).await?.read().map_err(wrong)? {
            Manifest::Image(layers) => (digest, layers),
            Manifest::Index(manifests) => {
                let chosen = manifest::choose(&manifests).map_err(wrong)?.digest;
                match get(remote, chosen).await?.read().map_err(wrong)? {
                    Manifest::Image(layers) => (chosen, layers),
                    Manifest::Index(_) => return Err(wrong(ManifestError::Nested)),
                }
            }
        };
        Ok((image, manifest::layer(&layers).map_err(wrong)?.clone()))
    }
}

async fn get(remote: &Remote, digest: Digest) -> Result<RawManifest, FetchError> {
    let failed = |source| FetchError::Pull { reference: remote.reference.clone(), source };
    let target = Target::Digest(&digest);
    match remote.get_manifest(target).await.map_err(failed)? {
        Some(manifest) => Ok(manifest),
        None => Err(gone(remote, digest).await),
    }
}

/// What was there a moment ago may be gone because the tag was moved.
async fn gone(remote: &Remote, digest: Digest) -> FetchError {
    let reference = remote.reference.clone();
    if let target @ Target::Tag(_) = remote.reference.target()
        && let Ok(now) = remote.resolve(target).await
        && now != digest
    {
        return FetchError::Moved { reference, from: digest, to: now };
    }
    FetchError::Pull { source: remote.not_found(Target::Digest(&digest)), reference }
}

/// Does what waits for the disk where it holds up nobody.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FetchError> + Send + 'static,
) -> Result<T, FetchError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|source| Err(FetchError::Stopped { source }))
}
