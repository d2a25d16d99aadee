//! What an instance says of itself over time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crds::status::ConditionStatus;
use crds::{FluxInstance, INSTANCE_NAME};
use futures::StreamExt as _;
use kube::Api;
use kube::runtime::watcher::watch_object;
use tokio::task::JoinHandle;

use crate::bench::ready;

/// What the Ready condition said, in order and without repetitions in a row.
pub(crate) struct Words {
    said: Arc<Mutex<Vec<Word>>>,
    task: JoinHandle<()>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Word {
    generation: Option<i64>,
    status: ConditionStatus,
    reason: String,
    message: String,
}

impl Words {
    pub(crate) fn collect(instances: Api<FluxInstance>) -> Self {
        let said = Arc::new(Mutex::new(Vec::<Word>::new()));
        let sink = said.clone();
        let task = tokio::spawn(async move {
            let mut states = Box::pin(watch_object(instances, INSTANCE_NAME));
            while let Some(state) = states.next().await {
                let Ok(Some(instance)) = state else { continue };
                let Some(ready) = ready(&instance) else { continue };
                let word = Word {
                    generation: ready.observed_generation,
                    status: ready.status,
                    reason: ready.reason.clone(),
                    message: ready.message.clone(),
                };
                let mut said = sink.lock().unwrap();
                if said.last() != Some(&word) {
                    said.push(word);
                }
            }
        });
        Self { said, task }
    }

    /// What was said of a generation with a status, and how often in a row.
    pub(crate) fn of(&self, generation: Option<i64>, status: ConditionStatus) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for word in self.said.lock().unwrap().iter() {
            if word.generation == generation && word.status == status {
                *counts.entry(format!("{}: {}", word.reason, word.message)).or_default() += 1;
            }
        }
        counts
    }
}

impl std::fmt::Display for Words {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for word in self.said.lock().unwrap().iter() {
            let message: String = word.message.chars().take(200).collect();
            let generation = word.generation.unwrap_or_default();
            write!(formatter, "\n  generation {generation}: {:?} {}: {message}", word.status, word.reason)?;
        }
        Ok(())
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        self.task.abort();
    }
}
