use std::fmt;

use crate::reference::{Reference, is_docker_hub};

/// The longest key of a pull secret, in bytes.
const MAX_KEY_BYTES: usize = 1024;

/// A key of a pull secret: `host[:port][/repository]`, with a scheme and `/v1/` or `/v2/` in old files. Parts of the
/// host may have `*` and `?`.
#[derive(Clone, Eq, PartialEq, Ord, PartialOrd)]
pub(crate) struct HostPattern(String);

impl HostPattern {
    pub(crate) fn parse(key: &str) -> Option<Self> {
        let rest = ["https://", "http://"].iter().find_map(|scheme| key.strip_prefix(scheme));
        let (host, path) = split(rest.unwrap_or(key));
        if host.is_empty() || key.len() > MAX_KEY_BYTES || key.contains(char::is_whitespace) {
            return None;
        }
        let path = path.trim_end_matches('/');
        let path = ["/v1", "/v2"]
            .iter()
            .find_map(|version| {
                path.strip_prefix(version).filter(|rest| rest.is_empty() || rest.starts_with('/'))
            })
            .unwrap_or(path);
        Some(Self(format!("{}{path}", host.to_ascii_lowercase())))
    }

    /// Whether it is about the repository of a reference.
    pub(crate) fn fits(&self, reference: &Reference) -> bool {
        let (host, path) = split(&self.0);
        if !format!("/{}", reference.repository()).starts_with(path) {
            return false;
        }
        if is_docker_hub(host) && is_docker_hub(reference.host()) {
            return true;
        }
        let (names, port) = parts(host);
        let (wanted, wanted_port) = parts(reference.host());
        port == wanted_port
            && names.len() == wanted.len()
            && names.iter().zip(wanted).all(|(pattern, text)| is_match(pattern.as_bytes(), text.as_bytes()))
    }
}

impl fmt::Debug for HostPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The host, and the path with its `/`.
fn split(text: &str) -> (&str, &str) {
    text.find('/').and_then(|slash| text.split_at_checked(slash)).unwrap_or((text, ""))
}

fn parts(host: &str) -> (Vec<&str>, Option<&str>) {
    // In brackets there are colons that part no port.
    let after_address = host.rfind(']').unwrap_or(0);
    match host.rsplit_once(':') {
        Some((name, port)) if name.len() > after_address => (name.split('.').collect(), Some(port)),
        _ => (host.split('.').collect(), None),
    }
}

/// Whether a text is matched by a pattern with `*` for any text and `?` for one character.
fn is_match(pattern: &[u8], text: &[u8]) -> bool {
    let (mut rest_of_pattern, mut rest) = (pattern, text);
    // Where the last star was, and what of the text it has not taken yet.
    let mut star: Option<(&[u8], &[u8])> = None;
    loop {
        match (rest_of_pattern, rest) {
            ([], []) => return true,
            ([b'*', after @ ..], _) => {
                star = Some((after, rest));
                rest_of_pattern = after;
            }
            ([wanted, after @ ..], [found, rest_after @ ..]) if *wanted == b'?' || wanted == found => {
                (rest_of_pattern, rest) = (after, rest_after);
            }
            _ => match star {
                Some((after, [_, taken @ ..])) => {
                    star = Some((after, taken));
                    (rest_of_pattern, rest) = (after, taken);
                }
                _ => return false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::HostPattern;

    #[rstest]
    #[case("ghcr.io", "oci://ghcr.io/a", true)]
    #[case("https://ghcr.io", "oci://ghcr.io/a", true)]
    #[case("http://ghcr.io/", "oci://ghcr.io/a", true)]
    #[case("https://ghcr.io/v1/", "oci://ghcr.io/a", true)]
    #[case("https://ghcr.io/v2/", "oci://ghcr.io/a", true)]
    #[case("GHCR.io", "oci://ghcr.io/a", true)]
    #[case("ghcr.io/a", "oci://ghcr.io/a", true)]
    #[case("ghcr.io/a", "oci://ghcr.io/ab", true)]
    #[case("ghcr.io/a/b", "oci://ghcr.io/a", false)]
    #[case("ghcr.io:443", "oci://ghcr.io/a", false)]
    #[case("ghcr.io", "oci://ghcr.io:443/a", false)]
    #[case("localhost:5000", "oci://localhost:5000/a", true)]
    #[case("localhost:5001", "oci://localhost:5000/a", false)]
    #[case("[::1]:5000", "oci://[::1]:5000/a", true)]
    #[case("[::1]", "oci://[::1]:5000/a", false)]
    #[case("*.azurecr.io", "oci://mine.azurecr.io/a", true)]
    #[case("*.io", "oci://mine.azurecr.io/a", false)]
    #[case("*.*.io", "oci://mine.azurecr.io/a", true)]
    #[case("m*e.azurecr.io", "oci://mine.azurecr.io/a", true)]
    #[case("min?.azurecr.io", "oci://mine.azurecr.io/a", true)]
    #[case("min??.azurecr.io", "oci://mine.azurecr.io/a", false)]
    #[case("evil-ghcr.io", "oci://ghcr.io/a", false)]
    #[case("ghcr.io.evil", "oci://ghcr.io/a", false)]
    #[case("docker.io", "oci://docker.io/org/a", true)]
    #[case("https://index.docker.io/v1/", "oci://docker.io/org/a", true)]
    #[case("docker.io", "oci://index.docker.io/org/a", true)]
    #[case("registry-1.docker.io/other", "oci://docker.io/org/a", false)]
    fn keys_fit_as_kubelet_has_it(#[case] key: &str, #[case] reference: &str, #[case] expected: bool) {
        let pattern = HostPattern::parse(key).unwrap();
        assert_eq!(pattern.fits(&reference.parse().unwrap()), expected);
    }

    #[rstest]
    #[case("")]
    #[case("https://")]
    #[case("/a")]
    #[case("a b")]
    fn a_key_without_a_host_is_refused(#[case] key: &str) {
        assert!(HostPattern::parse(key).is_none());
    }
}
