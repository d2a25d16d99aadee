use std::{collections::BTreeMap, fmt};

use data_encoding::{BASE64, BASE64_NOPAD};
use serde::Deserialize;
use thiserror::Error;

use crate::{credential::Credential, excerpt::excerpt, host_pattern::HostPattern, reference::Reference};

/// The largest pull secret, in bytes: that of any Secret.
const MAX_CONFIG_BYTES: usize = 1024 * 1024;

/// Credentials of registries, as pull secrets have them.
///
/// Which one is taken is decided as kubelet does: the key is a host, whose parts may have `*`, with the port of the
/// reference and the beginning of its repository. Of those that fit, the one that sorts last is the most exact and
/// wins; among equals the first that was added.
#[derive(Clone, Debug, Default)]
pub struct Keychain {
    entries: Vec<Entry>,
}

#[derive(Clone)]
struct Entry {
    pattern: HostPattern,
    credential: Credential,
}

/// Why a pull secret cannot be used. The messages have nothing of its values.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum KeychainError {
    #[error("it has more than {MAX_CONFIG_BYTES} bytes")]
    TooLarge,
    #[error("it is no JSON of Docker's: see line {line}, column {column}")]
    Malformed { line: usize, column: usize },
    #[error("it has no registries below `auths`")]
    NoRegistries,
    #[error("{key:?} is no name of a registry")]
    Key { key: String },
    #[error("`auth` of {key:?} is not user:password in base64")]
    Auth { key: String },
}

#[derive(Deserialize)]
struct Config {
    auths: Option<BTreeMap<String, Values>>,
}

#[derive(Default, Deserialize)]
struct Values {
    #[serde(default)]
    username: Option<String>,
    #[serde(default)]
    password: Option<String>,
    #[serde(default)]
    auth: Option<String>,
    #[serde(default)]
    identitytoken: Option<String>,
    #[serde(default)]
    registrytoken: Option<String>,
}

impl Keychain {
    /// Adds the credentials of `.dockerconfigjson`, from a Secret of type `kubernetes.io/dockerconfigjson`.
    ///
    /// # Errors
    /// When it is not what Docker writes.
    pub fn add_docker_config_json(&mut self, bytes: &[u8]) -> Result<(), KeychainError> {
        let config: Config = parse(bytes)?;
        self.add(config.auths.ok_or(KeychainError::NoRegistries)?)
    }

    /// Adds the credentials of `.dockercfg`, from a Secret of type `kubernetes.io/dockercfg`.
    ///
    /// # Errors
    /// When it is not what Docker wrote long ago.
    pub fn add_docker_config(&mut self, bytes: &[u8]) -> Result<(), KeychainError> {
        self.add(parse(bytes)?)
    }

    /// Adds a credential for the registry of a reference, behind those that fit it better.
    pub fn add_credential(&mut self, reference: &Reference, credential: Credential) {
        if let Some(pattern) = HostPattern::parse(reference.host()) {
            self.entries.push(Entry { pattern, credential });
        }
    }

    /// The credential for an artifact.
    #[must_use]
    pub fn find(&self, reference: &Reference) -> Credential {
        let mut found: Option<&Entry> = None;
        for entry in &self.entries {
            let is_better = found.is_none_or(|other| entry.pattern > other.pattern);
            if is_better && entry.pattern.fits(reference) {
                found = Some(entry);
            }
        }
        found.map(|entry| entry.credential.clone()).unwrap_or_default()
    }

    fn add(&mut self, auths: BTreeMap<String, Values>) -> Result<(), KeychainError> {
        for (key, values) in auths {
            let pattern =
                HostPattern::parse(&key).ok_or_else(|| KeychainError::Key { key: excerpt(&key) })?;
            let credential = values.credential(&key)?;
            self.entries.push(Entry { pattern, credential });
        }
        Ok(())
    }
}

fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, KeychainError> {
    if bytes.len() > MAX_CONFIG_BYTES {
        return Err(KeychainError::TooLarge);
    }
    // The message of the error may quote a password.
    serde_json::from_slice(bytes)
        .map_err(|error| KeychainError::Malformed { line: error.line(), column: error.column() })
}

impl Values {
    /// Tokens count more than user and password, as Docker has it.
    fn credential(self, key: &str) -> Result<Credential, KeychainError> {
        let given = |value: Option<String>| value.filter(|value| !value.is_empty());
        if let Some(token) = given(self.registrytoken) {
            return Ok(Credential::Registry { token });
        }
        if let Some(token) = given(self.identitytoken) {
            return Ok(Credential::Identity { token });
        }
        if let Some(auth) = given(self.auth) {
            let (username, password) =
                decode(&auth).ok_or_else(|| KeychainError::Auth { key: excerpt(key) })?;
            return Ok(Credential::Basic { username, password });
        }
        match (given(self.username), given(self.password)) {
            (None, None) => Ok(Credential::Anonymous),
            (username, password) => Ok(Credential::Basic {
                username: username.unwrap_or_default(),
                password: password.unwrap_or_default(),
            }),
        }
    }
}

fn decode(auth: &str) -> Option<(String, String)> {
    let auth = auth.trim();
    let bytes = BASE64.decode(auth.as_bytes()).or_else(|_| BASE64_NOPAD.decode(auth.as_bytes())).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (username, password) = text.split_once(':')?;
    Some((username.to_owned(), password.trim_matches('\0').to_owned()))
}

impl fmt::Debug for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?} with {:?}", self.pattern, self.credential)
    }
}

#[cfg(test)]
mod tests;
