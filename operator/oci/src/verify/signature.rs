use super::{excerpt::Excerpt, rejection::Rejection};

/// Most signatures of one artifact in one layout that are looked at: each costs a few milliseconds and up to 1 MiB, and
/// whoever may push can add more.
pub const MAX_SIGNATURES: usize = 32;
/// Largest bundle, in bytes. cosign's have 4 to 10 KB.
pub const MAX_BUNDLE_BYTES: usize = 1 << 20;
/// Largest payload of a signature under a tag, in bytes. cosign's have 250.
pub const MAX_PAYLOAD_BYTES: usize = 64 << 10;
/// Largest annotation of a signature under a tag, in bytes: an entry of the log holds a certificate.
const MAX_ANNOTATION_BYTES: usize = 64 << 10;

/// What was found when signatures were looked for.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Where was looked.
    pub looked_at: Vec<Excerpt>,
    /// What was there, the newest last, as registries list them.
    pub signatures: Vec<Signature>,
    /// How many more there were that were not fetched.
    pub left_out: usize,
}

impl Found {
    /// This and what was found elsewhere.
    #[must_use]
    pub(super) fn and(mut self, mut other: Self) -> Self {
        self.looked_at.append(&mut other.looked_at);
        self.signatures.append(&mut other.signatures);
        self.left_out = self.left_out.saturating_add(other.left_out);
        self
    }
}

/// A signature as it lies in a registry. Nothing in it is believed.
#[derive(Clone, Debug)]
pub struct Signature {
    /// A tag or a digest in the registry.
    pub location: Excerpt,
    /// The one or the other layout.
    pub content: SignatureContent,
}

/// The two layouts of cosign.
#[derive(Clone, Debug)]
pub enum SignatureContent {
    /// A layer of the image under the tag `sha256-<digest>.sig`.
    Tag(TagSignature),
    /// A Sigstore bundle in JSON, which refers to the artifact.
    Bundle(Vec<u8>),
    /// Something where a signature should be.
    Unreadable(Excerpt),
    /// A signature that was not fetched.
    TooLarge {
        /// Which part of it is too large.
        what: &'static str,
        /// How large it says to be, in bytes.
        size: usize,
        /// How large it may be, in bytes.
        limit: usize,
    },
}

/// A layer of the image under the tag `sha256-<digest>.sig`, with the annotations of its descriptor.
#[derive(Clone, Debug, Default)]
pub struct TagSignature {
    /// The content of the layer: what was signed.
    pub payload: Vec<u8>,
    /// `dev.cosignproject.cosign/signature`
    pub signature: Option<String>,
    /// `dev.sigstore.cosign/certificate`
    pub certificate: Option<String>,
    /// `dev.sigstore.cosign/chain`
    pub chain: Option<String>,
    /// `dev.sigstore.cosign/bundle`
    pub log_entry: Option<String>,
    /// `dev.sigstore.cosign/rfc3161timestamp`
    pub timestamp: Option<String>,
}

impl TagSignature {
    /// Takes what belongs to a signature out of the annotations of a layer.
    pub fn new<'a>(payload: Vec<u8>, annotations: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut signature = Self { payload, ..Self::default() };
        for (name, value) in annotations {
            let field = match name {
                "dev.cosignproject.cosign/signature" => &mut signature.signature,
                "dev.sigstore.cosign/certificate" => &mut signature.certificate,
                "dev.sigstore.cosign/chain" => &mut signature.chain,
                "dev.sigstore.cosign/bundle" => &mut signature.log_entry,
                "dev.sigstore.cosign/rfc3161timestamp" => &mut signature.timestamp,
                _ => continue,
            };
            *field = Some(value.to_owned());
        }
        signature
    }

    pub(super) fn check_sizes(&self) -> Result<(), Rejection> {
        bounded("payload", self.payload.len(), "bytes", MAX_PAYLOAD_BYTES)?;
        [
            ("signature", &self.signature),
            ("certificate", &self.certificate),
            ("certificate chain", &self.chain),
            ("log entry", &self.log_entry),
            ("timestamp", &self.timestamp),
        ]
        .into_iter()
        .try_for_each(|(what, text)| {
            bounded(what, text.as_ref().map_or(0, String::len), "bytes", MAX_ANNOTATION_BYTES)
        })
    }
}

pub(super) fn bounded(
    what: &'static str,
    size: usize,
    unit: &'static str,
    limit: usize,
) -> Result<(), Rejection> {
    if size <= limit { Ok(()) } else { Err(Rejection::TooLarge { what, size, unit, limit }) }
}
