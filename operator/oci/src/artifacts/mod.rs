//! From the name of an artifact to its files.
//!
//! ```text
//! oci://host/repository:tag
//!   -> HEAD              what the tag is now; the same as before: done
//!   -> Verifier          who signed that digest
//!   -> Cache             are its files here already?
//!   -> manifest, layer   by digest, checked while they stream to disk
//!   -> unpack            under ceilings, into a draft
//!   -> Cache             the draft becomes an entry, by a rename
//! ```

mod error;
mod pull;

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use operator_net::{Deadline, HttpClient, Limits, Trust};

pub use error::FetchError;

use crate::{
    cache::{Cache, CacheLimits},
    digest::Digest,
    keychain::Keychain,
    reference::{Reference, Target},
    registry::{Connection, MAX_MANIFEST_BYTES, Remote, Tokens, Transport},
    trusted::{Artifact, TrustedArtifact, VerifiedArtifact, Verifier},
    unpack::UnpackLimits,
};

/// How long it may take until a connection is there; a registry that is up takes less than a second.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// What fetching an artifact may take.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ArtifactLimits {
    /// How long all of it may take: requests, repeated ones, and unpacking.
    pub time: Duration,
    /// How many bytes the layer has, compressed.
    pub layer_bytes: u64,
    /// What it unpacks to.
    pub unpacked: UnpackLimits,
    /// What is kept of it.
    pub cache: CacheLimits,
}

impl Default for ArtifactLimits {
    /// Two minutes, in which 5 MiB come over a line of 0.5 Mbit/s; a layer that is not larger than what it may
    /// unpack to.
    fn default() -> Self {
        let unpacked = UnpackLimits::default();
        Self {
            time: Duration::from_mins(2),
            layer_bytes: unpacked.bytes,
            unpacked,
            cache: CacheLimits::default(),
        }
    }
}

/// Which artifact, and how it is come by.
#[derive(Clone)]
pub struct ArtifactRequest {
    /// The artifact.
    pub reference: Reference,
    /// Who asks.
    pub keychain: Keychain,
    /// Whom to believe besides the authorities of the system, and the certificate of this client.
    pub trust: Trust,
    /// HTTPS, or plain HTTP.
    pub transport: Transport,
    /// Who proves that it was signed by whom it should be; none when nobody asks for a signature.
    pub verifier: Option<Arc<dyn Verifier>>,
}

/// An artifact that is here.
#[derive(Clone, Debug)]
pub struct Fetched {
    artifact: TrustedArtifact,
    policy: Option<String>,
    moved_to: Option<Digest>,
}

impl Fetched {
    /// The files.
    #[must_use]
    pub fn artifact(&self) -> &TrustedArtifact {
        &self.artifact
    }

    /// What the tag was moved to while the artifact was pulled: fetch again at once.
    #[must_use]
    pub fn moved_to(&self) -> Option<Digest> {
        self.moved_to
    }

    fn is_still(&self, request: &ArtifactRequest, digest: Digest) -> bool {
        let artifact = self.artifact.artifact();
        artifact.digest() == digest
            && artifact.reference().host() == request.reference.host()
            && artifact.reference().repository() == request.reference.repository()
            && self.policy == policy(request)
    }
}

/// Fetches artifacts and keeps them.
///
/// # Expected flow
/// One for the process. Whoever reconciles calls [`fetch`](Self::fetch) with what it got last time, and keeps what it
/// gets as long as it reads the files. `artifact().artifact().distribution()` gives them as `manifests` wants them,
/// `image_digest()` is `status.lastArtifactRevision`, and `artifact()` says whether they were verified. A
/// [`FetchError`] is the reason `ArtifactFailed` with its [`message`](FetchError::message); it says whose move it is,
/// and how long the registry wants to be left alone. Whoever polls calls [`resolve`](Self::resolve).
///
/// # Guarantees
/// Nothing is unpacked that does not have the digest that the tag resolved to, nor, where a [`Verifier`] is given,
/// before its signature was proven. An artifact that did not change costs one HEAD, and a token where its registry
/// wants one. Every call ends within its limits.
///
/// # Caveats
/// A reference with a digest costs no request once its files are here, and says nothing of whether it may still be
/// read.
#[derive(Debug)]
pub struct Artifacts {
    cache: Cache,
    limits: ArtifactLimits,
    tokens: Arc<Tokens>,
    /// The client of the last request: its connections are open.
    client: Mutex<Option<(Trust, HttpClient)>>,
}

impl Artifacts {
    /// Opens the cache in a folder, which is made when it is missing. Waits for the disk.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn new(folder: impl Into<PathBuf>, limits: ArtifactLimits) -> Result<Self, FetchError> {
        let cache = Cache::open(folder.into(), limits.cache)?;
        Ok(Self { cache, limits, tokens: Arc::default(), client: Mutex::default() })
    }

    /// The repository of the reference, to read more of it than its files, within the limits of one artifact.
    ///
    /// # Errors
    /// When certificates or the address cannot be used. Nothing is asked yet.
    pub fn repository(&self, request: &ArtifactRequest) -> Result<Remote, FetchError> {
        self.connect(request, Deadline::after(self.limits.time))
    }

    /// What the reference is now. Nothing is pulled.
    ///
    /// # Errors
    /// When the registry does not say it.
    pub async fn resolve(&self, request: &ArtifactRequest) -> Result<Digest, FetchError> {
        let remote = self.connect(request, Deadline::after(self.limits.time))?;
        resolve(request, &remote).await
    }

    /// The artifact as it is now; `previous` is what the last call gave for the same object.
    ///
    /// # Errors
    /// When it cannot be had, is not what it should be, or is not proven to be signed.
    pub async fn fetch(
        &self,
        request: &ArtifactRequest,
        previous: Option<&Fetched>,
    ) -> Result<Fetched, FetchError> {
        let time = self.limits.time;
        tokio::time::timeout(time, self.fetch_before(request, previous, Deadline::after(time)))
            .await
            .unwrap_or_else(|_| Err(FetchError::Late { reference: request.reference.clone(), limit: time }))
    }

    async fn fetch_before(
        &self,
        request: &ArtifactRequest,
        previous: Option<&Fetched>,
        deadline: Deadline,
    ) -> Result<Fetched, FetchError> {
        let remote = self.connect(request, deadline)?;
        let digest = resolve(request, &remote).await?;
        if let Some(previous) = previous.filter(|previous| previous.is_still(request, digest)) {
            return Ok(Fetched { moved_to: None, ..previous.clone() });
        }
        let reference = request.reference.clone();
        let proof = match &request.verifier {
            Some(verifier) => Some(verifier.verify(&remote, &digest).await.map_err(|source| {
                FetchError::NotVerified { reference: reference.clone(), digest, source }
            })?),
            None => None,
        };
        let (entry, moved_to) = match self.find(digest).await? {
            Some(entry) => (entry, None),
            None => (self.pull(&remote, digest).await?, self.moved(request, &remote, digest).await),
        };
        let artifact = Artifact { reference, digest, entry: Arc::new(entry) };
        let artifact = match proof {
            None => TrustedArtifact::Unverified(artifact),
            Some(proof) => {
                let other = FetchError::OtherProof { reference: request.reference.clone(), digest };
                TrustedArtifact::Verified(VerifiedArtifact::new(artifact, proof).ok_or(other)?)
            }
        };
        Ok(Fetched { artifact, policy: policy(request), moved_to })
    }

    /// Where a tag went while its artifact was pulled. A registry that does not say it now will when it is polled.
    async fn moved(&self, request: &ArtifactRequest, remote: &Remote, digest: Digest) -> Option<Digest> {
        match request.reference.target() {
            Target::Digest(_) => None,
            target @ Target::Tag(_) => remote.resolve(target).await.ok().filter(|now| *now != digest),
        }
    }

    fn connect(&self, request: &ArtifactRequest, deadline: Deadline) -> Result<Remote, FetchError> {
        let reference = &request.reference;
        let client = self
            .client(&request.trust)
            .map_err(|source| FetchError::Certificates { reference: reference.clone(), source })?;
        let connection = Connection {
            client,
            transport: request.transport,
            credential: request.keychain.find(reference),
            tokens: Arc::clone(&self.tokens),
            deadline,
        };
        Remote::new(reference.clone(), connection)
            .map_err(|source| FetchError::Resolve { reference: reference.clone(), source })
    }

    fn client(&self, trust: &Trust) -> Result<HttpClient, operator_net::HttpError> {
        let mut kept = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = kept.as_ref().filter(|(other, _)| other == trust) {
            return Ok(client.clone());
        }
        let limits =
            Limits { connect: CONNECT_TIMEOUT, request: self.limits.time, answer_bytes: MAX_MANIFEST_BYTES };
        let client = HttpClient::with_trust(limits, trust)?;
        *kept = Some((trust.clone(), client.clone()));
        Ok(client)
    }
}

async fn resolve(request: &ArtifactRequest, remote: &Remote) -> Result<Digest, FetchError> {
    remote
        .resolve(request.reference.target())
        .await
        .map_err(|source| FetchError::Resolve { reference: request.reference.clone(), source })
}

fn policy(request: &ArtifactRequest) -> Option<String> {
    request.verifier.as_ref().map(|verifier| verifier.fingerprint())
}
