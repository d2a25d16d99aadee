use std::time::{Duration, SystemTime};

use data_encoding::BASE64;
use operator_net::{Ask, Url};
use serde::Deserialize;

use super::{
    CloudError, Issued,
    exchange::{Exchange, between},
    signature::{Signature, Signer},
};
use crate::credential::Credential;

/// What ECR is asked for.
const TARGET: &str = "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken";
const CONTENT_TYPE: &str = "application/x-amz-json-1.1";

/// How long a token of ECR is good.
const TOKEN_LIFETIME: Duration = Duration::from_hours(12);

/// How sessions are called in the logs of AWS.
const SESSION_NAME: &str = "flux-operator";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    authorization_data: Vec<Token>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Token {
    authorization_token: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PodCredentials {
    access_key_id: String,
    secret_access_key: String,
    token: String,
}

/// A credential for the registries of a region.
pub(super) async fn ecr(exchange: &Exchange<'_>, region: &str, domain: &str) -> Result<Issued, CloudError> {
    let signer = signer(exchange, region, domain).await?;
    let url = exchange.address("AWS_ENDPOINT_URL_ECR", &format!("https://api.ecr.{region}.{domain}/"))?;
    let body = b"{}".to_vec();
    let headers = [("content-type", CONTENT_TYPE), ("x-amz-target", TARGET)];
    let signature = Signature { signer: &signer, region, service: "ecr", now: SystemTime::now() };
    let stamp = signature.of(&url, &headers, &body).ok_or(CloudError::Clock)?;
    let ask = Ask::post(url.clone(), CONTENT_TYPE, body)?
        .header("x-amz-target", TARGET)?
        .header("x-amz-date", &stamp.date)?
        .secret_header("x-amz-security-token", &signer.session_token)?
        .authorization(&stamp.authorization)?;
    let tokens: Tokens = exchange.json(ask, "authorization token").await?;
    let missing =
        || CloudError::NoAnswer { request: operator_net::Request::get(&url), what: "authorization token" };
    let token = tokens.authorization_data.first().ok_or_else(missing)?;
    let decoded = BASE64.decode(token.authorization_token.as_bytes()).ok();
    let text = decoded.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(missing)?;
    let (username, password) = text.split_once(':').ok_or_else(missing)?;
    let credential = Credential::Basic { username: username.to_owned(), password: password.to_owned() };
    Ok(Issued { credential, lifetime: TOKEN_LIFETIME })
}

async fn signer(exchange: &Exchange<'_>, region: &str, domain: &str) -> Result<Signer, CloudError> {
    let role = exchange.variable("AWS_ROLE_ARN").zip(exchange.variable("AWS_WEB_IDENTITY_TOKEN_FILE"));
    if let Some((role, file)) = role {
        let url = exchange.address("AWS_ENDPOINT_URL_STS", &format!("https://sts.{region}.{domain}/"))?;
        return by_web_identity(exchange, url, role, file).await;
    }
    let agent = exchange
        .variable("AWS_CONTAINER_CREDENTIALS_FULL_URI")
        .zip(exchange.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"));
    match agent {
        Some((_, file)) => by_agent(exchange, file).await,
        None => Err(CloudError::NoIdentity {
            cloud: "AWS",
            variables: "AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE, or AWS_CONTAINER_CREDENTIALS_FULL_URI and \
                        AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE,",
        }),
    }
}

async fn by_web_identity(
    exchange: &Exchange<'_>,
    url: Url,
    role: &str,
    file: &str,
) -> Result<Signer, CloudError> {
    let token = exchange.token(file).await?;
    let fields = [
        ("Action", "AssumeRoleWithWebIdentity"),
        ("Version", "2011-06-15"),
        ("RoleArn", role),
        ("RoleSessionName", exchange.variable("AWS_ROLE_SESSION_NAME").unwrap_or(SESSION_NAME)),
        ("WebIdentityToken", &token),
    ];
    let (request, body) = exchange.body(Ask::post_form(url, &fields)?).await?;
    let text = String::from_utf8_lossy(&body);
    let value = |name: &str| {
        let found = between(&text, &format!("<{name}>"), &format!("</{name}>"));
        found
            .filter(|value| !value.is_empty())
            .map(str::to_owned)
            .ok_or_else(|| CloudError::NoAnswer { request: request.clone(), what: "credentials" })
    };
    Ok(Signer {
        key_id: value("AccessKeyId")?,
        secret: value("SecretAccessKey")?,
        session_token: value("SessionToken")?,
    })
}

async fn by_agent(exchange: &Exchange<'_>, file: &str) -> Result<Signer, CloudError> {
    let url = exchange.address("AWS_CONTAINER_CREDENTIALS_FULL_URI", "")?;
    let token = exchange.token(file).await?;
    let ask = Ask::get(url).authorization(&token)?;
    let credentials: PodCredentials = exchange.json(ask, "credentials").await?;
    Ok(Signer {
        key_id: credentials.access_key_id,
        secret: credentials.secret_access_key,
        session_token: credentials.token,
    })
}
