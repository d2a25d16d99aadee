//! What went through the proxy.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::ApiRequest;

/// One request and what became of it.
#[derive(Debug, Clone)]
pub struct Record {
    /// Its place in the order of arrival, from 0.
    pub number: usize,
    /// When it arrived.
    pub arrived: Instant,
    /// What it asks for.
    pub request: ApiRequest,
    /// The status that the client got; nothing while there is no answer, and for a dropped connection.
    pub status: Option<u16>,
    /// What it changed; nothing for reads, and before the API server has answered.
    pub effect: Option<Effect>,
    /// The uid of the written object.
    pub uid: Option<String>,
    /// What a rule did to it.
    pub fault: Option<&'static str>,
}

/// What a write did to what is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Effect {
    /// Nothing: it was refused, a dry run, or everything was so already.
    Nothing,
    /// An object is new.
    Created,
    /// An object has another resourceVersion than before.
    Changed,
    /// An object is gone or being deleted, and was not before.
    Deleted,
}

impl Record {
    /// Whether it changed what is stored.
    #[must_use]
    pub fn is_effective(&self) -> bool {
        self.effect.is_some_and(|effect| effect != Effect::Nothing)
    }

    /// Whether it is traffic that never ends: a watch, or a record of leader election.
    #[must_use]
    pub fn is_background(&self) -> bool {
        self.request.verb == super::Verb::Watch || self.request.is_lease()
    }
}

/// `#12 patch deployments.apps/a/b -> 201 Created`
impl fmt::Display for Record {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "#{} {} -> ", self.number, self.request)?;
        match self.status {
            Some(status) => write!(formatter, "{status}")?,
            None => write!(formatter, "no answer")?,
        }
        if let Some(effect) = self.effect {
            write!(formatter, " {effect:?}")?;
        }
        if let Some(fault) = self.fault {
            write!(formatter, " ({fault})")?;
        }
        Ok(())
    }
}

/// All requests since the start, in the order of arrival.
#[derive(Debug)]
pub(crate) struct Log {
    records: Mutex<Vec<Record>>,
    /// How many there are that are no background, for those who wait.
    foreground: watch::Sender<usize>,
}

impl Default for Log {
    fn default() -> Self {
        Self { records: Mutex::default(), foreground: watch::Sender::new(0) }
    }
}

impl Log {
    /// Takes note of a request and gives its number.
    pub(crate) fn arrive(&self, request: ApiRequest) -> usize {
        let mut records = self.lock();
        let number = records.len();
        let record = Record {
            number,
            arrived: Instant::now(),
            request,
            status: None,
            effect: None,
            uid: None,
            fault: None,
        };
        let is_background = record.is_background();
        records.push(record);
        drop(records);
        if !is_background {
            self.foreground.send_modify(|count| *count += 1);
        }
        number
    }

    /// Changes what is known of a request.
    pub(crate) fn amend(&self, number: usize, change: impl FnOnce(&mut Record)) {
        if let Some(record) = self.lock().get_mut(number) {
            change(record);
        }
    }

    pub(crate) fn get(&self, number: usize) -> Option<Record> {
        self.lock().get(number).cloned()
    }

    pub(crate) fn since(&self, number: usize) -> Vec<Record> {
        self.lock().get(number..).unwrap_or_default().to_vec()
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Ends when only background traffic was seen for so long.
    pub(crate) async fn quiet(&self, length: Duration) {
        let mut foreground = self.foreground.subscribe();
        while tokio::time::timeout(length, foreground.changed()).await.is_ok() {}
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Record>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
