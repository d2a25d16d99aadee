//! Text that others wrote, made fit for a log line or a label: bounded, and without what logs a person in.

use std::fmt;

/// Text of at most so many bytes; what is written beyond is dropped, and that it was is remembered.
#[derive(Clone, Debug)]
pub(crate) struct CutText {
    text: String,
    cut: bool,
    limit: usize,
}

impl CutText {
    /// Empty text that takes `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self { text: String::new(), cut: false, limit }
    }

    /// What a value prints. Values that print more than the limit are not asked for the rest.
    pub(crate) fn of(value: &dyn fmt::Display, limit: usize) -> Self {
        let mut text = Self::new(limit);
        // The one error is that the text is full.
        let _ = fmt::write(&mut text, format_args!("{value}"));
        text
    }

    /// Whether something was dropped.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut
    }

    /// The text as it was written, up to the limit.
    pub(crate) fn as_written(&self) -> &str {
        &self.text
    }

    /// The text without the user names and passwords of its URLs.
    pub(crate) fn without_userinfo(&self) -> String {
        // Where the cut is in the authority of a URL, its `@` may be in the part that was dropped.
        match self.text.rsplit_once(SCHEME_END) {
            Some((before, after)) if self.cut && !after.contains(ends_authority) => {
                without_userinfo(before) + SCHEME_END
            }
            _ => without_userinfo(&self.text),
        }
    }
}

impl fmt::Write for CutText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.cut {
            return Err(fmt::Error);
        }
        let room = self.limit.saturating_sub(self.text.len());
        let fits = text.floor_char_boundary(room);
        let (head, rest) = text.split_at(fits);
        self.text.push_str(head);
        self.cut = !rest.is_empty();
        if self.cut { Err(fmt::Error) } else { Ok(()) }
    }
}

/// What separates the scheme of a URL from its authority.
const SCHEME_END: &str = "://";

/// Text without the user names and passwords of its URLs: `https://bob:pass@host/x` is `https://host/x`.
pub(crate) fn without_userinfo(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(SCHEME_END) {
        clean.push_str(before);
        clean.push_str(SCHEME_END);
        let (authority, tail) = after.split_at(after.find(ends_authority).unwrap_or(after.len()));
        if authority.ends_with(':') && tail.starts_with("//") {
            // Not an authority but the scheme of another URL.
            rest = after;
        } else {
            clean.push_str(host_of(authority));
            rest = tail;
        }
    }
    clean.push_str(rest);
    clean
}

/// As [`without_userinfo`], for text that starts with a host when it has no scheme.
pub(crate) fn registry_without_userinfo(registry: &str) -> String {
    if registry.contains(SCHEME_END) {
        return without_userinfo(registry);
    }
    let (authority, tail) = registry.split_at(registry.find(ends_authority).unwrap_or(registry.len()));
    format!("{}{tail}", host_of(authority))
}

/// Quotes do not end an authority: passwords hold them more often than an `@` follows a quoted URL.
fn ends_authority(character: char) -> bool {
    matches!(character, '/' | '?' | '#') || character.is_whitespace()
}

/// The authority from behind its last `@`: a password may hold others.
fn host_of(authority: &str) -> &str {
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::{CutText, registry_without_userinfo, without_userinfo};

    #[test]
    fn what_logs_a_person_in_is_cut_from_every_url() {
        for (text, clean) in [
            ("", ""),
            ("no URL, bob@example.com", "no URL, bob@example.com"),
            ("https://host/a", "https://host/a"),
            ("https://bob@host", "https://host"),
            ("https://bob:pass@host:443/a?b#c", "https://host:443/a?b#c"),
            ("https://bob:p@ss@host/a", "https://host/a"),
            ("https://bob:p\"a'ss@host/a", "https://host/a"),
            ("https://host/a@b", "https://host/a@b"),
            ("https://host?a@b", "https://host?a@b"),
            ("oci://a:b@x/y failed after http://c:d@z", "oci://x/y failed after http://z"),
            ("https://host, then bob@host", "https://host, then bob@host"),
            ("http://https://bob:pass@host", "http://https://host"),
            ("://bob:pass@host", "://host"),
            ("://", "://"),
            ("ü://ü:ß@ö/ä", "ü://ö/ä"),
        ] {
            assert_eq!(without_userinfo(text), clean, "{text}");
        }
    }

    #[test]
    fn a_registry_starts_with_its_host() {
        for (registry, clean) in [
            ("ghcr.io/fluxcd", "ghcr.io/fluxcd"),
            ("bob:pass@ghcr.io/fluxcd", "ghcr.io/fluxcd"),
            ("bob:pass@ghcr.io", "ghcr.io"),
            ("ghcr.io/fluxcd/image@sha256:1", "ghcr.io/fluxcd/image@sha256:1"),
            ("oci://bob:pass@ghcr.io/fluxcd", "oci://ghcr.io/fluxcd"),
        ] {
            assert_eq!(registry_without_userinfo(registry), clean, "{registry}");
        }
    }

    #[test]
    fn text_is_cut_between_characters() {
        let mut text = CutText::new(4);
        assert!(text.write_str("aü").is_ok());
        assert!(text.write_str("ü").is_err());
        assert!(text.write_str("b").is_err(), "nothing follows a gap");
        assert_eq!((text.as_written(), text.is_cut()), ("aü", true));
    }

    #[test]
    fn text_that_just_fits_is_whole() {
        let text = CutText::of(&"abcd", 4);
        assert_eq!((text.as_written(), text.is_cut()), ("abcd", false));
    }

    #[test]
    fn a_password_is_not_shown_where_its_url_is_cut() {
        let url = "see https://bob:password@host/";
        for limit in 0..=url.len() {
            let text = CutText::of(&url, limit).without_userinfo();
            assert!(!text.contains("bob"), "{limit}: {text}");
        }
    }
}
