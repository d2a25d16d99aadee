use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use operator_net::{Answer, HttpError};

use crate::{
    digest::{Digest, Hasher},
    manifest::{Descriptor, RawManifest},
    reference::Target,
    registry::{
        error::RegistryError,
        refusal::refusal,
        remote::{Method, Remote},
        sink::Sink,
    },
    repository::Repository,
};

/// The largest manifest, in bytes; registries take no larger ones.
pub const MAX_MANIFEST_BYTES: usize = 4 * 1024 * 1024;

/// How often content is asked for that does not come whole.
const MAX_ATTEMPTS: usize = 3;

/// How long a server may be silent within an answer.
const MAX_SILENCE: Duration = Duration::from_secs(20);

/// The kinds of manifests that are known.
const ACCEPT: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, \
                      application/vnd.docker.distribution.manifest.v2+json, \
                      application/vnd.docker.distribution.manifest.list.v2+json";

impl Remote {
    /// What a target is now: one HEAD, and a GET where the registry does not say the digest.
    ///
    /// # Errors
    /// When the registry does not answer, refuses, or has no such thing.
    pub async fn resolve(&self, target: Target<'_>) -> Result<Digest, RegistryError> {
        if let Target::Digest(digest) = target {
            return Ok(*digest);
        }
        let answer = self.ask(Method::Head, &format!("manifests/{target}"), ACCEPT).await?;
        let digest = answer.header("docker-content-digest").and_then(|digest| digest.parse().ok());
        match (answer.status(), digest) {
            (200, Some(digest)) => return Ok(digest),
            (200 | 400 | 405 | 501, _) => {}
            (404, _) => return Err(self.not_found(target)),
            _ => return Err(refusal(answer, self.credential_kind()).await),
        }
        let manifest = self.get_manifest(target).await?.ok_or_else(|| self.not_found(target))?;
        Ok(manifest.digest)
    }

    /// Brings a blob to where it should go, checked against its digest. On an error it may be there in part.
    pub(crate) async fn fetch_blob(
        &self,
        descriptor: &Descriptor,
        sink: &mut Sink,
        limit: u64,
    ) -> Result<(), RegistryError> {
        let what = format!("blob {}", descriptor.digest);
        if descriptor.size > limit {
            return Err(RegistryError::TooLarge { what, limit });
        }
        let disk = |source| RegistryError::Disk { what: what.clone(), source };
        let mut attempt = 1;
        loop {
            sink.restart().await.map_err(disk)?;
            let result = self.fetch_blob_once(descriptor, sink, &what).await;
            match result {
                Err(error) if error.may_be_whole_next_time() && attempt < MAX_ATTEMPTS => attempt += 1,
                Err(error) => return Err(error),
                Ok(()) => return sink.finish().await.map_err(disk),
            }
        }
    }

    async fn fetch_blob_once(
        &self,
        descriptor: &Descriptor,
        sink: &mut Sink,
        what: &str,
    ) -> Result<(), RegistryError> {
        let mut answer = self.ask(Method::Get, &format!("blobs/{}", descriptor.digest), "*/*").await?;
        match answer.status() {
            200 => {}
            404 => return Err(RegistryError::NotFound { what: self.within_repository(what) }),
            _ => return Err(refusal(answer, self.credential_kind()).await),
        }
        let size = |found| RegistryError::Size { what: what.to_owned(), expected: descriptor.size, found };
        let (mut hasher, mut found) = (Hasher::default(), 0_u64);
        while let Some(piece) = next_piece(&mut answer, what).await? {
            found = found.saturating_add(piece.len() as u64);
            if found > descriptor.size {
                return Err(size(found));
            }
            hasher.update(&piece);
            sink.write(&piece)
                .await
                .map_err(|source| RegistryError::Disk { what: what.to_owned(), source })?;
        }
        if found != descriptor.size {
            return Err(size(found));
        }
        match hasher.finish() {
            digest if digest == descriptor.digest => Ok(()),
            found => Err(RegistryError::Digest { what: what.to_owned(), found }),
        }
    }

    pub(crate) async fn get_manifest(
        &self,
        target: Target<'_>,
    ) -> Result<Option<RawManifest>, RegistryError> {
        let mut attempt = 1;
        loop {
            match self.get_manifest_once(target).await {
                Err(error) if error.may_be_whole_next_time() && attempt < MAX_ATTEMPTS => attempt += 1,
                result => return result,
            }
        }
    }

    async fn get_manifest_once(&self, target: Target<'_>) -> Result<Option<RawManifest>, RegistryError> {
        let answer = self.ask(Method::Get, &format!("manifests/{target}"), ACCEPT).await?;
        match answer.status() {
            200 => {}
            404 => return Ok(None),
            _ => return Err(refusal(answer, self.credential_kind()).await),
        }
        let what = format!("manifest {target}");
        let named = answer.header("content-type").unwrap_or_default().to_owned();
        let announced = answer.header("docker-content-digest").and_then(|digest| digest.parse().ok());
        let bytes = whole(answer, &what, MAX_MANIFEST_BYTES).await?;
        let manifest = RawManifest::new(bytes, &named);
        let expected = match target {
            Target::Digest(digest) => Some(*digest),
            Target::Tag(_) => announced,
        };
        if expected.is_some_and(|expected| expected != manifest.digest) {
            return Err(RegistryError::Digest { what, found: manifest.digest });
        }
        Ok(Some(manifest))
    }

    pub(crate) fn not_found(&self, target: Target<'_>) -> RegistryError {
        let what = match target {
            Target::Tag(tag) => format!("tag {tag}"),
            Target::Digest(digest) => format!("manifest {digest}"),
        };
        RegistryError::NotFound { what: self.within_repository(&what) }
    }

    fn within_repository(&self, what: &str) -> String {
        format!("{what} in oci://{}/{}", self.reference.host(), self.reference.repository())
    }
}

impl Repository for Remote {
    fn manifest<'a>(
        &'a self,
        target: Target<'a>,
    ) -> BoxFuture<'a, Result<Option<RawManifest>, RegistryError>> {
        self.get_manifest(target).boxed()
    }

    fn blob<'a>(
        &'a self,
        descriptor: &'a Descriptor,
        limit_bytes: u64,
    ) -> BoxFuture<'a, Result<Vec<u8>, RegistryError>> {
        async move {
            let mut sink = Sink::Memory(Vec::new());
            self.fetch_blob(descriptor, &mut sink, limit_bytes).await?;
            match sink {
                Sink::Memory(bytes) => Ok(bytes),
                Sink::File(_) => Ok(Vec::new()),
            }
        }
        .boxed()
    }

    fn referrers<'a>(&'a self, subject: &'a Digest) -> BoxFuture<'a, Result<Vec<Descriptor>, RegistryError>> {
        self.get_referrers(subject).boxed()
    }
}

/// The next piece of a body, of a server that is not silent for too long.
pub(crate) async fn next_piece(
    answer: &mut Answer,
    what: &str,
) -> Result<Option<impl std::ops::Deref<Target = [u8]> + use<>>, RegistryError> {
    match tokio::time::timeout(MAX_SILENCE, answer.chunk()).await {
        Ok(piece) => Ok(piece?),
        Err(_) => Err(RegistryError::Stalled { what: what.to_owned(), limit: MAX_SILENCE }),
    }
}

/// A whole body of at most `limit` bytes.
pub(crate) async fn whole(mut answer: Answer, what: &str, limit: usize) -> Result<Vec<u8>, RegistryError> {
    let mut bytes = Vec::new();
    while let Some(piece) = next_piece(&mut answer, what).await? {
        if piece.len() > limit.saturating_sub(bytes.len()) {
            return Err(HttpError::TooLarge { request: answer.request().clone(), limit }.into());
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}
