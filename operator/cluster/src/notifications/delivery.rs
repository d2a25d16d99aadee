//! The task that posts.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use operator_net::{HttpClient, HttpError, Limits, Move, Url};
use tokio::{
    sync::{mpsc, watch},
    time::sleep,
};
use tracing::{debug, warn};

use crate::explain;

/// What one try may take. The controller answers when it has told everybody, for which it takes up to 15 s; who
/// is asked again meanwhile calls it a duplicate. Its answers have no body.
const LIMITS: Limits =
    Limits { connect: Duration::from_secs(5), request: Duration::from_secs(5), answer_bytes: 64 * 1024 };

/// How long to wait before each further try: a pod that is replaced is back within the sum.
const DELAYS: [Duration; 4] =
    [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4), Duration::from_secs(8)];

/// The answer to an event that was told a short time ago.
const DUPLICATE: u16 = 429;

/// An event that is ready to be posted.
#[derive(Debug)]
pub(crate) struct Letter {
    /// The reason of the event, for logs.
    pub(crate) reason: String,
    pub(crate) body: Vec<u8>,
}

/// How long tries and the waits between them are.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    pub(super) limits: Limits,
    pub(super) delays: [Duration; 4],
}

impl Default for Pace {
    fn default() -> Self {
        Self { limits: LIMITS, delays: DELAYS }
    }
}

pub(super) struct Delivery {
    pub(super) client: HttpClient,
    pub(super) addresses: watch::Receiver<Option<Url>>,
    pub(super) letters: mpsc::Receiver<Letter>,
    pub(super) dropped: Arc<AtomicU64>,
    pub(super) delays: [Duration; 4],
}

impl Delivery {
    /// Posts what is handed over until nobody can hand over any more.
    pub(super) async fn run(mut self) {
        while let Some(letter) = self.letters.recv().await {
            if self.letters.is_empty() {
                self.note_room();
            }
            self.deliver(&letter).await;
        }
    }

    /// Ends a burst of events that found no room.
    fn note_room(&self) {
        let dropped = self.dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            debug!(dropped, "events are posted to notification-controller again");
        }
    }

    async fn deliver(&self, letter: &Letter) {
        let reason = &letter.reason;
        let mut delays = self.delays.iter();
        while let Err(problem) = self.post(letter).await {
            let delay = match problem.next_move() {
                Move::Nobody => delays.next(),
                Move::User | Move::Operator => None,
            };
            let Some(delay) = delay else {
                warn!(reason, error = explain(&problem), "an event did not reach notification-controller");
                return;
            };
            debug!(reason, error = explain(&problem), "an event is posted again");
            sleep(*delay).await;
        }
    }

    /// One try. Nobody to post to any more, and somebody who knows the event already, are as good as success.
    async fn post(&self, letter: &Letter) -> Result<(), HttpError> {
        let Some(address) = self.addresses.borrow().clone() else { return Ok(()) };
        match self.client.post(&address, "application/json", letter.body.clone()).await {
            Err(problem) if problem.status() == Some(DUPLICATE) => Ok(()),
            answer => answer.map(|_| ()),
        }
    }
}
