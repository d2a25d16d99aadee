use operator_net::Answer;
use serde::Deserialize;

use crate::{
    excerpt::excerpt,
    registry::error::{RegistryError, Said},
};

/// How much of a refusal is read, in bytes.
const MAX_REFUSAL_BYTES: usize = 64 * 1024;

#[derive(Deserialize)]
struct Document {
    errors: Vec<Problem>,
}

#[derive(Deserialize)]
struct Problem {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
}

/// The error that an answer is which is not what was asked for.
pub(crate) async fn refusal(answer: Answer, credential: &'static str) -> RegistryError {
    let (request, status, retry_after) = (answer.request().clone(), answer.status(), answer.retry_after());
    // What cannot be read explains nothing; the status does.
    let body = answer.body(MAX_REFUSAL_BYTES).await.unwrap_or_default();
    let said = said(&body);
    match status {
        401 => RegistryError::Unauthorized { request, credential, said },
        403 => RegistryError::Denied { request, credential, said },
        _ => RegistryError::Refused { request, status, said, retry_after },
    }
}

/// The first problem that is told in the way of registries.
fn said(body: &[u8]) -> Said {
    let problems = serde_json::from_slice::<Document>(body).map(|document| document.errors);
    let first = problems.unwrap_or_default().into_iter().next();
    Said(first.map_or_else(String::new, |problem| {
        let parts = [problem.code, problem.message];
        let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        excerpt(&parts.join(": "))
    }))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::said;

    #[rstest]
    #[case(r#"{"errors":[{"code":"DENIED","message":"no"},{"code":"X"}]}"#, " (DENIED: no)")]
    #[case(r#"{"errors":[{"message":"no\nway"}]}"#, " (no way)")]
    #[case(r#"{"errors":[]}"#, "")]
    #[case("<html>", "")]
    fn the_first_problem_is_shown(#[case] body: &str, #[case] expected: &str) {
        assert_eq!(said(body.as_bytes()).to_string(), expected);
    }
}
