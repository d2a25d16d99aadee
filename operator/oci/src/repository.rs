use futures::future::BoxFuture;

use crate::{
    digest::Digest,
    manifest::{Descriptor, RawManifest},
    reference::Target,
    registry::RegistryError,
};

/// What is read of one repository of a registry.
///
/// # Guarantees
/// Whatever has a digest was checked against it, every size is bounded, and every call ends by the deadline that
/// the implementation was made with.
pub trait Repository: Send + Sync {
    /// The manifest that a tag or digest names now; none when the repository has none.
    ///
    /// # Errors
    /// When the registry does not answer, refuses, or says what does not fit the digest.
    fn manifest<'a>(
        &'a self,
        target: Target<'a>,
    ) -> BoxFuture<'a, Result<Option<RawManifest>, RegistryError>>;

    /// The content of a blob of at most `limit_bytes`.
    ///
    /// # Errors
    /// As for manifests; besides when the descriptor or the content is larger than the limit, and when the
    /// repository does not have it.
    fn blob<'a>(
        &'a self,
        descriptor: &'a Descriptor,
        limit_bytes: u64,
    ) -> BoxFuture<'a, Result<Vec<u8>, RegistryError>>;

    /// The manifests that say that they are about `subject`: from the API for it, and where the registry has no
    /// such API, from the tag `sha256-<hexadecimal>`. In the order of the registry; whether they really are about
    /// the subject is for the caller to check.
    ///
    /// # Errors
    /// As for manifests; besides when there are more than [`MAX_REFERRERS`].
    fn referrers<'a>(&'a self, subject: &'a Digest) -> BoxFuture<'a, Result<Vec<Descriptor>, RegistryError>>;
}

/// The most manifests about one other that are looked at; a signed artifact with its bill of materials has three.
pub const MAX_REFERRERS: usize = 1_000;
