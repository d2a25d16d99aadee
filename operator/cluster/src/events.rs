//! Kubernetes events on the objects of this operator: what a person sees in `kubectl describe`. Some are told to
//! [notification-controller](crate::notifications) too.

use k8s_openapi::{
    api::core::v1::{Event, EventSource, ObjectReference},
    apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta, Time},
    jiff::Timestamp,
};
use kube::{Api, Client, Resource, api::PostParams};
use operator_net::Url;
use tracing::warn;

use crate::{
    error::bounded,
    notifications::{About, Letter, Notification, Notifications, body},
};

/// The longest note of an event, in bytes: the API server refuses longer ones.
const MAX_NOTE_BYTES: usize = 1_024;

/// Records events of one process.
///
/// Each is an object of its own: an event that is only counted would keep the note of the first one, and the
/// note is what a person needs.
#[derive(Clone)]
pub struct Events {
    client: Client,
    /// Name of the pod.
    instance: Option<String>,
    notifications: Option<Notifications>,
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
        Self { client, instance, notifications: None }
    }

    /// The same, with somebody to notify.
    #[must_use]
    pub fn with_notifications(self, notifications: Notifications) -> Self {
        Self { notifications: Some(notifications), ..self }
    }

    /// Sets the address of the instance's notification-controller, see [`Notifications::set_address`].
    pub fn set_address(&self, address: Option<Url>) {
        if let Some(notifications) = &self.notifications {
            notifications.set_address(address);
        }
    }

    /// Tells notification-controller of an object, where there is one. It is posted later, in the order of these
    /// calls; this neither waits nor fails.
    pub fn notify<K: Resource<DynamicType = ()>>(&self, object: &K, notification: &Notification<'_>) {
        let Some(notifications) = self.notifications.as_ref().filter(|it| it.has_address()) else { return };
        let reason = notification.reason.to_owned();
        match body(&About::object(object), notification, self.instance(), Timestamp::now()) {
            Ok(body) => notifications.send(Letter { reason, body }),
            Err(error) => {
                warn!(reason, error = %error, "failed to write an event for notification-controller");
            }
        }
    }

    /// Records an event on an object. Events are told to people, nothing depends on them: one that cannot be
    /// recorded is logged and forgotten.
    pub async fn record(&self, object: &ObjectReference, told: &Notification<'_>) {
        let event = self.event(object, told, Timestamp::now());
        let namespace = object.namespace.as_deref().unwrap_or("default");
        let events: Api<Event> = Api::namespaced(self.client.clone(), namespace);
        if let Err(error) = bounded(events.create(&PostParams::default(), &event)).await {
            warn!(reason = told.reason, error = %error, "failed to record an event");
        }
    }

    fn event(&self, object: &ObjectReference, told: &Notification<'_>, now: Timestamp) -> Event {
        let severity = match told.severity {
            Severity::Normal => "Normal",
            Severity::Warning => "Warning",
        };
        let reason = Some(told.reason.to_owned());
        Event {
            metadata: ObjectMeta {
                generate_name: Some(format!("{}.", object.name.as_deref().unwrap_or("object"))),
                namespace: object.namespace.clone(),
                annotations: (!told.metadata.is_empty()).then(|| told.facts().collect()),
                ..ObjectMeta::default()
            },
            involved_object: object.clone(),
            type_: Some(severity.to_owned()),
            action: reason.clone(),
            reason,
            message: Some(shorten(told.message, MAX_NOTE_BYTES)),
            count: Some(1),
            first_timestamp: Some(Time(now)),
            last_timestamp: Some(Time(now)),
            event_time: Some(MicroTime(now)),
            source: Some(EventSource { component: Some(crds::FIELD_MANAGER.to_owned()), host: None }),
            reporting_component: Some(crds::FIELD_MANAGER.to_owned()),
            reporting_instance: Some(self.instance().to_owned()),
            ..Event::default()
        }
    }

    fn instance(&self) -> &str {
        self.instance.as_deref().unwrap_or(crds::FIELD_MANAGER)
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
