//! The watches that show what became of managed objects.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
    time::Duration,
};

use crds::{
    ObjectId,
    keys::{OWNER_NAME, OWNER_NAMESPACE},
};
use futures::StreamExt as _;
use kube::{
    Api,
    core::{DynamicObject, GroupVersionKind, PartialObjectMeta},
    runtime::{
        WatchStreamExt as _,
        watcher::{self, Event, watcher},
    },
};
use tokio::{task::JoinSet, time::sleep};
use tracing::warn;

use super::{Managed, Seen, fingerprint, number};
use crate::{delete::Owner, error::explain, kinds::Kinds, managed_fields::is_our_entry};

/// How long until a kind that could not be looked up is looked up again.
const LOOKUP_INTERVAL: Duration = Duration::from_secs(10);

/// Running watches, one a kind. Dropping it ends them.
#[derive(Default)]
pub struct Watches {
    tasks: JoinSet<()>,
    kinds: HashSet<GroupVersionKind>,
}

impl Watches {
    /// Watches these kinds too. Kinds that are watched already go on being watched.
    pub fn extend(
        &mut self,
        kinds: &Arc<Kinds>,
        wanted: impl IntoIterator<Item = GroupVersionKind>,
        owner: Owner<'_>,
        managed: &Managed,
    ) {
        let labels = BTreeMap::from([(OWNER_NAME, owner.name), (OWNER_NAMESPACE, owner.namespace)]);
        let selector: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        for kind in wanted {
            if self.kinds.insert(kind.clone()) {
                self.tasks.spawn(watch(kinds.clone(), kind, selector.join(","), managed.clone()));
            }
        }
    }
}

/// Watches the objects of a kind for as long as the task lives.
async fn watch(kinds: Arc<Kinds>, kind: GroupVersionKind, selector: String, managed: Managed) {
    let api: Api<PartialObjectMeta<DynamicObject>> = loop {
        match kinds.all_metadata(&kind).await {
            Ok(api) => break api,
            Err(error) => {
                warn!(kind = kind.kind, error = explain(&error), "drift of a kind is not noticed yet");
                sleep(LOOKUP_INTERVAL).await;
            }
        }
    };
    let configuration = watcher::Config::default().labels(&selector);
    let mut events = Box::pin(watcher(api, configuration).default_backoff());
    let mut listed = HashSet::new();
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Init) => listed.clear(),
            Ok(Event::InitApply(object)) => {
                listed.insert(id_of(&kind, &object));
                managed.see(id_of(&kind, &object), seen_in(&object));
            }
            Ok(Event::InitDone) => managed.see_all(&kind, &listed),
            Ok(Event::Apply(object)) => managed.see(id_of(&kind, &object), seen_in(&object)),
            Ok(Event::Delete(object)) => managed.see_gone(&id_of(&kind, &object)),
            Err(error) => warn!(kind = kind.kind, error = explain(&error), "failed to watch managed objects"),
        }
    }
}

fn id_of(kind: &GroupVersionKind, object: &PartialObjectMeta<DynamicObject>) -> ObjectId {
    ObjectId {
        group: kind.group.clone(),
        kind: kind.kind.clone(),
        namespace: object.metadata.namespace.clone().unwrap_or_default(),
        name: object.metadata.name.clone().unwrap_or_default(),
    }
}

fn seen_in(object: &PartialObjectMeta<DynamicObject>) -> Seen {
    let ours = object.metadata.managed_fields.iter().flatten().find(|entry| is_our_entry(entry));
    let fields = fingerprint(ours.and_then(|entry| entry.fields_v1.as_ref()).map(|fields| &fields.0));
    Seen { fields, version: number(object.metadata.resource_version.as_deref()) }
}
