use std::time::Duration;

use operator_net::{Ask, Url};
use serde::Deserialize;

use super::{CloudError, Issued, exchange::Exchange};
use crate::credential::Credential;

/// Who knows the identity of a pod or node.
const METADATA_HOST: &str = "metadata.google.internal";

/// The user of those who ask with an access token.
const USERNAME: &str = "oauth2accesstoken";

#[derive(Deserialize)]
struct Token {
    access_token: String,
    expires_in: u64,
}

/// A credential for all registries of Google, from the metadata server.
pub(super) async fn token(exchange: &Exchange<'_>) -> Result<Issued, CloudError> {
    let host = exchange.variable("GCE_METADATA_HOST").unwrap_or(METADATA_HOST);
    let url =
        Url::parse(&format!("http://{host}/computeMetadata/v1/instance/service-accounts/default/token"))
            .map_err(|_| CloudError::Address { variable: "GCE_METADATA_HOST" })?;
    let ask = Ask::get(url).header("metadata-flavor", "Google")?;
    let token: Token = exchange.json(ask, "access token").await?;
    let credential = Credential::Basic { username: USERNAME.to_owned(), password: token.access_token };
    Ok(Issued { credential, lifetime: Duration::from_secs(token.expires_in) })
}
