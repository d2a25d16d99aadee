//! Definitions of custom resources: brought to new versions without losing an object, and never lowered.
//!
//! # Expected flow
//! [`Definitions::prepare`] before definitions are applied, [`migrate`] when what uses them runs.
//!
//! A definition that has lost versions is refused by the API server as long as objects may be stored in one
//! of them, and objects whose `managedFields` name a lost version cannot be applied any more. So the wanted
//! definition is applied with the versions that it lacks, served as before; every object is rewritten; then
//! the lost versions are served no more, and what was written meanwhile is rewritten; then
//! `status.storedVersions` says so. Now the wanted definition can be applied.
//!
//! # Guarantees
//! - Each step starts from what is there and may be repeated: ended anywhere, the next call goes on.
//! - Nothing is deleted. Objects keep their fields, and fields keep their owners.
//! - `status.storedVersions` is written only if nobody changed the definition since its objects were
//!   rewritten, so that two callers at once, or somebody who restores the old definition, do no harm.
//! - A definition of a newer release is left alone.
//!
//! # Assumptions
//! Objects of a kind mean the same in all its versions, or a webhook converts them.
//!
//! # Caveats
//! An API server that lags behind its peers by more than [`SETTLE_TIME`] may still store an old version.

mod error;
mod owners;
mod plan;
mod rewrite;

use std::time::Duration;

use crds::ObjectId;
use futures::{StreamExt as _, stream};
use kube::{Api, Client, api::Patch, core::DynamicObject};
use serde_json::{Value, json};
use tokio::time::sleep;
use tracing::info;

use crate::{
    apply::{Applier, Desired},
    error::{RequestError, repeated},
    kinds::Kinds,
    managed_fields,
};

pub use error::DefinitionError;
pub use plan::Reach;
use plan::{Bridge, Plan, Target, generation, is_exact, migration, plan};
use rewrite::{rewrite, until_served};

/// How long other API servers may take to notice that a definition stores another version: what they allow
/// each other before they call a new definition established.
pub const SETTLE_TIME: Duration = Duration::from_secs(5);

/// How long a version may take to be served once its definition is applied; usually a fraction of a second.
const SERVED_TIMEOUT: Duration = Duration::from_mins(1);

/// Between two looks whether a version is served.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// How many definitions are worked on at once. Each has a page of objects in memory.
const IN_FLIGHT: usize = 4;

/// How often a definition is looked at anew that others changed meanwhile.
const MOST_ATTEMPTS: usize = 5;

/// Makes way for definitions of one release of Flux.
#[derive(Clone, Copy)]
pub struct Definitions<'a> {
    /// Applies them.
    pub applier: Applier<'a>,
    /// Whether a release, as the label `app.kubernetes.io/version` has it, is newer than the one to apply.
    pub is_newer: &'a (dyn Fn(&str) -> bool + Send + Sync),
}

/// What was done about a definition before it is applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prepared {
    /// It can be applied; nothing had to be done.
    Applicable,
    /// It can be applied, because its objects have left the versions that it drops.
    Bridged(Rewritten),
    /// It must not be applied: the one that is there is of a newer release.
    Newer {
        /// Name of the definition.
        definition: String,
        /// The release that is there.
        release: String,
    },
}

/// Objects that were rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// Name of the definition.
    pub definition: String,
    /// The version that they are in.
    pub version: String,
    /// The versions that the definition drops.
    pub dropped: Vec<String>,
    /// How many objects were written, those that came out as they were included.
    pub objects: usize,
}

impl Definitions<'_> {
    /// Makes way for definitions. The outcomes come in the order given, one for each: one that fails does not
    /// stop the others.
    pub async fn prepare(&self, wanted: &[&Value]) -> Vec<Result<Prepared, DefinitionError>> {
        stream::iter(wanted.iter().map(|wanted| self.prepare_one(wanted))).buffered(IN_FLIGHT).collect().await
    }

    async fn prepare_one(&self, wanted: &Value) -> Result<Prepared, DefinitionError> {
        let id = ObjectId::of(wanted);
        let api = self.applier.kinds.api(wanted).await?;
        for _ in 0..MOST_ATTEMPTS {
            let Some(live) = read(&api, &id.name).await? else { return Ok(Prepared::Applicable) };
            match plan(&live, wanted, self.is_newer) {
                Plan::Apply => return Ok(Prepared::Applicable),
                Plan::Leave(release) => return Ok(Prepared::Newer { definition: id.name, release }),
                Plan::Bridge(bridge) => {
                    if let Some(objects) = self.cross(&api, &bridge).await? {
                        return Ok(Prepared::Bridged(Rewritten {
                            definition: id.name,
                            version: bridge.target.resource.version,
                            dropped: bridge.dropped,
                            objects,
                        }));
                    }
                }
            }
        }
        Err(DefinitionError::Contended { definition: id.name })
    }

    /// How many objects were written; none when somebody changed the definition meanwhile.
    async fn cross(
        &self,
        api: &Api<DynamicObject>,
        bridge: &Bridge,
    ) -> Result<Option<usize>, DefinitionError> {
        let (client, target) = (self.applier.kinds.client(), &bridge.target);
        let mut objects = 0;
        let mut opened = None;
        if bridge.reach == Reach::Everything {
            opened = Some(self.apply(bridge, &bridge.open).await?);
            told(bridge, "the definition serves the versions that go and stores the new one");
            objects += rewrite_settled(client, target).await?;
            told(bridge, "the objects of the definition are rewritten");
        }
        let closed = self.apply(bridge, &bridge.closed).await?;
        if opened.is_some_and(|opened| closed > opened + 1) {
            return Ok(None);
        }
        told(bridge, "the definition does not serve the versions that go any more");
        until_served(client, target).await?;
        objects += rewrite(client, target, Reach::OwnedFields).await?;
        if bridge.reach == Reach::Everything && !record(api, target, closed).await? {
            return Ok(None);
        }
        told(bridge, "the definition can drop versions");
        Ok(Some(objects))
    }

    /// The generation of the definition after the apply.
    async fn apply(&self, bridge: &Bridge, object: &Value) -> Result<i64, DefinitionError> {
        let outcome = self.applier.apply(&[Desired { object, takeover: None }]).await.pop();
        match outcome.transpose() {
            Ok(applied) => Ok(applied.map_or(0, |applied| generation(&applied.object))),
            Err(source) => Err(DefinitionError::Bridge {
                definition: bridge.target.definition.clone(),
                dropped: bridge.dropped.clone(),
                version: bridge.target.resource.version.clone(),
                source,
            }),
        }
    }
}

/// Rewrites the objects of definitions that were applied: all when they may be stored in another version than
/// the one that is stored now, else what is asked for. Definitions that need nothing have no outcome.
///
/// Definitions are given as they came out of the apply.
pub async fn migrate(
    kinds: &Kinds,
    applied: &[&Value],
    asked: Option<Reach>,
) -> Vec<Result<Rewritten, DefinitionError>> {
    let migrations = applied
        .iter()
        .filter_map(|live| migration(live, asked).map(|(target, reach)| (*live, target, reach)))
        .map(|(live, target, reach)| async move {
            let objects = migrate_one(kinds, live, &target, reach).await?;
            let (definition, version) = (target.definition, target.resource.version);
            Ok(Rewritten { definition, version, dropped: Vec::new(), objects })
        });
    stream::iter(migrations).buffered(IN_FLIGHT).collect().await
}

async fn migrate_one(
    kinds: &Kinds,
    live: &Value,
    target: &Target,
    reach: Reach,
) -> Result<usize, DefinitionError> {
    if is_exact(live, &target.resource.version) {
        return rewrite(kinds.client(), target, reach).await;
    }
    let objects = rewrite_settled(kinds.client(), target).await?;
    if record(&kinds.api(live).await?, target, generation(live)).await? {
        return Ok(objects);
    }
    Err(DefinitionError::Contended { definition: target.definition.clone() })
}

/// Rewrites all objects once every API server stores the version of the target.
async fn rewrite_settled(client: &Client, target: &Target) -> Result<usize, DefinitionError> {
    until_served(client, target).await?;
    sleep(SETTLE_TIME).await;
    rewrite(client, target, Reach::Everything).await
}

async fn read(api: &Api<DynamicObject>, definition: &str) -> Result<Option<Value>, DefinitionError> {
    let failed = |source| DefinitionError::Read { definition: definition.to_owned(), source };
    let live = repeated(|| api.get_opt(definition)).await.map_err(failed)?;
    let live = live.map(serde_json::to_value).transpose();
    live.map_err(|error| failed(RequestError::from(kube::Error::SerdeError(error))))
}

/// Writes `status.storedVersions`. False when the definition is not of this generation any more.
async fn record(api: &Api<DynamicObject>, target: &Target, generation: i64) -> Result<bool, DefinitionError> {
    let version = &target.resource.version;
    let failed = |source| {
        let definition = target.definition.clone();
        DefinitionError::Record { definition, version: version.clone(), source }
    };
    let operations = json!([
        {"op": "test", "path": "/metadata/generation", "value": generation},
        {"op": "replace", "path": "/status/storedVersions", "value": [version]},
    ]);
    let patch = serde_json::from_value(operations).map_err(kube::Error::SerdeError);
    let patch = Patch::<Value>::Json(patch.map_err(RequestError::from).map_err(failed)?);
    let parameters = managed_fields::change();
    match repeated(|| api.patch_status(&target.definition, &parameters, &patch)).await {
        Ok(_) => Ok(true),
        Err(error) => {
            let live = read(api, &target.definition).await?;
            if live.is_none_or(|live| plan::generation(&live) != generation) {
                return Ok(false);
            }
            Err(failed(error))
        }
    }
}

fn told(bridge: &Bridge, step: &str) {
    let Target { definition, resource, .. } = &bridge.target;
    info!(definition, version = resource.version, dropped = bridge.dropped.join(", "), "{step}");
}
