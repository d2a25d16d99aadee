use std::{fmt, str::FromStr};

use thiserror::Error;

use crate::digest::{Digest, DigestError};

/// The tag that is meant where none is named.
const DEFAULT_TAG: &str = "latest";

/// The longest reference, in bytes: a repository and a tag have 255 and 128 at most.
const MAX_REFERENCE_BYTES: usize = 1024;
const MAX_REPOSITORY_BYTES: usize = 255;
const MAX_TAG_BYTES: usize = 128;

/// Which names Docker Hub has in references and credentials.
const DOCKER_HUB: [&str; 3] = ["docker.io", "index.docker.io", "registry-1.docker.io"];

/// An artifact in a registry: `oci://host[:port]/repository[:tag][@digest]`.
///
/// Where both are named the digest decides, and the tag is for people.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Reference {
    host: String,
    repository: String,
    tag: Option<String>,
    digest: Option<Digest>,
}

/// What is asked for within a repository.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Target<'a> {
    /// What has this tag now.
    Tag(&'a str),
    /// What has this digest, now and for ever.
    Digest(&'a Digest),
}

/// Why a text is no reference.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum ReferenceError {
    #[error(
        "an artifact is named as oci://host/repository:tag or oci://host/repository@sha256:..., not {text:?}"
    )]
    Scheme { text: String },
    #[error("the artifact's name has more than {MAX_REFERENCE_BYTES} bytes")]
    TooLong,
    #[error("user and password are no part of {text:?}: they belong into a pull secret")]
    Userinfo { text: String },
    #[error("{host:?} in {text:?} is no host: letters, digits, dots and dashes, and a port are expected")]
    Host { host: String, text: String },
    #[error("{text:?} names no repository: oci://host/repository is expected")]
    NoRepository { text: String },
    #[error(
        "{repository:?} in {text:?} is no repository: lower-case letters and digits, separated by one of . _ __ - \
         and /, {MAX_REPOSITORY_BYTES} bytes at most"
    )]
    Repository { repository: String, text: String },
    #[error(
        "{tag:?} in {text:?} is no tag: letters, digits and . _ - are expected, {MAX_TAG_BYTES} at most, and \
         neither . nor - first"
    )]
    Tag { tag: String, text: String },
    #[error("the digest of {text:?} cannot be used")]
    Digest { text: String, source: DigestError },
}

impl Reference {
    /// The registry, with its port where one is named.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The host that requests go to: Docker Hub's is not the one that it is named by.
    #[must_use]
    pub fn api_host(&self) -> &str {
        if is_docker_hub(&self.host) { "registry-1.docker.io" } else { &self.host }
    }

    /// The repository within the registry.
    #[must_use]
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// What is asked for.
    #[must_use]
    pub fn target(&self) -> Target<'_> {
        match (&self.digest, &self.tag) {
            (Some(digest), _) => Target::Digest(digest),
            (None, Some(tag)) => Target::Tag(tag),
            (None, None) => Target::Tag(DEFAULT_TAG),
        }
    }

    /// The same repository, pinned: `oci://host/repository@digest`.
    #[must_use]
    pub fn pinned(&self, digest: Digest) -> Self {
        Self { tag: None, digest: Some(digest), ..self.clone() }
    }
}

/// Whether a host is a name of Docker Hub.
pub(crate) fn is_docker_hub(host: &str) -> bool {
    DOCKER_HUB.contains(&host)
}

impl FromStr for Reference {
    type Err = ReferenceError;

    fn from_str(full: &str) -> Result<Self, Self::Err> {
        if full.len() > MAX_REFERENCE_BYTES {
            return Err(ReferenceError::TooLong);
        }
        let text = || operator_net::without_userinfo(full);
        let rest = full.strip_prefix("oci://").ok_or_else(|| ReferenceError::Scheme { text: text() })?;
        let (host, path) =
            rest.split_once('/').ok_or_else(|| ReferenceError::NoRepository { text: text() })?;
        if host.contains('@') {
            return Err(ReferenceError::Userinfo { text: text() });
        }
        if !is_host(host) {
            return Err(ReferenceError::Host { host: host.to_owned(), text: text() });
        }
        let (name, digest) = match path.split_once('@') {
            Some((name, digest)) => {
                let digest =
                    digest.parse().map_err(|source| ReferenceError::Digest { text: text(), source })?;
                (name, Some(digest))
            }
            None => (path, None),
        };
        let (repository, tag) = name.split_once(':').map_or((name, None), |(name, tag)| (name, Some(tag)));
        if let Some(tag) = tag.filter(|tag| !is_tag(tag)) {
            return Err(ReferenceError::Tag { tag: tag.to_owned(), text: text() });
        }
        if repository.is_empty() {
            return Err(ReferenceError::NoRepository { text: text() });
        }
        if !is_repository(repository) {
            return Err(ReferenceError::Repository { repository: repository.to_owned(), text: text() });
        }
        let host = host.to_ascii_lowercase();
        // Docker Hub keeps its own images in a folder that nobody names.
        let repository = if is_docker_hub(&host) && !repository.contains('/') {
            format!("library/{repository}")
        } else {
            repository.to_owned()
        };
        Ok(Self { host, repository, tag: tag.map(str::to_owned), digest })
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "oci://{}/{}", self.host, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(formatter, ":{tag}")?;
        }
        match &self.digest {
            Some(digest) => write!(formatter, "@{digest}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Target<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tag(tag) => formatter.write_str(tag),
            Self::Digest(digest) => digest.fmt(formatter),
        }
    }
}

fn is_host(text: &str) -> bool {
    let (name, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, port)) => {
            if address.parse::<std::net::Ipv6Addr>().is_err() {
                return false;
            }
            return port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
        }
        None => text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port))),
    };
    let is_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    name.len() <= 253 && name.split('.').all(is_label) && port.is_none_or(is_port)
}

fn is_port(text: &str) -> bool {
    text.parse::<u16>().is_ok_and(|port| port > 0) && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_repository(text: &str) -> bool {
    text.len() <= MAX_REPOSITORY_BYTES && text.split('/').all(is_component)
}

/// Runs of lower-case letters and digits, separated by `.`, `_`, `__` or any number of `-`.
fn is_component(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if !text.bytes().all(|byte| is_word(byte) || matches!(byte, b'.' | b'_' | b'-')) {
        return false;
    }
    if !text.bytes().next().is_some_and(is_word) || !text.bytes().last().is_some_and(is_word) {
        return false;
    }
    let separators = text.split(|character: char| character.is_ascii_alphanumeric());
    separators
        .filter(|separator| !separator.is_empty())
        .all(|separator| matches!(separator, "." | "_" | "__") || separator.bytes().all(|byte| byte == b'-'))
}

fn is_tag(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.len() <= MAX_TAG_BYTES
        && text.bytes().next().is_some_and(is_word)
        && text.bytes().all(|byte| is_word(byte) || matches!(byte, b'.' | b'-'))
}

#[cfg(test)]
mod tests;
