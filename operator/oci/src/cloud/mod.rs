//! Credentials of registries in clouds, for pods that have an identity there: by the requests that it takes, without
//! anybody's development kit.
//!
//! | registry | identity | requests |
//! |---|---|---|
//! | ECR | web identity of a role (`AWS_ROLE_ARN`, `AWS_WEB_IDENTITY_TOKEN_FILE`), or pod identity (`AWS_CONTAINER_CREDENTIALS_FULL_URI`) | STS `AssumeRoleWithWebIdentity` or the agent, then ECR `GetAuthorizationToken` |
//! | ACR | federated token (`AZURE_CLIENT_ID`, `AZURE_TENANT_ID`, `AZURE_FEDERATED_TOKEN_FILE`) | the authority's token, then the registry's `oauth2/exchange` |
//! | GAR, GCR | the account of the node or pod | the token of the metadata server (`GCE_METADATA_HOST`) |
//!
//! The variables are those that the clouds inject into pods; `AWS_ENDPOINT_URL_STS` and `AWS_ENDPOINT_URL_ECR` lead
//! to other servers, as everywhere.

mod aws;
mod azure;
mod error;
mod exchange;
mod google;
mod host;
mod signature;

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use operator_net::{Deadline, HttpClient};

pub use error::CloudError;

use crate::{credential::Credential, reference::Reference};
use exchange::Exchange;
use host::Registry;

/// How many credentials are kept: one a registry.
const MAX_CREDENTIALS: usize = 100;

/// How long a credential is used at most. Those of ECR are good for 12 hours.
const MAX_LIFETIME: Duration = Duration::from_hours(6);

/// How long it may take to come by a credential.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// The identity that this program has in a cloud.
#[derive(Debug)]
pub struct CloudIdentity {
    client: HttpClient,
    variables: BTreeMap<String, String>,
    kept: Mutex<BTreeMap<String, Kept>>,
}

#[derive(Clone, Debug)]
struct Kept {
    credential: Credential,
    ends: Instant,
}

/// A credential, and for how long it is good.
pub(crate) struct Issued {
    pub(crate) credential: Credential,
    pub(crate) lifetime: Duration,
}

impl CloudIdentity {
    /// `variables` is the environment of the process. Nothing is asked yet.
    #[must_use]
    pub fn new(client: HttpClient, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { client, variables: variables.into_iter().collect(), kept: Mutex::default() }
    }

    /// The credential for a registry of a cloud; none for any other registry. It is kept for four fifths of its
    /// lifetime. Give it to [`Keychain::add_credential`](crate::Keychain::add_credential) where no pull secret fits.
    ///
    /// # Errors
    /// When the environment has no identity of that cloud, or the cloud does not answer or refuses.
    pub async fn credential(&self, reference: &Reference) -> Result<Option<Credential>, CloudError> {
        let Some(registry) = Registry::of(reference.host()) else { return Ok(None) };
        let host = reference.host();
        if let Some(credential) = self.fresh(host) {
            return Ok(Some(credential));
        }
        let exchange = Exchange {
            client: &self.client,
            variables: &self.variables,
            deadline: Deadline::after(TIME_LIMIT),
        };
        let issued = match registry {
            Registry::Ecr { region, domain } => aws::ecr(&exchange, &region, &domain).await?,
            Registry::Acr => azure::acr(&exchange, &format!("https://{host}/oauth2/exchange"), host).await?,
            Registry::Google => google::token(&exchange).await?,
        };
        Ok(Some(self.keep(host, issued)))
    }

    fn fresh(&self, host: &str) -> Option<Credential> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(host).filter(|kept| Instant::now() < kept.ends).map(|kept| kept.credential.clone())
    }

    fn keep(&self, host: &str, issued: Issued) -> Credential {
        let now = Instant::now();
        let good = issued.lifetime.min(MAX_LIFETIME).saturating_mul(4).checked_div(5).unwrap_or_default();
        let ends = now.checked_add(good).unwrap_or(now);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_CREDENTIALS {
            kept.retain(|_, kept| now < kept.ends);
        }
        if kept.len() < MAX_CREDENTIALS {
            kept.insert(host.to_owned(), Kept { credential: issued.credential.clone(), ends });
        }
        issued.credential
    }
}

#[cfg(test)]
mod tests;
