use std::collections::BTreeMap;

use serde::Deserialize;
use thiserror::Error;

use crate::{digest::Digest, excerpt::excerpt};

/// Media types of images: one artifact.
pub(crate) const IMAGE_TYPES: [&str; 2] =
    ["application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json"];

/// Media types of indexes: a list of artifacts, one a platform.
pub(crate) const INDEX_TYPES: [&str; 2] =
    ["application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json"];

/// The platform that is taken from an index. Manifests have none, and those who publish them leave it out.
const PLATFORM: (&str, &str) = ("linux", "amd64");

/// What a manifest says of a piece of content.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// The kind of content; empty where it is not said.
    #[serde(default)]
    pub media_type: String,
    /// Its digest.
    #[serde(deserialize_with = "digest")]
    pub digest: Digest,
    /// Its size, in bytes.
    pub size: u64,
    /// What kind of artifact the content of this manifest is; empty where it is not said.
    #[serde(default)]
    pub artifact_type: String,
    /// Whatever else is said of it.
    #[serde(default, deserialize_with = "annotations")]
    pub annotations: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) platform: Option<Platform>,
}

#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
pub(crate) struct Platform {
    #[serde(default)]
    os: String,
    #[serde(default)]
    architecture: String,
}

/// A manifest as a registry gave it, its digest checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RawManifest {
    /// What was digested.
    pub bytes: Vec<u8>,
    /// The digest of the bytes.
    pub digest: Digest,
    /// The media type that it has of itself, or else that the registry named.
    pub media_type: String,
}

/// A manifest that was read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Manifest {
    Image(Vec<Descriptor>),
    Index(Vec<Descriptor>),
}

/// Why a manifest cannot be used.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum ManifestError {
    #[error("it is no manifest in JSON")]
    Malformed(#[source] serde_json::Error),
    #[error(
        "it is a {media_type:?}, but an image or an index is expected: push it with `flux push artifact`"
    )]
    Kind { media_type: String },
    #[error("the index has no manifest for linux/amd64")]
    NoPlatform,
    #[error("the index has an index in it")]
    Nested,
    #[error("it has no layers")]
    NoLayers,
    #[error("its first layer is a {media_type:?}, but an archive by tar and gzip is expected")]
    Layer { media_type: String },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    #[serde(default)]
    media_type: String,
    #[serde(default)]
    layers: Option<Vec<Descriptor>>,
    #[serde(default)]
    manifests: Option<Vec<Descriptor>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kind {
    #[serde(default)]
    media_type: String,
}

impl RawManifest {
    /// Takes the digest of a manifest. `named` is the media type that came with it.
    pub(crate) fn new(bytes: Vec<u8>, named: &str) -> Self {
        let own = serde_json::from_slice::<Kind>(&bytes).map(|kind| kind.media_type).unwrap_or_default();
        let named = named.split(';').next().unwrap_or_default().trim();
        let media_type = if own.is_empty() { named.to_owned() } else { own };
        Self { digest: Digest::of(&bytes), bytes, media_type }
    }

    pub(crate) fn read(&self) -> Result<Manifest, ManifestError> {
        let document: Document = serde_json::from_slice(&self.bytes).map_err(ManifestError::Malformed)?;
        let kind = if document.media_type.is_empty() { &self.media_type } else { &document.media_type };
        if INDEX_TYPES.contains(&kind.as_str()) {
            return Ok(Manifest::Index(document.manifests.unwrap_or_default()));
        }
        if IMAGE_TYPES.contains(&kind.as_str()) {
            return Ok(Manifest::Image(document.layers.unwrap_or_default()));
        }
        Err(ManifestError::Kind { media_type: excerpt(kind) })
    }
}

/// Which manifest of an index is taken: the first for the platform, or that names none.
pub(crate) fn choose(manifests: &[Descriptor]) -> Result<&Descriptor, ManifestError> {
    let fits = |descriptor: &&Descriptor| {
        descriptor
            .platform
            .as_ref()
            .is_none_or(|platform| (platform.os.as_str(), platform.architecture.as_str()) == PLATFORM)
    };
    let chosen = manifests.iter().find(fits).ok_or(ManifestError::NoPlatform)?;
    if INDEX_TYPES.contains(&chosen.media_type.as_str()) { Err(ManifestError::Nested) } else { Ok(chosen) }
}

/// The layer that holds the files: the first.
pub(crate) fn layer(layers: &[Descriptor]) -> Result<&Descriptor, ManifestError> {
    let first = layers.first().ok_or(ManifestError::NoLayers)?;
    let kind = first.media_type.as_str();
    if kind.ends_with("tar+gzip") || kind.ends_with("tar.gzip") {
        return Ok(first);
    }
    Err(ManifestError::Layer { media_type: excerpt(kind) })
}

fn digest<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
    let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
    text.parse().map_err(serde::de::Error::custom)
}

/// `null` is what some programs write for none.
fn annotations<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::{Manifest, RawManifest, choose, layer};

    const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";
    const INDEX: &str = "application/vnd.docker.distribution.manifest.list.v2+json";

    fn descriptor(kind: &str, rest: &str) -> String {
        format!(r#"{{"mediaType":"{kind}","digest":"{DIGEST}","size":7{rest}}}"#)
    }

    fn read(text: &str, named: &str) -> Result<Manifest, String> {
        RawManifest::new(text.into(), named).read().map_err(|error| error.to_string())
    }

    #[rstest]
    #[case("application/vnd.cncf.flux.content.v1.tar+gzip", true)]
    #[case("application/vnd.oci.image.layer.v1.tar+gzip", true)]
    #[case("application/vnd.docker.image.rootfs.diff.tar.gzip", true)]
    #[case("application/vnd.oci.image.layer.v1.tar+zstd", false)]
    #[case("application/vnd.oci.image.layer.v1.tar", false)]
    #[case("", false)]
    fn the_first_layer_is_an_archive(#[case] kind: &str, #[case] is_archive: bool) {
        let layers = format!("{},{}", descriptor(kind, ""), descriptor("text/plain", ""));
        let text = format!(r#"{{"schemaVersion":2,"mediaType":"{IMAGE}","layers":[{layers}]}}"#);
        let Manifest::Image(layers) = read(&text, "").unwrap() else { panic!("an image") };
        match layer(&layers) {
            Ok(layer) => assert!(is_archive && layer.media_type == kind && layer.size == 7),
            Err(error) => assert!(!is_archive && error.to_string().contains("tar and gzip"), "{error}"),
        }
    }

    #[test]
    fn the_kind_that_a_manifest_has_of_itself_counts_more_than_what_is_named() {
        assert_eq!(read(r#"{"layers":[]}"#, &format!("{IMAGE}; charset=utf-8")), Ok(Manifest::Image(vec![])));
        let index = format!(r#"{{"mediaType":"{INDEX}"}}"#);
        assert_eq!(read(&index, IMAGE), Ok(Manifest::Index(vec![])));
        let null = descriptor("", r#","annotations":null"#);
        let text = format!(r#"{{"mediaType":"{IMAGE}","annotations":null,"layers":[{null}]}}"#);
        assert!(matches!(read(&text, ""), Ok(Manifest::Image(layers)) if layers.len() == 1));
        assert!(read("{}", "text/html").unwrap_err().contains("text/html"));
        assert!(read("<html>", IMAGE).unwrap_err().contains("no manifest in JSON"));
        let wrong = format!(r#"{{"mediaType":"{IMAGE}","layers":[{{"digest":"md5:1","size":1}}]}}"#);
        assert!(read(&wrong, "").unwrap_err().contains("no manifest in JSON"));
        let negative = format!(r#"{{"mediaType":"{IMAGE}","layers":[{{"digest":"{DIGEST}","size":-1}}]}}"#);
        assert!(read(&negative, "").unwrap_err().contains("no manifest in JSON"));
    }

    #[rstest]
    #[case(&[(IMAGE, "windows/amd64"), (IMAGE, "linux/amd64")], Some(1))]
    #[case(&[(IMAGE, ""), (IMAGE, "linux/amd64")], Some(0))]
    #[case(&[(IMAGE, "linux/arm64")], None)]
    #[case(&[(INDEX, "")], None)]
    #[case(&[], None)]
    fn an_index_is_searched_for_the_platform(#[case] rows: &[(&str, &str)], #[case] chosen: Option<usize>) {
        let rows: Vec<String> = rows
            .iter()
            .map(|(kind, platform)| match platform.split_once('/') {
                Some((os, architecture)) => descriptor(
                    kind,
                    &format!(r#","platform":{{"os":"{os}","architecture":"{architecture}"}}"#),
                ),
                None => descriptor(kind, ""),
            })
            .collect();
        let text = format!(r#"{{"mediaType":"{INDEX}","manifests":[{}]}}"#, rows.join(","));
        let Manifest::Index(manifests) = read(&text, "").unwrap() else { panic!("an index") };
        assert_eq!(choose(&manifests).ok(), chosen.map(|index| &manifests[index]));
    }
}
