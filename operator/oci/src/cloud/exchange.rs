use std::{collections::BTreeMap, path::PathBuf};

use operator_net::{Answer, Ask, Deadline, HttpClient, Request, Url};
use serde::{Deserialize, de::DeserializeOwned};
use tokio::io::AsyncReadExt as _;

use super::CloudError;
use crate::excerpt::excerpt;

/// How large an answer may be, in bytes; tokens have some KiB.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// How large the token of a ServiceAccount may be, in bytes.
const MAX_TOKEN_BYTES: usize = 64 * 1024;

/// What all exchanges need.
pub(super) struct Exchange<'a> {
    pub(super) client: &'a HttpClient,
    pub(super) variables: &'a BTreeMap<String, String>,
    pub(super) deadline: Deadline,
}

impl Exchange<'_> {
    /// A variable that is set and not empty.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// An address, from a variable or else as it is.
    pub(super) fn address(&self, variable: &'static str, default: &str) -> Result<Url, CloudError> {
        let text = self.variable(variable).unwrap_or(default);
        Url::parse(text).map_err(|_| CloudError::Address { variable })
    }

    /// The token in a file. It is read each time: kubelet renews it.
    pub(super) async fn token(&self, path: &str) -> Result<String, CloudError> {
        let path = PathBuf::from(path);
        let mut token = Vec::new();
        let read = async {
            let file = tokio::fs::File::open(&path).await?;
            file.take(MAX_TOKEN_BYTES as u64 + 1).read_to_end(&mut token).await
        };
        let size = match read.await {
            Ok(size) => size,
            Err(source) => return Err(CloudError::Token { path, source }),
        };
        match String::from_utf8(token) {
            Ok(token) if size <= MAX_TOKEN_BYTES => Ok(token.trim().to_owned()),
            _ => Err(CloudError::TokenSize { path, limit: MAX_TOKEN_BYTES }),
        }
    }

    /// The body of an answer of 200.
    pub(super) async fn body(&self, ask: Ask) -> Result<(Request, Vec<u8>), CloudError> {
        let answer = self.client.send_patiently(ask, self.deadline).await?;
        if answer.status() != 200 {
            return Err(refused(answer).await);
        }
        let request = answer.request().clone();
        Ok((request, answer.body(MAX_ANSWER_BYTES).await?))
    }

    /// The same in JSON. `what` is what should be in it.
    pub(super) async fn json<T: DeserializeOwned>(
        &self,
        ask: Ask,
        what: &'static str,
    ) -> Result<T, CloudError> {
        let (request, body) = self.body(ask).await?;
        // The message of the error may quote a token.
        serde_json::from_slice(&body).map_err(|_| CloudError::NoAnswer { request, what })
    }
}

/// The code of a refusal, in the ways of the three clouds. Their texts may quote what was sent.
async fn refused(answer: Answer) -> CloudError {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Document {
        error: serde_json::Value,
        #[serde(rename = "__type")]
        kind: String,
    }
    let (request, status) = (answer.request().clone(), answer.status());
    let body = answer.body(MAX_ANSWER_BYTES).await.unwrap_or_default();
    let document: Document = serde_json::from_slice(&body).unwrap_or_default();
    let text = String::from_utf8_lossy(&body);
    let code =
        document.error.as_str().or_else(|| between(&text, "<Code>", "</Code>")).unwrap_or(&document.kind);
    let code = if code.is_empty() { String::new() } else { format!(" ({})", excerpt(code)) };
    CloudError::Refused { request, status, code }
}

/// What is between two marks.
pub(super) fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    Some(text.split_once(before)?.1.split_once(after)?.0)
}
