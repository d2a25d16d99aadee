use std::{sync::Arc, time::Instant};

use operator_net::{Answer, Ask, Deadline, HttpClient, Url, is_same_server, redirected};

use crate::{
    credential::Credential,
    reference::Reference,
    registry::{
        challenge,
        error::RegistryError,
        refusal::refusal,
        token_service::{Grant, TokenRequest},
        tokens::{Admission, Found, TokenKey, Tokens},
    },
};

/// How often a request is redirected at most; registries do it once.
const MAX_REDIRECTS: usize = 5;

/// Whether a registry is spoken to by HTTPS.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Transport {
    /// Always, and to its token service too.
    #[default]
    Https,
    /// Never: for registries that speak plain HTTP, whose answers anyone on the way can change.
    PlainHttp,
}

/// One repository of a registry, for one task with one deadline.
#[derive(Clone, Debug)]
pub struct Remote {
    pub(crate) reference: Reference,
    pub(crate) deadline: Deadline,
    client: HttpClient,
    server: Url,
    credential: Credential,
    tokens: Arc<Tokens>,
}

/// What a [`Remote`] is made of.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub(crate) client: HttpClient,
    pub(crate) transport: Transport,
    pub(crate) credential: Credential,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) deadline: Deadline,
}

/// Whether a method asks for content or about it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Method {
    Head,
    Get,
}

impl Remote {
    pub(crate) fn new(reference: Reference, connection: Connection) -> Result<Self, RegistryError> {
        let scheme = match connection.transport {
            Transport::Https => "https",
            Transport::PlainHttp => "http",
        };
        let server = Url::parse(&format!("{scheme}://{}/", reference.api_host()))
            .map_err(|_| RegistryError::Address { host: reference.host().to_owned() })?;
        let Connection { client, credential, tokens, deadline, .. } = connection;
        Ok(Self { reference, deadline, client, server, credential, tokens })
    }

    /// Asks for `/v2/<repository>/<path>`, as who the credential says, along redirects. The answer has any status
    /// but 401, 403 and those of redirects.
    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        accept: &str,
    ) -> Result<Answer, RegistryError> {
        let url = self
            .server
            .join(&format!("/v2/{}/{path}", self.reference.repository()))
            .map_err(|_| RegistryError::Address { host: self.reference.host().to_owned() })?;
        let mut authorization = self.known_authorization().await?;
        let mut answer = self.along(method, &url, accept, authorization.as_deref()).await?;
        if answer.status() == 401 {
            self.tokens.forget(&self.token_key());
            let challenge = challenge::parse(answer.headers("www-authenticate"));
            authorization = match challenge {
                Some(challenge) => self.admitted(&challenge, &answer).await?,
                None => None,
            };
            if authorization.is_some() {
                answer = self.along(method, &url, accept, authorization.as_deref()).await?;
            }
        }
        if !matches!(answer.status(), 401 | 403) {
            return Ok(answer);
        }
        // Rights may have been given since the token was.
        self.tokens.forget(&self.token_key());
        Err(refusal(answer, self.credential.kind()).await)
    }

    /// Follows redirects; other servers are not told who asks.
    async fn along(
        &self,
        method: Method,
        url: &Url,
        accept: &str,
        authorization: Option<&str>,
    ) -> Result<Answer, RegistryError> {
        let mut url = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let ask = match method {
                Method::Head => Ask::head(url.clone()),
                Method::Get => Ask::get(url.clone()),
            };
            let mut ask = ask.header("accept", accept)?;
            if let Some(value) = authorization.filter(|_| is_same_server(&url, &self.server)) {
                ask = ask.authorization(value)?;
            }
            let answer = self.client.send_patiently(ask, self.deadline).await?;
            if !matches!(answer.status(), 301 | 302 | 303 | 307 | 308) {
                return Ok(answer);
            }
            url = redirected(&url, answer.header("location"))
                .map_err(|source| RegistryError::Redirect { request: answer.request().clone(), source })?;
        }
        let request = operator_net::Request::get(&url);
        Err(RegistryError::Redirects { request, limit: MAX_REDIRECTS })
    }

    /// What let the last request in, so that this one need not be refused first.
    async fn known_authorization(&self) -> Result<Option<String>, RegistryError> {
        if let Credential::Registry { token } = &self.credential {
            return Ok(Some(format!("Bearer {token}")));
        }
        match self.tokens.find(&self.token_key(), Instant::now()) {
            Found::Fresh(admission) => Ok(Some(admission.authorization)),
            Found::Ended(challenge) => {
                self.admission(&challenge, &operator_net::Request::get(&self.server)).await
            }
            Found::Nothing => Ok(None),
        }
    }

    async fn admitted(
        &self,
        challenge: &challenge::Challenge,
        answer: &Answer,
    ) -> Result<Option<String>, RegistryError> {
        self.admission(challenge, answer.request()).await
    }

    /// Answers a challenge; none when there is nothing to answer it with.
    async fn admission(
        &self,
        challenge: &challenge::Challenge,
        request: &operator_net::Request,
    ) -> Result<Option<String>, RegistryError> {
        let grant = TokenRequest {
            client: &self.client,
            deadline: self.deadline,
            server: &self.server,
            credential: &self.credential,
            scope: self.scope(),
            request,
        }
        .answer(challenge)
        .await?;
        Ok(grant.map(|Grant { authorization, lifetime }| {
            let admission = Admission { challenge: challenge.clone(), authorization: authorization.clone() };
            self.tokens.keep(self.token_key(), admission, lifetime, Instant::now());
            authorization
        }))
    }

    fn scope(&self) -> String {
        format!("repository:{}:pull", self.reference.repository())
    }

    fn token_key(&self) -> TokenKey {
        TokenKey {
            server: self.server.to_string(),
            scope: self.scope(),
            credential: self.credential.fingerprint(),
        }
    }

    pub(crate) fn credential_kind(&self) -> &'static str {
        self.credential.kind()
    }
}
