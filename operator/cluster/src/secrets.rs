//! Whether Secrets exist. What they hold is never read.

use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client};

use crate::error::{RequestError, repeated};

/// Whether there is a Secret of a name. A name that no object can have is not asked for.
///
/// # Errors
/// When the cluster cannot be asked.
pub async fn has_secret(client: &Client, namespace: &str, name: &str) -> Result<bool, RequestError> {
    if !is_name(name) {
        return Ok(false);
    }
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    Ok(repeated(|| secrets.get_metadata_opt(name)).await?.is_some())
}

fn is_name(text: &str) -> bool {
    let is_inner = |character: char| {
        character.is_ascii_lowercase() || character.is_ascii_digit() || matches!(character, '-' | '.')
    };
    text.chars().all(is_inner) && text.starts_with(|first: char| first.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn only_names_that_objects_can_have_are_asked_for() {
        for good in ["git", "git-1.example", "0"] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "..", ".", "a/b", "../a", "A", "a b", "a?b", "-a"] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}
