use std::time::Duration;

use bytes::Bytes;
use reqwest::{Response, header::RETRY_AFTER};

use crate::{
    error::{HttpError, Request},
    retry_after,
};

/// What a server answered. The body comes when it is read.
#[derive(Debug)]
pub struct Answer {
    pub(crate) request: Request,
    pub(crate) within: Duration,
    pub(crate) response: Response,
}

impl Answer {
    /// The status, 2xx or not.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// What was asked of whom.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// A header, the first where there are many; none where it is no text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// Every value of a header that is a text, in order.
    pub fn headers(&self, name: &str) -> impl Iterator<Item = &str> {
        self.response.headers().get_all(name).iter().filter_map(|value| value.to_str().ok())
    }

    /// How long the server wants to be left alone, from now.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        let value = self.response.headers().get(RETRY_AFTER)?.to_str().ok()?;
        retry_after::parse(value, std::time::SystemTime::now())
    }

    /// The next piece of the body; none at its end.
    ///
    /// # Errors
    /// When the connection breaks, also before as many bytes came as were announced, or time is over.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        match self.response.chunk().await {
            Ok(chunk) => Ok(chunk),
            Err(problem) => Err(HttpError::sending(self.request.clone(), self.within, problem)),
        }
    }

    /// The whole body.
    ///
    /// # Errors
    /// As for a piece; besides when it has more than `limit` bytes.
    pub async fn body(mut self, limit: usize) -> Result<Vec<u8>, HttpError> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            if chunk.len() > limit.saturating_sub(body.len()) {
                return Err(HttpError::TooLarge { request: self.request, limit });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// The error that an answer is which is not wanted.
    #[must_use]
    pub fn refused(&self) -> HttpError {
        HttpError::Refused { request: self.request.clone(), status: self.status() }
    }
}
