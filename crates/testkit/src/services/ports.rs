//! Ports that stay free for a server that starts a little later, and for the same server when it starts again.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use anyhow::{Result, bail};
use uuid::Uuid;

/// Below the ports that the kernel gives to clients and to whoever asks for any port, so that nobody takes one of these
/// while its server is being started or is stopped for a while.
const FIRST: u16 = 12_000;
const COUNT: u16 = 18_000;
const ATTEMPTS: usize = 100;

pub(super) fn free_port() -> Result<u16> {
    for _ in 0..ATTEMPTS {
        let port = FIRST + (Uuid::new_v4().as_u128() % u128::from(COUNT)) as u16;
        if TcpListener::bind(loopback(port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("no free port was found on the loopback address")
}

pub(super) fn loopback(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}
