//! Kubernetes events on the objects of this operator: what a person sees in `kubectl describe`.

use k8s_openapi::api::core::v1::ObjectReference;
use kube::{
    Client,
    runtime::events::{Event, EventType, Recorder, Reporter},
};
use tokio::time::timeout;
use tracing::warn;

use crate::error::REQUEST_TIMEOUT;

/// The longest note of an event, in bytes: the API server refuses longer ones.
const MAX_NOTE_BYTES: usize = 1_024;

/// Records events of one process.
#[derive(Clone)]
pub struct Events {
    recorder: Recorder,
}

/// How much an event matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Something changed as it should.
    Normal,
    /// A person should look.
    Warning,
}

impl Events {
    /// Events from this process; `instance` is the name of the pod.
    #[must_use]
    pub fn new(client: Client, instance: Option<String>) -> Self {
        let reporter = Reporter { controller: crds::FIELD_MANAGER.to_owned(), instance };
        Self { recorder: Recorder::new(client, reporter) }
    }

    /// Records an event on an object. Events are told to people, nothing depends on them: one that cannot be
    /// recorded is logged and forgotten.
    pub async fn record(&self, object: &ObjectReference, severity: Severity, reason: &str, note: &str) {
        let event = Event {
            type_: match severity {
                Severity::Normal => EventType::Normal,
                Severity::Warning => EventType::Warning,
            },
            reason: reason.to_owned(),
            note: Some(shorten(note, MAX_NOTE_BYTES)),
            action: reason.to_owned(),
            secondary: None,
        };
        match timeout(REQUEST_TIMEOUT, self.recorder.publish(&event, object)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => warn!(reason, error = %error, "failed to record an event"),
            Err(_) => warn!(reason, "failed to record an event: the API server did not answer"),
        }
    }
}

/// The text, cut at a character boundary to at most so many bytes.
#[must_use]
pub fn shorten(text: &str, most_bytes: usize) -> String {
    const ELLIPSIS: &str = " ...";
    if text.len() <= most_bytes {
        return text.to_owned();
    }
    let room = most_bytes.saturating_sub(ELLIPSIS.len());
    let kept: String = text
        .char_indices()
        .take_while(|(start, character)| start + character.len_utf8() <= room)
        .map(|(_, character)| character)
        .collect();
    kept + ELLIPSIS
}

#[cfg(test)]
mod tests {
    use super::shorten;

    #[test]
    fn long_notes_are_cut_between_characters() {
        assert_eq!(shorten("short", 10), "short");
        assert_eq!(shorten("0123456789", 10), "0123456789");
        assert_eq!(shorten("0123456789x", 10), "012345 ...");
        assert_eq!(shorten("äääääääääää", 10), "äää ...");
    }
}
