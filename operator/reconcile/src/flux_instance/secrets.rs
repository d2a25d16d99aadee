//! Secrets that the sync names and that are not there: Flux says no more than that a source is not ready.

use operator_cluster::{explain, secrets::has_secret};
use tracing::debug;

use super::pass::Pass;

impl Pass<'_> {
    /// Which Secrets of the sync are missing, for people; none when all are there or nothing could be seen.
    pub(super) async fn missing_secrets(&self) -> Option<String> {
        if self.instance.metadata.deletion_timestamp.is_some() {
            return None;
        }
        let namespace = &self.reconciler.settings.namespace;
        let sync = self.instance.spec.sync.as_ref()?;
        let mut missing = Vec::new();
        for (field, name) in sync.named_secrets() {
            match has_secret(self.reconciler.kinds.client(), namespace, name).await {
                Ok(true) => {}
                Ok(false) => missing.push(describe(namespace, field, name)),
                Err(problem) => {
                    debug!(error = explain(&problem), field, "a Secret of the sync could not be looked for");
                }
            }
        }
        (!missing.is_empty()).then(|| missing.join("; "))
    }

    /// A message, and the missing Secrets behind it.
    pub(super) async fn with_missing_secrets(&self, message: String) -> String {
        match self.missing_secrets().await {
            Some(missing) => format!("{message}; {missing}"),
            None => message,
        }
    }
}

fn describe(namespace: &str, field: &str, name: &str) -> String {
    format!("Secret/{namespace}/{name} is missing: create it, or correct {field}")
}
