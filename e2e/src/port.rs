//! Ports on loopback that nobody else can take.

use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with, sockopt};

use crate::BedError;

/// A port on 127.0.0.1, ours for as long as this lives.
///
/// The socket is bound and never listens. It allows sharing, and so must the program that serves the port
/// (`--permit-port-sharing`): there is no moment in which another process could get the port, neither before
/// the program binds it nor between its end and a restart. A connection goes to the program alone.
#[derive(Debug)]
pub(crate) struct ReservedPort {
    number: u16,
    _socket: TcpListener,
}

impl ReservedPort {
    /// Reserves a port that is free now.
    pub(crate) fn new() -> Result<Self, BedError> {
        let reserve = || {
            let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
            sockopt::set_socket_reuseport(&socket, true)?;
            bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
            let socket = TcpListener::from(socket);
            Ok(Self { number: socket.local_addr()?.port(), _socket: socket })
        };
        reserve().map_err(BedError::Port)
    }

    /// The port.
    pub(crate) fn number(&self) -> u16 {
        self.number
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn a_reserved_port_is_refused_to_others_and_answers_nobody() {
        let port = ReservedPort::new().unwrap();
        let address = (Ipv4Addr::LOCALHOST, port.number());
        assert!(TcpListener::bind(address).is_err(), "another program got the port");
        assert!(TcpStream::connect(address).is_err(), "the reservation took a connection");
        drop(port);
        TcpListener::bind(address).unwrap();
    }
}
