use std::time::Duration;

use data_encoding::BASE64;
use operator_net::{Answer, Ask, Deadline, HttpClient, HttpError, RedirectError, Request, Url, redirected};
use serde::Deserialize;

use crate::{
    credential::Credential,
    excerpt::excerpt,
    registry::{challenge::Challenge, error::RegistryError, refusal::refusal},
};

/// How large the answer of a token service may be, in bytes; tokens have some KiB.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// How long a token is good whose service does not say it.
const DEFAULT_LIFETIME: Duration = Duration::from_mins(1);

/// How long it is remembered that a registry takes user and password.
const BASIC_LIFETIME: Duration = Duration::from_hours(1);

/// Who this client is for token services.
const CLIENT_ID: &str = "flux-operator";

/// Answers one challenge.
pub(crate) struct TokenRequest<'a> {
    pub(crate) client: &'a HttpClient,
    pub(crate) deadline: Deadline,
    /// The registry.
    pub(crate) server: &'a Url,
    pub(crate) credential: &'a Credential,
    pub(crate) scope: String,
    /// What was refused without a token.
    pub(crate) request: &'a Request,
}

/// What lets requests in.
pub(crate) struct Grant {
    /// The value of `Authorization`.
    pub(crate) authorization: String,
    pub(crate) lifetime: Duration,
}

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    token: Option<String>,
    #[serde(default)]
    access_token: Option<String>,
    #[serde(default)]
    expires_in: Option<u64>,
}

impl TokenRequest<'_> {
    /// None where there is nothing to answer with.
    pub(crate) async fn answer(&self, challenge: &Challenge) -> Result<Option<Grant>, RegistryError> {
        match (challenge, self.credential) {
            (Challenge::Basic, Credential::Basic { username, password }) => {
                let authorization = basic(username, password);
                Ok(Some(Grant { authorization, lifetime: BASIC_LIFETIME }))
            }
            (_, Credential::Registry { .. })
            | (Challenge::Basic, Credential::Anonymous | Credential::Identity { .. }) => Ok(None),
            (Challenge::Bearer { realm, service }, _) => {
                let realm = self.realm(realm)?;
                self.token(&realm, service.as_deref().unwrap_or_default()).await.map(Some)
            }
            (Challenge::Other(scheme), _) => {
                Err(RegistryError::Scheme { request: self.request.clone(), scheme: scheme.clone() })
            }
        }
    }

    async fn token(&self, realm: &Url, service: &str) -> Result<Grant, RegistryError> {
        let answer = match self.credential {
            Credential::Identity { token } => {
                let answer = self.send(self.exchange(realm, service, token)?).await?;
                // Services that know no exchange take such a token for a password.
                if matches!(answer.status(), 404 | 405) {
                    let authorization = basic("<token>", token);
                    self.send(self.question(realm, service).authorization(&authorization)?).await?
                } else {
                    answer
                }
            }
            Credential::Basic { username, password } => {
                let authorization = basic(username, password);
                self.send(self.question(realm, service).authorization(&authorization)?).await?
            }
            Credential::Anonymous | Credential::Registry { .. } => {
                self.send(self.question(realm, service)).await?
            }
        };
        self.grant(answer).await
    }

    /// Where tokens come from. A registry that is spoken to by HTTPS cannot make us send secrets without it.
    fn realm(&self, text: &str) -> Result<Url, RegistryError> {
        let request = || self.request.clone();
        let wrong = || RegistryError::Realm { request: request(), realm: excerpt(text) };
        let mut realm = Url::parse(text).map_err(|_| wrong())?;
        // They would replace the credentials that the user gave.
        if realm.set_username("").is_err() || realm.set_password(None).is_err() {
            return Err(wrong());
        }
        // The registry leads there as by a redirect, and is believed as little.
        match redirected(self.server, Some(realm.as_str())) {
            Ok(realm) => Ok(realm),
            Err(RedirectError::Downgrade) => {
                Err(RegistryError::PlainRealm { request: request(), realm: operator_net::address(&realm) })
            }
            Err(_) => Err(wrong()),
        }
    }

    fn question(&self, realm: &Url, service: &str) -> Ask {
        let mut url = realm.clone();
        let mut query = url.query_pairs_mut();
        if !service.is_empty() {
            query.append_pair("service", service);
        }
        query.append_pair("scope", &self.scope);
        drop(query);
        Ask::get(url)
    }

    fn exchange(&self, realm: &Url, service: &str, token: &str) -> Result<Ask, HttpError> {
        let fields = [
            ("grant_type", "refresh_token"),
            ("client_id", CLIENT_ID),
            ("service", service),
            ("scope", &self.scope),
            ("refresh_token", token),
        ];
        Ask::post_form(realm.clone(), &fields)
    }

    async fn send(&self, ask: Ask) -> Result<Answer, HttpError> {
        self.client.send_patiently(ask, self.deadline).await
    }

    async fn grant(&self, answer: Answer) -> Result<Grant, RegistryError> {
        if answer.status() != 200 {
            return Err(refusal(answer, self.credential.kind()).await);
        }
        let request = answer.request().clone();
        let body = answer.body(MAX_ANSWER_BYTES).await?;
        // The message of the error may quote a token.
        let document: Document =
            serde_json::from_slice(&body).map_err(|_| RegistryError::NoToken { request: request.clone() })?;
        let token = document.token.filter(|token| !token.is_empty()).or(document.access_token);
        let token = token.filter(|token| !token.is_empty()).ok_or(RegistryError::NoToken { request })?;
        let lifetime = document.expires_in.map_or(DEFAULT_LIFETIME, Duration::from_secs);
        Ok(Grant { authorization: format!("Bearer {token}"), lifetime })
    }
}

fn basic(username: &str, password: &str) -> String {
    format!("Basic {}", BASE64.encode(format!("{username}:{password}").as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use operator_net::{Deadline, HttpClient, Limits, Request, Url};
    use rstest::rstest;

    use super::TokenRequest;
    use crate::Credential;

    #[rstest]
    #[case("https://ghcr.io/", "https://auth.io/token", Ok("https://auth.io/token"))]
    #[case("https://ghcr.io/", "https://user:pass@auth.io/token", Ok("https://auth.io/token"))]
    #[case("http://reg:5000/", "http://auth.io/token", Ok("http://auth.io/token"))]
    #[case("http://127.0.0.1:5000/", "http://127.0.0.1:5001/", Ok("http://127.0.0.1:5001/"))]
    #[case(
        "https://ghcr.io/",
        "http://user:pass@auth.io/token?x",
        Err("\"http://auth.io/token\" is without TLS")
    )]
    #[case("http://reg:5000/", "http://169.254.169.254/token", Err("cannot be used"))]
    #[case("https://ghcr.io/", "https://localhost/token", Err("cannot be used"))]
    #[case("https://ghcr.io/", "file:///etc/passwd", Err("cannot be used"))]
    #[case("https://ghcr.io/", "/token", Err("cannot be used"))]
    #[case("https://ghcr.io/", "", Err("cannot be used"))]
    fn a_token_service_is_believed_as_little_as_a_redirect(
        #[case] server: &str,
        #[case] realm: &str,
        #[case] expected: Result<&str, &str>,
    ) {
        let time = Duration::from_secs(1);
        let client = HttpClient::new(Limits { connect: time, request: time, answer_bytes: 1 }).unwrap();
        let server = Url::parse(server).unwrap();
        let request = TokenRequest {
            client: &client,
            deadline: Deadline::after(time),
            server: &server,
            credential: &Credential::Anonymous,
            scope: String::new(),
            request: &Request::get(&server),
        };
        match (request.realm(realm), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found.as_str(), expected),
            (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{error}"),
            (found, expected) => panic!("{found:?} {expected:?}"),
        }
    }
}
