use reqwest::Url;

/// A URL as it may be shown: without user, password, query and fragment.
#[must_use]
pub fn address(url: &Url) -> String {
    let mut shown = url.clone();
    shown.set_query(None);
    shown.set_fragment(None);
    // URLs without a host have no user either, which is all that these can fail for.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.into()
}

/// A text without the users and passwords of the URLs in it: `https://user:password@host/path` becomes
/// `https://host/path`.
#[must_use]
pub fn without_userinfo(text: &str) -> String {
    let mut parts = text.split("://");
    let mut clean = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        clean.push_str("://");
        let end = part.find(is_after_authority).unwrap_or(part.len());
        let (authority, rest) = part.split_at_checked(end).unwrap_or((part, ""));
        clean.push_str(authority.rsplit_once('@').map_or(authority, |(_, host)| host));
        clean.push_str(rest);
    }
    clean
}

/// What cannot be part of user, password, host and port.
fn is_after_authority(character: char) -> bool {
    matches!(character, '/' | '\\' | '?' | '#' | '"' | '\'' | '<' | '>' | '`') || character.is_whitespace()
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::any, prop_assert, prop_assert_eq, proptest};
    use reqwest::Url;
    use rstest::rstest;

    use super::{address, without_userinfo};

    #[rstest]
    #[case("https://example.com", "https://example.com/")]
    #[case("https://user@example.com/a", "https://example.com/a")]
    #[case("https://user:pass@example.com:8443/a?token=x#y", "https://example.com:8443/a")]
    #[case("http://[::1]:80/", "http://[::1]/")]
    #[case("mailto:someone@example.com", "mailto:someone@example.com")]
    fn only_host_and_path_are_shown(#[case] url: &str, #[case] expected: &str) {
        assert_eq!(address(&Url::parse(url).unwrap()), expected);
    }

    #[rstest]
    #[case("", "")]
    #[case("no address", "no address")]
    #[case("clone https://user:pass@host/repo failed", "clone https://host/repo failed")]
    #[case("https://token@host", "https://host")]
    #[case("https://user:p@ss@host/a", "https://host/a")]
    #[case("a ssh://git@host and http://u:p@[::1]:80?q", "a ssh://host and http://[::1]:80?q")]
    #[case("oci://host/repo@sha256:0a1b", "oci://host/repo@sha256:0a1b")]
    #[case("https://host by someone@example.com", "https://host by someone@example.com")]
    #[case("'https://user:pass@host'", "'https://host'")]
    #[case("https://user:pass@", "https://")]
    #[case("https://https://user:pass@host", "https://https://host")]
    fn users_and_passwords_are_cut_out_of_texts(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(without_userinfo(text), expected);
    }

    proptest! {
        #[test]
        fn cutting_twice_is_cutting_once(text in any::<String>(), user in "[a-z:@]{0,9}") {
            let clean = without_userinfo(&format!("{text}://{user}@{text}"));
            prop_assert_eq!(&without_userinfo(&clean), &clean);
            let secret = format!("://{user}@");
            prop_assert!(!clean.contains(&secret));
        }
    }
}
