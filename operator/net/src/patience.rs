use std::time::{Duration, Instant};

use crate::{answer::Answer, ask::Ask, client::HttpClient, error::HttpError};

/// How often a request is sent at most.
const MAX_ATTEMPTS: u32 = 5;

/// The pause after the first attempt; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// When all of a task must be done, whatever the number of its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline(Instant);

impl Deadline {
    /// From now.
    #[must_use]
    pub fn after(time: Duration) -> Self {
        let now = Instant::now();
        // A time that no clock can show is the end of the process at the latest.
        Self(now.checked_add(time).unwrap_or(now))
    }

    /// The time that is left.
    #[must_use]
    pub fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Waits, if there is time left afterwards.
    ///
    /// Returns whether it did.
    pub async fn pause(self, time: Duration) -> bool {
        if time >= self.left() {
            return false;
        }
        tokio::time::sleep(time).await;
        true
    }
}

/// The pause after an attempt that failed, the first being 0; none after the last.
#[must_use]
pub(crate) fn pause(attempt: u32, wanted: Option<Duration>) -> Option<Duration> {
    let own = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(attempt));
    (attempt.saturating_add(1) < MAX_ATTEMPTS).then(|| own.max(wanted.unwrap_or_default()))
}

impl HttpClient {
    /// Sends what may be sent twice without harm, again where the trouble may pass: no connection, 408, 425, 429
    /// and 5xx but 501. Waits as long as the server says in `Retry-After`, but never past the deadline.
    ///
    /// # Errors
    /// As for [`HttpClient::send`], of the last attempt. An answer is none, whatever its status.
    pub async fn send_patiently(&self, ask: Ask, deadline: Deadline) -> Result<Answer, HttpError> {
        let mut attempt = 0;
        loop {
            let result = self.send(ask.clone().within(deadline.left())).await;
            let wait = match &result {
                Ok(answer) if may_pass(answer.status()) => pause(attempt, answer.retry_after()),
                Err(HttpError::Unreachable { .. } | HttpError::Broken { .. }) => pause(attempt, None),
                Ok(_) | Err(_) => None,
            };
            match wait {
                Some(wait) if deadline.pause(wait).await => attempt += 1,
                _ => return result,
            }
        }
    }
}

fn may_pass(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500 | 502..)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{may_pass, pause};

    #[test]
    fn pauses_grow_end_and_are_as_long_as_the_server_wants() {
        let own: Vec<_> = (0..6).map(|attempt| pause(attempt, None).map(|pause| pause.as_millis())).collect();
        assert_eq!(own, [Some(200), Some(400), Some(800), Some(1600), None, None]);
        assert_eq!(pause(0, Some(Duration::from_secs(30))), Some(Duration::from_secs(30)));
        assert_eq!(pause(1, Some(Duration::ZERO)), Some(Duration::from_millis(400)));
    }

    #[test]
    fn trouble_of_the_server_may_pass_and_refusals_do_not() {
        assert_eq!([408, 425, 429, 500, 502, 503, 504, 520].map(may_pass), [true; 8]);
        assert_eq!([200, 301, 400, 401, 403, 404, 405, 501].map(may_pass), [false; 8]);
    }
}
