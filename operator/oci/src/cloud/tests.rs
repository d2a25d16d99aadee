//! The exchanges against servers that check what they are asked.

use std::{collections::BTreeMap, fs, time::Duration};

use operator_net::{Deadline, HttpClient, Limits, Move};
use tempfile::NamedTempFile;

use super::{CloudError, CloudIdentity, Issued, aws, azure, exchange::Exchange, google};
use crate::Credential;

#[path = "../../tests/artifacts/fake.rs"]
#[expect(dead_code, reason = "a registry does more than these exchanges need")]
mod fake;

use fake::{Asked, Fake, Reply};

fn client() -> HttpClient {
    let second = Duration::from_secs(10);
    HttpClient::new(Limits { connect: second, request: second, answer_bytes: 1024 }).unwrap()
}

fn token_file() -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    fs::write(file.path(), "federated&token\n").unwrap();
    file
}

/// The variables of a pod, with the address of a fake for `{fake}` and a file with a token for `{file}`.
fn variables(rows: &[(&str, &str)], fake: &Fake, file: &NamedTempFile) -> BTreeMap<String, String> {
    let port = format!("127.0.0.1:{}", fake.port);
    let file = file.path().to_string_lossy();
    let value = |value: &str| value.replace("{fake}", &port).replace("{file}", &file);
    rows.iter().map(|(name, text)| ((*name).to_owned(), value(text))).collect()
}

fn basic(issued: &Issued) -> (&str, &str) {
    match &issued.credential {
        Credential::Basic { username, password } => (username, password),
        other => panic!("{other:?}"),
    }
}

fn sts(asked: &Asked) -> Option<Reply> {
    if !asked.body.starts_with("Action=") {
        return None;
    }
    assert_eq!(
        asked.body,
        "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fflux\
         &RoleSessionName=flux-operator&WebIdentityToken=federated%26token"
    );
    assert_eq!(asked.header("content-type"), "application/x-www-form-urlencoded");
    Some(Reply::new(
        200,
        "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>\
         <AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>\
         <SessionToken>session==</SessionToken></Credentials></AssumeRoleWithWebIdentityResult>\
         </AssumeRoleWithWebIdentityResponse>",
    ))
}

fn ecr(asked: &Asked) -> Reply {
    assert_eq!((asked.method.as_str(), asked.path.as_str(), asked.body.as_str()), ("POST", "/", "{}"));
    assert_eq!(asked.header("content-type"), "application/x-amz-json-1.1");
    assert_eq!(asked.header("x-amz-target"), "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken");
    assert_eq!(asked.header("x-amz-security-token"), "session==");
    let (day, _) = asked.header("x-amz-date").split_once('T').unwrap();
    let start = format!(
        "AWS4-HMAC-SHA256 Credential=ASIA/{day}/eu-west-1/ecr/aws4_request, \
         SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target, Signature="
    );
    let signature = asked.header("authorization").strip_prefix(&start);
    assert_eq!(signature.map(str::len), Some(64), "{}", asked.header("authorization"));
    Reply::new(200, r#"{"authorizationData":[{"authorizationToken":"QVdTOnBhc3M=","expiresAt":1.9E9}]}"#)
}

async fn aws(rows: &[(&str, &str)], fake: &Fake) -> Result<Issued, CloudError> {
    let (client, file) = (client(), token_file());
    let variables = variables(rows, fake, &file);
    let deadline = Deadline::after(Duration::from_secs(10));
    aws::ecr(&Exchange { client: &client, variables: &variables, deadline }, "eu-west-1", "amazonaws.com")
        .await
}

#[tokio::test]
async fn a_role_of_aws_gets_the_password_of_its_registry() {
    let fake = Fake::start(|asked| sts(asked).or_else(|| Some(ecr(asked)))).await;
    let rows = [
        ("AWS_ROLE_ARN", "arn:aws:iam::1:role/flux"),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", "{file}"),
        ("AWS_ENDPOINT_URL_STS", "http://{fake}/"),
        ("AWS_ENDPOINT_URL_ECR", "http://{fake}/"),
    ];
    let issued = aws(&rows, &fake).await.unwrap();
    assert_eq!(basic(&issued), ("AWS", "pass"));
    assert_eq!(fake.take().len(), 2);
}

#[tokio::test]
async fn the_agent_of_a_pod_of_aws_is_asked_with_its_token() {
    let fake = Fake::start(|asked| {
        if asked.path != "/v1/credentials" {
            return Some(ecr(asked));
        }
        assert_eq!(asked.header("authorization"), "federated&token");
        let body =
            r#"{"AccessKeyId":"ASIA","SecretAccessKey":"secret","Token":"session==","Expiration":"x"}"#;
        Some(Reply::new(200, body))
    })
    .await;
    let rows = [
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://{fake}/v1/credentials"),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "{file}"),
        ("AWS_ENDPOINT_URL_ECR", "http://{fake}/"),
    ];
    assert_eq!(basic(&aws(&rows, &fake).await.unwrap()), ("AWS", "pass"));
}

#[tokio::test]
async fn a_refusal_has_its_code_and_nothing_secret() {
    let fake = Fake::start(|_| {
        let body =
            "<ErrorResponse><Error><Code>InvalidIdentityToken</Code><Message>federated</Message></Error>";
        Some(Reply::new(400, body))
    })
    .await;
    let rows = [
        ("AWS_ROLE_ARN", "arn"),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", "{file}"),
        ("AWS_ENDPOINT_URL_STS", "http://{fake}/"),
    ];
    let error = aws(&rows, &fake).await.err().unwrap();
    let message = error.to_string();
    assert!(message.contains("the cloud answered 400 (InvalidIdentityToken)"), "{message}");
    assert!(!message.contains("federated") && error.next_move() == Move::User, "{message}");
    let message = aws(&[], &fake).await.err().unwrap().to_string();
    assert!(message.starts_with("this pod has no identity of AWS: AWS_ROLE_ARN and"), "{message}");
}

#[tokio::test]
async fn an_identity_of_azure_exchanges_its_token_twice() {
    let fake = Fake::start(|asked| {
        Some(match asked.path.as_str() {
            "/tenant/oauth2/v2.0/token" => {
                assert_eq!(
                    asked.body,
                    "client_id=client&scope=https%3A%2F%2Fmanagement.azure.com%2F.default&client_assertion_type=\
                     urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer\
                     &client_assertion=federated%26token&grant_type=client_credentials"
                );
                Reply::new(200, r#"{"access_token":"access","expires_in":3599}"#)
            }
            "/oauth2/exchange" => {
                assert_eq!(
                    asked.body,
                    "grant_type=access_token&service=mine.azurecr.io&tenant=tenant&access_token=access"
                );
                Reply::new(200, r#"{"refresh_token":"refresh"}"#)
            }
            other => panic!("{other}"),
        })
    })
    .await;
    let (client, file) = (client(), token_file());
    let rows = [
        ("AZURE_CLIENT_ID", "client"),
        ("AZURE_TENANT_ID", "tenant"),
        ("AZURE_FEDERATED_TOKEN_FILE", "{file}"),
        ("AZURE_AUTHORITY_HOST", "http://{fake}/"),
    ];
    let variables = variables(&rows, &fake, &file);
    let deadline = Deadline::after(Duration::from_secs(10));
    let exchange = Exchange { client: &client, variables: &variables, deadline };
    let address = format!("http://127.0.0.1:{}/oauth2/exchange", fake.port);
    let issued = azure::acr(&exchange, &address, "mine.azurecr.io").await.unwrap();
    assert_eq!(basic(&issued), ("00000000-0000-0000-0000-000000000000", "refresh"));
}

#[tokio::test]
async fn the_metadata_server_of_google_is_asked_once_for_as_long_as_its_token_is_good() {
    let fake = Fake::start(|asked| {
        assert_eq!(asked.path, "/computeMetadata/v1/instance/service-accounts/default/token");
        assert_eq!(asked.header("metadata-flavor"), "Google");
        Some(Reply::new(200, r#"{"access_token":"access","expires_in":3599,"token_type":"Bearer"}"#))
    })
    .await;
    let (client, file) = (client(), token_file());
    let variables = variables(&[("GCE_METADATA_HOST", "{fake}")], &fake, &file);
    let deadline = Deadline::after(Duration::from_secs(10));
    let exchange = Exchange { client: &client, variables: &variables, deadline };
    let issued = google::token(&exchange).await.unwrap();
    assert_eq!(
        (basic(&issued), issued.lifetime),
        (("oauth2accesstoken", "access"), Duration::from_secs(3599))
    );
    fake.take();

    let identity = CloudIdentity::new(client.clone(), variables.clone());
    for host in ["europe-docker.pkg.dev", "europe-docker.pkg.dev", "gcr.io"] {
        let reference = format!("oci://{host}/project/flux").parse().unwrap();
        assert!(identity.credential(&reference).await.unwrap().is_some());
    }
    assert_eq!(fake.take().len(), 2);
    let other = "oci://ghcr.io/a".parse().unwrap();
    assert!(identity.credential(&other).await.unwrap().is_none());
    assert!(!format!("{identity:?}").contains("access\""), "{identity:?}");
}
