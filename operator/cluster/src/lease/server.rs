//! The Lease in the API server.

use std::{fmt, future::Future, time::Duration};

use k8s_openapi::{api::coordination::v1::Lease, jiff::Timestamp};
use kube::{Api, Client, api::PostParams};
use thiserror::Error;
use tokio::time::{Instant, timeout};

use super::settings::{LeaseSettings, LeaseSettingsError};
use crate::error::{RequestError, bounded};

const FORBIDDEN: u16 = 403;
const NOT_FOUND: u16 = 404;
const CONFLICT: u16 = 409;

/// What is done with a lease, as roles name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseVerb {
    /// Read it.
    Get,
    /// Make it.
    Create,
    /// Replace it.
    Update,
}

impl fmt::Display for LeaseVerb {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Get => "get",
            Self::Create => "create",
            Self::Update => "update",
        })
    }
}

/// Why a lease could not be read or written.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum LeaseError {
    #[error(transparent)]
    Settings(#[from] LeaseSettingsError),
    #[error(
        "not allowed to {verb} the lease {namespace}/{name}: grant the operator's ServiceAccount the verbs get, \
         create and update on leases of coordination.k8s.io in namespace {namespace}"
    )]
    Forbidden { verb: LeaseVerb, namespace: String, name: String, source: RequestError },
    #[error("failed to {verb} the lease {namespace}/{name}")]
    Request { verb: LeaseVerb, namespace: String, name: String, source: RequestError },
    #[error(
        "failed to {verb} the lease {namespace}/{name}: the API server did not answer within {} s",
        within.as_secs_f32()
    )]
    NoAnswer { verb: LeaseVerb, namespace: String, name: String, within: Duration },
}

impl LeaseError {
    /// Whether a write failed because the record is not what it was when it was read.
    pub(super) fn is_outdated(&self) -> bool {
        let Self::Request { verb, source, .. } = self else { return false };
        match source.code() {
            Some(CONFLICT) => true,
            // Where it was to be created, its namespace is missing.
            Some(NOT_FOUND) => *verb == LeaseVerb::Update,
            _ => false,
        }
    }
}

/// Where the lease is, and what time it is.
pub(super) trait Server: Send {
    /// The lease, if there is one.
    fn read(&self) -> impl Future<Output = Result<Option<Lease>, LeaseError>> + Send;
    /// Makes the lease; fails if there is one.
    fn create(&self, lease: &Lease) -> impl Future<Output = Result<Lease, LeaseError>> + Send;
    /// Replaces the lease; fails if it is not the one that was read.
    fn replace(&self, lease: &Lease) -> impl Future<Output = Result<Lease, LeaseError>> + Send;
    /// For durations.
    fn now(&self) -> Instant;
    /// For people.
    fn wall_clock(&self) -> Timestamp;
}

/// The real one.
#[derive(Debug)]
pub(super) struct ClusterServer {
    leases: Api<Lease>,
    namespace: String,
    name: String,
    within: Duration,
}

impl ClusterServer {
    pub(super) fn new(client: Client, settings: &LeaseSettings) -> Self {
        Self {
            leases: Api::namespaced(client, &settings.namespace),
            namespace: settings.namespace.clone(),
            name: settings.name.clone(),
            within: settings.request_deadline(),
        }
    }

    async fn ask<T>(
        &self,
        verb: LeaseVerb,
        request: impl Future<Output = Result<T, kube::Error>> + Send,
    ) -> Result<T, LeaseError> {
        let (namespace, name) = (self.namespace.clone(), self.name.clone());
        match timeout(self.within, bounded(request)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(source)) if source.code() == Some(FORBIDDEN) => {
                Err(LeaseError::Forbidden { verb, namespace, name, source })
            }
            Ok(Err(source)) => Err(LeaseError::Request { verb, namespace, name, source }),
            Err(_) => Err(LeaseError::NoAnswer { verb, namespace, name, within: self.within }),
        }
    }
}

impl Server for ClusterServer {
    async fn read(&self) -> Result<Option<Lease>, LeaseError> {
        self.ask(LeaseVerb::Get, self.leases.get_opt(&self.name)).await
    }

    async fn create(&self, lease: &Lease) -> Result<Lease, LeaseError> {
        self.ask(LeaseVerb::Create, self.leases.create(&parameters(), lease)).await
    }

    async fn replace(&self, lease: &Lease) -> Result<Lease, LeaseError> {
        self.ask(LeaseVerb::Update, self.leases.replace(&self.name, &parameters(), lease)).await
    }

    fn now(&self) -> Instant {
        Instant::now()
    }

    fn wall_clock(&self) -> Timestamp {
        Timestamp::now()
    }
}

fn parameters() -> PostParams {
    PostParams { field_manager: Some(crds::FIELD_MANAGER.to_owned()), ..PostParams::default() }
}

#[cfg(test)]
mod tests {
    use kube::core::Status;

    use super::*;

    fn refusal(verb: LeaseVerb, code: u16) -> LeaseError {
        let status = Status { code, ..Status::default() };
        let (namespace, name) = ("flux-system".to_owned(), "flux-operator".to_owned());
        LeaseError::Request { verb, namespace, name, source: RequestError::Refused(Box::new(status)) }
    }

    #[test]
    fn a_record_that_changed_or_went_away_is_read_again() {
        assert!(refusal(LeaseVerb::Update, CONFLICT).is_outdated());
        assert!(refusal(LeaseVerb::Create, CONFLICT).is_outdated());
        assert!(refusal(LeaseVerb::Update, NOT_FOUND).is_outdated());
    }

    #[test]
    fn a_missing_namespace_or_a_broken_server_is_not_asked_again_at_once() {
        assert!(!refusal(LeaseVerb::Create, NOT_FOUND).is_outdated());
        assert!(!refusal(LeaseVerb::Update, 500).is_outdated());
        assert!(!refusal(LeaseVerb::Update, 422).is_outdated());
        assert!(!LeaseError::from(LeaseSettingsError::NoRetryPeriod).is_outdated());
    }
}
