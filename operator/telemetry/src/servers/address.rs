//! Where a server listens.

use std::{fmt, net::Ipv6Addr, str::FromStr};

use thiserror::Error;

/// What switches a server off.
const OFF: &str = "0";

/// Where a server listens: `:8080` on every address of the machine, `host:port` on those of a host, and `0`
/// nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    /// The server is off.
    Off,
    /// On every address of the machine.
    Everywhere {
        /// 0 is one that is free.
        port: u16,
    },
    /// On the addresses of a host.
    Host {
        /// A name, or an address; one of IPv6 without its brackets.
        host: String,
        /// 0 is one that is free.
        port: u16,
    },
}

/// Why a text is no [`ListenAddress`].
#[derive(Debug, Error, PartialEq, Eq)]
pub enum AddressError {
    /// There is no colon.
    #[error("the port is missing: write `:8080` or `127.0.0.1:8080`, or `0` to switch the server off")]
    NoPort,
    /// The port is no number.
    #[error("`{port}` is no port: write a number from 0 to 65535")]
    Port {
        /// What stands behind the colon.
        port: String,
    },
    /// The host is neither a name nor an address.
    #[error("`{host}` is no host: write a name or an address, one of IPv6 as `[::1]`, or nothing for all")]
    Host {
        /// What stands before the colon.
        host: String,
    },
}

impl FromStr for ListenAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        if text == OFF {
            return Ok(Self::Off);
        }
        let (host, port) = text.rsplit_once(':').ok_or(AddressError::NoPort)?;
        let port = parse_port(port).ok_or_else(|| AddressError::Port { port: port.to_owned() })?;
        if host.is_empty() {
            return Ok(Self::Everywhere { port });
        }
        let host = parse_host(host).ok_or_else(|| AddressError::Host { host: host.to_owned() })?;
        Ok(Self::Host { host: host.to_owned(), port })
    }
}

/// The standard library also takes a sign.
fn parse_port(port: &str) -> Option<u16> {
    port.bytes().all(|byte| byte.is_ascii_digit()).then(|| port.parse().ok())?
}

fn parse_host(host: &str) -> Option<&str> {
    if let Some(bracketed) = host.strip_prefix('[') {
        let address = bracketed.strip_suffix(']')?;
        return address.parse::<Ipv6Addr>().is_ok().then_some(address);
    }
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    host.bytes().all(fits).then_some(host)
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => formatter.write_str(OFF),
            Self::Everywhere { port } => write!(formatter, ":{port}"),
            Self::Host { host, port } if host.contains(':') => write!(formatter, "[{host}]:{port}"),
            Self::Host { host, port } => write!(formatter, "{host}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        AddressError::{self, NoPort},
        ListenAddress::{self, Everywhere, Off},
    };

    #[test]
    fn an_address_is_a_port_or_a_host_and_a_port_or_zero() {
        let host = |host: &str, port| ListenAddress::Host { host: host.to_owned(), port };
        for (text, address) in [
            ("0", Off),
            (":8080", Everywhere { port: 8080 }),
            (":0", Everywhere { port: 0 }),
            ("localhost:1", host("localhost", 1)),
            ("127.0.0.1:65535", host("127.0.0.1", 65535)),
            ("my-pod.my_ns.svc:80", host("my-pod.my_ns.svc", 80)),
            ("[::1]:80", host("::1", 80)),
        ] {
            assert_eq!(text.parse(), Ok(address.clone()), "{text}");
            assert_eq!(address.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_address_says_which_part_is_wrong() {
        let port = |port: &str| AddressError::Port { port: port.to_owned() };
        let host = |host: &str| AddressError::Host { host: host.to_owned() };
        for (text, error) in [
            ("", NoPort),
            ("8080", NoPort),
            ("00", NoPort),
            ("localhost", NoPort),
            (":", port("")),
            (":http", port("http")),
            (":+80", port("+80")),
            (":-1", port("-1")),
            (":65536", port("65536")),
            (":8080 ", port("8080 ")),
            ("::1:80", host("::1")),
            ("[::1:80", host("[::1")),
            ("[]:80", host("[]")),
            ("[localhost]:80", host("[localhost]")),
            ("a b:80", host("a b")),
            ("http://a:80", host("http://a")),
        ] {
            assert_eq!(text.parse::<ListenAddress>(), Err(error), "{text:?}");
        }
    }
}
