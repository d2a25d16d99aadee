use std::fmt;

use crate::digest::{Digest, Hasher};

/// How a client proves to a registry who it is. Never shown.
#[derive(Clone, Default, Eq, PartialEq)]
pub enum Credential {
    /// Not at all.
    #[default]
    Anonymous,
    /// By user and password.
    Basic {
        /// The user.
        username: String,
        /// The password, or a token that is used like one.
        password: String,
    },
    /// By a token that the token service of the registry takes for others: `identitytoken`.
    Identity {
        /// The token.
        token: String,
    },
    /// By a token that the registry takes itself: `registrytoken`.
    Registry {
        /// The token.
        token: String,
    },
}

impl Credential {
    /// How it is spoken of.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Anonymous => "no credentials",
            Self::Basic { .. } => "user and password",
            Self::Identity { .. } => "an identity token",
            Self::Registry { .. } => "a registry token",
        }
    }

    /// Differs when the credential does, and tells nothing of it.
    pub(crate) fn fingerprint(&self) -> Digest {
        let (kind, first, second) = match self {
            Self::Anonymous => (0, "", ""),
            Self::Basic { username, password } => (1, username.as_str(), password.as_str()),
            Self::Identity { token } => (2, token.as_str(), ""),
            Self::Registry { token } => (3, token.as_str(), ""),
        };
        let mut hasher = Hasher::default();
        hasher.update(&[kind]);
        for part in [first, second] {
            hasher.update(&part.len().to_be_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finish()
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.kind())
    }
}
