use std::net::IpAddr;

use reqwest::Url;
use thiserror::Error;

/// Why a redirect is not followed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum RedirectError {
    #[error("it names no other address")]
    NoLocation,
    #[error("the other address is none of HTTP")]
    Invalid,
    #[error("the other address is without TLS")]
    Downgrade,
    #[error("the other address is one of this machine or its network link alone")]
    Local,
}

/// Where a redirect leads to.
///
/// # Errors
/// When it leads nowhere, from HTTPS to HTTP, or from elsewhere to this machine or its link, where clouds keep
/// credentials.
pub fn redirected(from: &Url, location: Option<&str>) -> Result<Url, RedirectError> {
    let location = location.ok_or(RedirectError::NoLocation)?;
    let to = from.join(location).map_err(|_| RedirectError::Invalid)?;
    if !matches!(to.scheme(), "http" | "https") || to.host_str().is_none() {
        return Err(RedirectError::Invalid);
    }
    if from.scheme() == "https" && to.scheme() == "http" {
        return Err(RedirectError::Downgrade);
    }
    if is_local(&to) && !is_local(from) {
        return Err(RedirectError::Local);
    }
    Ok(to)
}

/// Whether two addresses are of the same server: what was told to one may be told to the other.
#[must_use]
pub fn is_same_server(one: &Url, other: &Url) -> bool {
    let server =
        |url: &Url| (url.scheme().to_owned(), url.host_str().map(str::to_owned), url.port_or_known_default());
    server(one) == server(other)
}

fn is_local(url: &Url) -> bool {
    if url.host_str() == Some("localhost") {
        return true;
    }
    match address_of(url) {
        Some(IpAddr::V4(address)) => {
            address.is_loopback() || address.is_link_local() || address.is_unspecified()
        }
        Some(IpAddr::V6(address)) => {
            let mapped = address.to_ipv4_mapped();
            address.is_loopback()
                || address.is_unicast_link_local()
                || address.is_unspecified()
                || mapped.is_some_and(|address| address.is_loopback() || address.is_link_local())
        }
        None => false,
    }
}

/// The address in a URL that has one instead of a name.
fn address_of(url: &Url) -> Option<IpAddr> {
    url.host_str()?.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

#[cfg(test)]
mod tests {
    use reqwest::Url;
    use rstest::rstest;

    use super::{RedirectError, is_same_server, redirected};

    #[rstest]
    #[case("https://a.io/v2/", "/other?x=y", Ok("https://a.io/other?x=y"))]
    #[case("https://a.io/v2/", "https://b.io/x", Ok("https://b.io/x"))]
    #[case("http://a.io/v2/", "http://10.0.0.1/x", Ok("http://10.0.0.1/x"))]
    #[case("http://127.0.0.1:5000/", "http://127.0.0.1:6000/", Ok("http://127.0.0.1:6000/"))]
    #[case("https://a.io/", "http://a.io/", Err(RedirectError::Downgrade))]
    #[case("http://a.io/", "file:///etc/passwd", Err(RedirectError::Invalid))]
    #[case("http://a.io/", "http://", Err(RedirectError::Invalid))]
    #[case("http://a.io/", "http://169.254.169.254/latest", Err(RedirectError::Local))]
    #[case("http://a.io/", "http://2852039166/", Err(RedirectError::Local))]
    #[case("http://a.io/", "http://[::ffff:169.254.169.254]/", Err(RedirectError::Local))]
    #[case("https://a.io/", "https://localhost:8443/", Err(RedirectError::Local))]
    #[case("https://a.io/", "https://[::1]/", Err(RedirectError::Local))]
    #[case("https://a.io/", "https://[fe80::1]/", Err(RedirectError::Local))]
    fn a_redirect_leads_to_other_servers_but_not_to_the_own_machine(
        #[case] from: &str,
        #[case] location: &str,
        #[case] expected: Result<&str, RedirectError>,
    ) {
        let from = Url::parse(from).unwrap();
        let to = redirected(&from, Some(location)).map(String::from);
        assert_eq!(to, expected.map(str::to_owned));
        assert_eq!(redirected(&from, None), Err(RedirectError::NoLocation));
    }

    #[rstest]
    #[case("https://a.io/x", "https://a.io:443/y", true)]
    #[case("https://a.io/x", "https://a.io:8443/y", false)]
    #[case("http://a.io/x", "https://a.io/y", false)]
    #[case("https://a.io/x", "https://b.a.io/y", false)]
    fn servers_are_the_same_by_scheme_host_and_port(
        #[case] one: &str,
        #[case] other: &str,
        #[case] expected: bool,
    ) {
        let url = |text| Url::parse(text).unwrap();
        assert_eq!(is_same_server(&url(one), &url(other)), expected);
    }
}
