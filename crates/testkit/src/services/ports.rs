//! Ports that stay free until a server starts, and while it restarts.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use anyhow::{Result, bail};
use uuid::Uuid;

/// Below the kernel's ephemeral port range, so that no client socket takes a port while its server starts or is
/// stopped.
const FIRST: u16 = 12_000;
const COUNT: u16 = 18_000;
const ATTEMPTS: usize = 100;

pub(crate) fn free_port() -> Result<u16> {
    for _ in 0..ATTEMPTS {
        let port = FIRST + (Uuid::new_v4().as_u128() % u128::from(COUNT)) as u16;
        if TcpListener::bind(loopback(port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("no free port was found on the loopback address")
}

pub(crate) fn loopback(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}
