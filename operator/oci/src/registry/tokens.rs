use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::{digest::Digest, registry::challenge::Challenge};

/// How many are kept: one a repository and credential.
const MAX_TOKENS: usize = 100;

/// How long a token is used at most, whatever its service says.
const MAX_LIFETIME: Duration = Duration::from_hours(1);

/// For whom and for what a token is.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct TokenKey {
    /// Scheme, host and port of the registry.
    pub(crate) server: String,
    /// The repository.
    pub(crate) scope: String,
    /// Who asks.
    pub(crate) credential: Digest,
}

/// How requests are let in, as the last one was.
#[derive(Clone)]
pub(crate) struct Admission {
    pub(crate) challenge: Challenge,
    /// The value of `Authorization`.
    pub(crate) authorization: String,
}

/// Tokens of registries, kept until shortly before they end.
#[derive(Default)]
pub(crate) struct Tokens(Mutex<HashMap<TokenKey, Held>>);

struct Held {
    admission: Admission,
    ends: Instant,
    used: Instant,
}

/// What there is for a key.
pub(crate) enum Found {
    /// A token that is still good.
    Fresh(Admission),
    /// A token that has ended, and how to come by another.
    Ended(Challenge),
    Nothing,
}

impl Tokens {
    pub(crate) fn find(&self, key: &TokenKey, now: Instant) -> Found {
        let mut tokens = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match tokens.get_mut(key) {
            Some(held) if now < held.ends => {
                held.used = now;
                Found::Fresh(held.admission.clone())
            }
            Some(held) => Found::Ended(held.admission.challenge.clone()),
            None => Found::Nothing,
        }
    }

    /// Keeps a token for four fifths of its lifetime.
    pub(crate) fn keep(&self, key: TokenKey, admission: Admission, lifetime: Duration, now: Instant) {
        let mut tokens = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if tokens.len() >= MAX_TOKENS && !tokens.contains_key(&key) {
            let oldest = tokens.iter().min_by_key(|(_, held)| held.used).map(|(key, _)| key.clone());
            if let Some(oldest) = oldest {
                tokens.remove(&oldest);
            }
        }
        let good = lifetime.min(MAX_LIFETIME).saturating_mul(4).checked_div(5).unwrap_or_default();
        let ends = now.checked_add(good).unwrap_or(now);
        tokens.insert(key, Held { admission, ends, used: now });
    }

    pub(crate) fn forget(&self, key: &TokenKey) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Tokens(..)")
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Admission, Found, MAX_TOKENS, TokenKey, Tokens};
    use crate::{Digest, registry::challenge::Challenge};

    fn key(scope: &str, credential: &str) -> TokenKey {
        let credential = Digest::of(credential.as_bytes());
        TokenKey { server: "https://a".into(), scope: scope.into(), credential }
    }

    fn admission(token: &str) -> Admission {
        Admission { challenge: Challenge::Basic, authorization: token.into() }
    }

    fn token(tokens: &Tokens, key: &TokenKey, now: Instant) -> String {
        match tokens.find(key, now) {
            Found::Fresh(admission) => admission.authorization,
            Found::Ended(_) => "ended".into(),
            Found::Nothing => "nothing".into(),
        }
    }

    #[test]
    fn a_token_is_for_one_scope_and_one_credential_and_ends_early() {
        let (tokens, now) = (Tokens::default(), Instant::now());
        tokens.keep(key("a", "x"), admission("t"), Duration::from_mins(5), now);
        assert_eq!(token(&tokens, &key("a", "x"), now + Duration::from_secs(239)), "t");
        assert_eq!(token(&tokens, &key("a", "x"), now + Duration::from_mins(4)), "ended");
        assert_eq!(token(&tokens, &key("a", "y"), now), "nothing");
        assert_eq!(token(&tokens, &key("b", "x"), now), "nothing");
        tokens.forget(&key("a", "x"));
        assert_eq!(token(&tokens, &key("a", "x"), now), "nothing");
    }

    #[test]
    fn no_token_is_kept_for_ever() {
        let (tokens, now) = (Tokens::default(), Instant::now());
        tokens.keep(key("a", "x"), admission("t"), Duration::MAX, now);
        assert_eq!(token(&tokens, &key("a", "x"), now + Duration::from_mins(48)), "ended");
    }

    #[test]
    fn the_token_that_was_not_used_for_the_longest_time_makes_room() {
        let (tokens, now) = (Tokens::default(), Instant::now());
        for index in 0..MAX_TOKENS {
            let later = now + Duration::from_millis(index as u64);
            tokens.keep(key(&index.to_string(), "x"), admission("t"), Duration::from_hours(1), later);
        }
        let later = now + Duration::from_secs(1);
        assert_eq!(token(&tokens, &key("0", "x"), later), "t");
        tokens.keep(key("one more", "x"), admission("t"), Duration::from_hours(1), later);
        assert_eq!(token(&tokens, &key("0", "x"), later), "t");
        assert_eq!(token(&tokens, &key("1", "x"), later), "nothing");
    }
}
