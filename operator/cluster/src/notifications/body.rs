//! What is posted: the event as notification-controller reads it.

use std::{borrow::Cow, collections::BTreeMap};

use k8s_openapi::{
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time},
    jiff::Timestamp,
};
use kube::Resource;
use operator_net::without_userinfo;
use serde::Serialize;

use super::Notification;
use crate::events::{Severity, shorten};

/// The longest message, in bytes: notification-controller takes so many characters.
const MAX_MESSAGE_BYTES: usize = 39_000;

/// Annotations with this prefix are what users tell receivers of the events of an object.
const EVENT_PREFIX: &str = "event.toolkit.fluxcd.io/";

/// The object that an event is about.
pub(crate) struct About<'a> {
    kind: Cow<'a, str>,
    api_version: Cow<'a, str>,
    metadata: &'a ObjectMeta,
}

impl<'a> About<'a> {
    pub(crate) fn object<K: Resource<DynamicType = ()>>(object: &'a K) -> Self {
        Self { kind: K::kind(&()), api_version: K::api_version(&()), metadata: object.meta() }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    involved_object: InvolvedObject<'a>,
    severity: &'static str,
    timestamp: Time,
    message: String,
    reason: &'a str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    metadata: BTreeMap<String, String>,
    reporting_controller: &'static str,
    reporting_instance: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InvolvedObject<'a> {
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<&'a str>,
    api_version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_version: Option<&'a str>,
}

/// The event as JSON; `instance` is the name of the pod.
///
/// # Errors
/// When the time has no year that can be written.
pub(crate) fn body(
    about: &About<'_>,
    notification: &Notification<'_>,
    instance: &str,
    now: Timestamp,
) -> Result<Vec<u8>, serde_json::Error> {
    let object = about.metadata;
    serde_json::to_vec(&Body {
        involved_object: InvolvedObject {
            kind: &about.kind,
            namespace: object.namespace.as_deref(),
            name: object.name.as_deref(),
            uid: object.uid.as_deref(),
            api_version: &about.api_version,
            resource_version: object.resource_version.as_deref(),
        },
        severity: match notification.severity {
            Severity::Normal => "info",
            Severity::Warning => "error",
        },
        timestamp: Time(now),
        message: shorten(&without_userinfo(notification.message), MAX_MESSAGE_BYTES),
        reason: notification.reason,
        metadata: metadata(object, notification),
        reporting_controller: crds::FIELD_MANAGER,
        reporting_instance: instance,
    })
}

fn metadata(object: &ObjectMeta, notification: &Notification<'_>) -> BTreeMap<String, String> {
    let annotations = object.annotations.iter().flatten();
    let annotations = annotations
        .filter(|(key, _)| key.starts_with(EVENT_PREFIX))
        .map(|(key, value)| (key.clone(), without_userinfo(value)));
    notification.facts().chain(annotations).collect()
}
