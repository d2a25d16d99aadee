//! Waiting until objects and pods are gone, by watching them.

use std::{collections::BTreeSet, time::Duration};

use crds::{ObjectId, status::InventoryEntry};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, Client, ResourceExt as _,
    core::PartialObjectMeta,
    runtime::{
        WatchStreamExt as _,
        watcher::{self, Event, watch_object, watcher},
    },
};
use tokio::time::{Instant, timeout_at};

use crate::{
    error::RequestError,
    kinds::{KindError, Kinds},
    readiness::Readiness,
    wait::{Pending, WATCHES},
};

/// Waits until objects are gone, and tells meanwhile which are not. Gives those that are still there at the deadline.
///
/// # Errors
/// When the kind of an object cannot be looked up.
pub async fn until_gone(
    kinds: &Kinds,
    entries: &[InventoryEntry],
    limit: Duration,
    pending: &Pending,
) -> Result<Vec<ObjectId>, KindError> {
    let deadline = Instant::now() + limit;
    for id in entries.iter().filter_map(ObjectId::parse) {
        pending.set(&id, &Readiness::Deleted);
    }
    let waits = entries.iter().map(|entry| async move {
        let left = watch_until_gone(kinds, entry, deadline).await?;
        if let (None, Some(gone)) = (&left, ObjectId::parse(entry)) {
            pending.set(&gone, &Readiness::Ready);
        }
        Ok(left)
    });
    let left: Vec<Option<ObjectId>> = stream::iter(waits).buffer_unordered(WATCHES).try_collect().await?;
    Ok(left.into_iter().flatten().collect())
}

async fn watch_until_gone(
    kinds: &Kinds,
    entry: &InventoryEntry,
    deadline: Instant,
) -> Result<Option<ObjectId>, KindError> {
    let Some(id) = ObjectId::parse(entry) else { return Ok(None) };
    let Some(api) = kinds.find_api(&id, &entry.v).await? else { return Ok(None) };
    let mut states = Box::pin(watch_object(api, &id.name).default_backoff());
    while let Ok(Some(state)) = timeout_at(deadline, states.next()).await {
        match state {
            Ok(None) => return Ok(None),
            // Another object of that name is not the one that was waited for.
            Ok(Some(object)) if entry.uid.is_some() && object.metadata.uid != entry.uid => return Ok(None),
            Ok(Some(_)) | Err(_) => {}
        }
    }
    Ok(Some(id))
}

/// Which pods are waited for.
#[derive(Clone, Copy, Debug)]
pub struct Pods<'a> {
    /// Their namespace.
    pub namespace: &'a str,
    /// Their labels.
    pub selector: &'a str,
}

/// Waits until there are none of these pods, and tells meanwhile which there are. Gives the names of those that
/// are left at the deadline.
///
/// # Errors
/// When pods cannot be watched.
pub async fn until_no_pods(
    client: &Client,
    pods: Pods<'_>,
    limit: Duration,
    pending: &Pending,
) -> Result<Vec<String>, RequestError> {
    let deadline = Instant::now() + limit;
    let api: Api<PartialObjectMeta<Pod>> = Api::namespaced(client.clone(), pods.namespace);
    let configuration = watcher::Config::default().labels(pods.selector);
    let mut events = Box::pin(watcher(api, configuration).default_backoff());
    let mut present = BTreeSet::new();
    // Nothing is known before the first list, and again while a new one is made.
    let mut is_listed = false;
    let mut failure = None;
    while let Ok(Some(event)) = timeout_at(deadline, events.next()).await {
        failure = None;
        match event {
            Ok(Event::Init) => {
                for name in std::mem::take(&mut present) {
                    pending.set(&pods.id(name), &Readiness::Ready);
                }
                is_listed = false;
            }
            Ok(Event::InitApply(pod) | Event::Apply(pod)) => {
                pending.set(&pods.id(pod.name_any()), &state_of(&pod));
                present.insert(pod.name_any());
            }
            Ok(Event::Delete(pod)) => {
                pending.set(&pods.id(pod.name_any()), &Readiness::Ready);
                present.remove(&pod.name_any());
            }
            Ok(Event::InitDone) => is_listed = true,
            Err(error) => failure = Some(RequestError::from(error)),
        }
        if is_listed && failure.is_none() && present.is_empty() {
            return Ok(Vec::new());
        }
    }
    if failure.is_none() && !is_listed {
        let problem = "the API server did not list the pods".to_owned();
        failure = Some(RequestError::Unwatchable(problem));
    }
    match failure {
        Some(problem) => Err(problem),
        None => Ok(present.into_iter().collect()),
    }
}

impl Pods<'_> {
    fn id(&self, name: String) -> ObjectId {
        let (group, kind, namespace) = (String::new(), "Pod".to_owned(), self.namespace.to_owned());
        ObjectId { group, kind, namespace, name }
    }
}

fn state_of(pod: &PartialObjectMeta<Pod>) -> Readiness {
    match pod.metadata.deletion_timestamp {
        Some(_) => Readiness::Deleted,
        None => Readiness::InProgress("it runs".to_owned()),
    }
}
