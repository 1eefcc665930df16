//! Counts the connections of a process to a server from kernel data, without opening any.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result};

const ESTABLISHED: &str = "01";

/// Connections of this process to a port on the loopback address.
pub(crate) fn connections_to(pid: u32, port: u16) -> Result<usize> {
    let table =
        fs::read_to_string(format!("/proc/{pid}/net/tcp")).context("the process is gone")?;
    let to_port: BTreeSet<&str> =
        table.lines().skip(1).filter_map(|line| inode_if_to(line, port)).collect();
    let files = fs::read_dir(format!("/proc/{pid}/fd")).context("the process is gone")?;
    let held = files.flatten().filter(|file| {
        // A file may be closed between listing and reading.
        let target = fs::read_link(file.path()).unwrap_or_default();
        let inode =
            target.to_str().and_then(|name| name.strip_prefix("socket:[")?.strip_suffix(']'));
        inode.is_some_and(|inode| to_port.contains(inode))
    });
    Ok(held.count())
}

/// A line is "NUMBER: LOCAL:PORT REMOTE:PORT STATE … INODE …", with addresses in hexadecimal.
fn inode_if_to(line: &str, port: u16) -> Option<&str> {
    let mut fields = line.split_whitespace().skip(2);
    let (_, remote) = fields.next()?.split_once(':')?;
    let state = fields.next()?;
    let fits = state == ESTABLISHED && u16::from_str_radix(remote, 16) == Ok(port);
    fits.then(|| fields.nth(5)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn only_open_connections_to_the_port_are_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let count = || connections_to(std::process::id(), address.port()).expect("running");
        assert_eq!(count(), 0);
        let mut open: Vec<TcpStream> =
            (0..3).map(|_| TcpStream::connect(address).expect("it listens")).collect();
        assert_eq!(count(), 3);
        open.pop();
        assert_eq!(count(), 2);
    }
}
