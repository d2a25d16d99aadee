use std::time::Duration;

use operator_net::{Ask, Url};
use serde::Deserialize;

use super::{CloudError, Issued, exchange::Exchange};
use crate::credential::Credential;

/// Who knows the identities of the public cloud.
const AUTHORITY: &str = "https://login.microsoftonline.com/";

/// What the token of the authority is for.
const SCOPE: &str = "https://management.azure.com/.default";

/// The user of those who ask with a token of the registry.
const USERNAME: &str = "00000000-0000-0000-0000-000000000000";

/// How long a token of the registry is good.
const TOKEN_LIFETIME: Duration = Duration::from_hours(3);

#[derive(Deserialize)]
struct Access {
    access_token: String,
}

#[derive(Deserialize)]
struct Refresh {
    refresh_token: String,
}

/// A credential for a registry, whose name is `service`, from the address where it exchanges tokens.
pub(super) async fn acr(exchange: &Exchange<'_>, address: &str, service: &str) -> Result<Issued, CloudError> {
    let tenant = exchange.variable("AZURE_TENANT_ID");
    let identity = exchange.variable("AZURE_CLIENT_ID").zip(exchange.variable("AZURE_FEDERATED_TOKEN_FILE"));
    let Some((tenant, (client, file))) = tenant.zip(identity) else {
        let variables = "AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_FEDERATED_TOKEN_FILE";
        return Err(CloudError::NoIdentity { cloud: "Azure", variables });
    };
    let assertion = exchange.token(file).await?;
    let fields = [
        ("client_id", client),
        ("scope", SCOPE),
        ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
        ("client_assertion", &assertion),
        ("grant_type", "client_credentials"),
    ];
    let wrong = || CloudError::Address { variable: "AZURE_AUTHORITY_HOST" };
    let mut url = exchange.address("AZURE_AUTHORITY_HOST", AUTHORITY)?;
    url.path_segments_mut().map_err(|()| wrong())?.pop_if_empty().extend([tenant, "oauth2", "v2.0", "token"]);
    let access: Access = exchange.json(Ask::post_form(url, &fields)?, "access token").await?;
    let fields = [
        ("grant_type", "access_token"),
        ("service", service),
        ("tenant", tenant),
        ("access_token", &access.access_token),
    ];
    let url =
        Url::parse(address).map_err(|_| CloudError::Address { variable: "the host of the registry" })?;
    let refresh: Refresh = exchange.json(Ask::post_form(url, &fields)?, "refresh token").await?;
    let credential = Credential::Basic { username: USERNAME.to_owned(), password: refresh.refresh_token };
    Ok(Issued { credential, lifetime: TOKEN_LIFETIME })
}
