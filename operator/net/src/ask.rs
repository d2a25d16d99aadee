use std::time::Duration;

use reqwest::{
    Method, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};

use crate::error::{HttpError, Request};

/// What is asked of a server. Clones can be sent again.
#[derive(Clone)]
pub struct Ask {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    pub(crate) within: Option<Duration>,
}

impl std::fmt::Debug for Ask {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Ask({})", self.request())
    }
}

impl Ask {
    /// Asks for what is at an address.
    #[must_use]
    pub fn get(url: Url) -> Self {
        Self { method: Method::GET, url, headers: HeaderMap::new(), body: Vec::new(), within: None }
    }

    /// Asks whether something is at an address, and what it is.
    #[must_use]
    pub fn head(url: Url) -> Self {
        Self { method: Method::HEAD, ..Self::get(url) }
    }

    /// Sends a body.
    ///
    /// # Errors
    /// When the content type cannot be a header.
    pub fn post(url: Url, content_type: &str, body: Vec<u8>) -> Result<Self, HttpError> {
        Self { method: Method::POST, body, ..Self::get(url) }.header("content-type", content_type)
    }

    /// Sends the fields of a form. What is in them is never shown.
    ///
    /// # Errors
    /// None today.
    pub fn post_form(url: Url, fields: &[(&str, &str)]) -> Result<Self, HttpError> {
        // The query of a URL has the syntax of a form.
        let mut form = url.clone();
        form.query_pairs_mut().clear().extend_pairs(fields);
        let body = form.query().unwrap_or_default().as_bytes().to_vec();
        Self::post(url, "application/x-www-form-urlencoded", body)
    }

    /// With a header, whose value may be shown.
    ///
    /// # Errors
    /// When the value has characters that no header can have.
    pub fn header(self, name: &'static str, value: &str) -> Result<Self, HttpError> {
        self.insert(name, value, false)
    }

    /// With credentials, which go to this server and are never shown.
    ///
    /// # Errors
    /// When they have characters that no header can have, such as the end of a line.
    pub fn authorization(self, value: &str) -> Result<Self, HttpError> {
        self.insert("authorization", value, true)
    }

    /// The same under another name; an empty value is left out.
    ///
    /// # Errors
    /// As for [`Ask::authorization`].
    pub fn secret_header(self, name: &'static str, value: &str) -> Result<Self, HttpError> {
        if value.is_empty() { Ok(self) } else { self.insert(name, value, true) }
    }

    /// All of it must be done within a time, where that is less than the limit of the client.
    #[must_use]
    pub fn within(self, time: Duration) -> Self {
        Self { within: Some(time), ..self }
    }

    pub(crate) fn request(&self) -> Request {
        Request::new(self.method.clone(), &self.url)
    }

    fn insert(mut self, name: &'static str, value: &str, is_secret: bool) -> Result<Self, HttpError> {
        let mut value =
            HeaderValue::from_str(value).map_err(|_| HttpError::Header { request: self.request(), name })?;
        value.set_sensitive(is_secret);
        self.headers.insert(HeaderName::from_static(name), value);
        Ok(self)
    }
}
