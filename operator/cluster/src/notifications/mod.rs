//! Events for people who do not look at the cluster: they are posted to notification-controller, which tells
//! whoever its Alerts name.
//!
//! # Expected flow
//! A reconciler hands an event over and goes on. One task posts the events in their order, each under a deadline
//! and with a few retries.
//!
//! # Guarantees
//! Handing over never waits. Memory and tasks are bounded whatever the server does.
//!
//! # Caveats
//! What does not arrive is logged and forgotten, also when the process ends before.

mod body;
mod delivery;

#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use crds::{
    FluxInstance,
    flux_instance::{Component, DEFAULT_CLUSTER_DOMAIN},
};
use operator_net::{HttpClient, HttpError, Url, UrlError, address, without_userinfo};
use thiserror::Error;
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
};
use tracing::warn;

use crate::events::Severity;
pub(crate) use body::{About, body};
pub(crate) use delivery::Letter;
use delivery::{Delivery, Pace};

/// How many events may wait to be posted. A pass causes a handful; one has at most 39 kB of message and 256 KiB
/// of annotations, so that all of them stay under 32 MiB, and usually under 100 KiB.
const QUEUE: usize = 100;

/// Environment variable that switches posting off, whatever its value.
const DISABLED: &str = "NOTIFICATIONS_DISABLED";

/// Environment variable with the address to post to instead of that of the instance.
const ADDRESS: &str = "NOTIFICATION_CONTROLLER_ADDRESS";

/// Why there can be no notifications.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum NotificationsError {
    #[error("environment variable {ADDRESS}: {0}")]
    Environment(AddressError),
    #[error("failed to prepare the notifications")]
    Client(#[from] HttpError),
}

/// Why nothing can be posted to an address. It is not shown, because it may hold a password.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum AddressError {
    #[error("the value is no URL: {0}")]
    NoUrl(UrlError),
    #[error("the URL starts with {scheme}://, expected http:// or https://")]
    Scheme { scheme: String },
}

/// Where notifications go.
#[derive(Clone, PartialEq, Eq)]
pub enum Destination {
    /// Nowhere.
    Nowhere,
    /// To this address, whatever is installed.
    Fixed(Url),
    /// To the notification-controller of the instance, when it has one.
    OfInstance,
}

impl Destination {
    /// The destination at an address: a URL, or nothing for nowhere.
    ///
    /// # Errors
    /// When the address is not a URL with `http` or `https`.
    pub fn at(address: &str) -> Result<Self, AddressError> {
        if address.is_empty() {
            return Ok(Self::Nowhere);
        }
        let url: Url = address.parse().map_err(AddressError::NoUrl)?;
        match url.scheme() {
            "http" | "https" => Ok(Self::Fixed(url)),
            scheme => Err(AddressError::Scheme { scheme: scheme.to_owned() }),
        }
    }

    /// What the environment asks for: `NOTIFICATIONS_DISABLED` with any text for nowhere, else the URL in
    /// `NOTIFICATION_CONTROLLER_ADDRESS`. Empty variables are as good as none; none when it asks for nothing.
    ///
    /// # Errors
    /// When the address is not a URL with `http` or `https`.
    pub fn from_environment(
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, NotificationsError> {
        let read = |variable: &str| environment(variable).filter(|value| !value.is_empty());
        if read(DISABLED).is_some() {
            return Ok(Some(Self::Nowhere));
        }
        let Some(address) = read(ADDRESS) else { return Ok(None) };
        Self::at(&address).map(Some).map_err(NotificationsError::Environment)
    }
}

impl fmt::Debug for Destination {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nowhere => formatter.write_str("Nowhere"),
            Self::Fixed(url) => write!(formatter, "Fixed({})", address(url)),
            Self::OfInstance => formatter.write_str("OfInstance"),
        }
    }
}

/// What is told of an object, in an event of Kubernetes or to notification-controller.
#[derive(Clone, Copy, Debug)]
pub struct Notification<'a> {
    /// How much it matters: `info` or `error` in the words of Alerts.
    pub severity: Severity,
    /// A word for programs, such as the reason of a condition.
    pub reason: &'a str,
    /// A sentence for people. An event of Kubernetes holds 1,024 bytes of it, notification-controller gets 39,000,
    /// without the users and passwords of URLs.
    pub message: &'a str,
    /// More facts by name, such as `revision`. The group of our kinds is put before the names, since
    /// notification-controller passes on nothing else.
    pub metadata: &'a [(&'a str, &'a str)],
}

impl Notification<'_> {
    /// The metadata under their full keys, without users and passwords in URLs.
    pub(crate) fn facts(&self) -> impl Iterator<Item = (String, String)> {
        let full = |name: &str| format!("{}/{name}", crds::GROUP);
        self.metadata.iter().map(move |(name, value)| (full(name), without_userinfo(value)))
    }
}

/// Takes events that are to be posted. Clones share one queue, and the task behind it ends with the last of them.
#[derive(Clone, Debug)]
pub struct Notifications {
    address: Arc<watch::Sender<Option<Url>>>,
    follows_instance: bool,
    queue: mpsc::Sender<Letter>,
    /// How many events found no room since the queue was last empty.
    dropped: Arc<AtomicU64>,
}

impl Notifications {
    /// Starts the task that posts. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// When there can be no HTTP client.
    pub fn start(destination: Destination) -> Result<Self, NotificationsError> {
        Self::start_at(destination, Pace::default()).map(|(notifications, _)| notifications)
    }

    fn start_at(destination: Destination, pace: Pace) -> Result<(Self, JoinHandle<()>), NotificationsError> {
        let client = HttpClient::new(pace.limits)?;
        let follows_instance = destination == Destination::OfInstance;
        let fixed = match destination {
            Destination::Fixed(url) => Some(url),
            Destination::Nowhere | Destination::OfInstance => None,
        };
        let (address, addresses) = watch::channel(fixed);
        let (queue, letters) = mpsc::channel(QUEUE);
        let dropped = Arc::<AtomicU64>::default();
        let delivery =
            Delivery { client, addresses, letters, dropped: Arc::clone(&dropped), delays: pace.delays };
        let task = tokio::spawn(delivery.run());
        Ok((Self { address: Arc::new(address), follows_instance, queue, dropped }, task))
    }

    /// Sets the address of the instance's notification-controller. It counts only where notifications go to the
    /// instance, and from the next try on also for events that wait.
    pub fn set_address(&self, address: Option<Url>) {
        if self.follows_instance {
            self.address.send_if_modified(|known| {
                let is_news = *known != address;
                *known = address;
                is_news
            });
        }
    }

    /// Whether there is somebody to post to.
    pub(crate) fn has_address(&self) -> bool {
        self.address.borrow().is_some()
    }

    /// Hands a letter over. Where there is no room, it is dropped.
    pub(crate) fn send(&self, letter: Letter) {
        if self.queue.try_send(letter).is_err() && self.dropped.fetch_add(1, Ordering::Relaxed) == 0 {
            warn!(
                waiting = QUEUE,
                "too many events wait for notification-controller: more are not posted until it has them"
            );
        }
    }
}

/// The address of the notification-controller that an instance installs in this namespace; none when it installs
/// none, or names a domain that no host can be in.
#[must_use]
pub fn address_of(instance: &FluxInstance, namespace: &str) -> Option<Url> {
    let components = &instance.spec.components;
    let components = if components.is_empty() { &Component::DEFAULT[..] } else { components };
    if !components.contains(&Component::NotificationController) {
        return None;
    }
    let cluster = instance.spec.cluster.as_ref();
    let domain = cluster.map_or(DEFAULT_CLUSTER_DOMAIN, |cluster| &cluster.domain);
    let host = format!("{}.{namespace}.svc.{domain}.", Component::NotificationController.as_str());
    let url: Url = format!("http://{host}/").parse().ok()?;
    // A domain with a slash or an @ would make it another host.
    url.host_str().is_some_and(|parsed| parsed.eq_ignore_ascii_case(&host)).then_some(url)
}
