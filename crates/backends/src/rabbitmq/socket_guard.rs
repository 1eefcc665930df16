//! Shuts the TCP socket down on drop. The client reads its socket in a thread of its own, which would otherwise
//! outlive a silent broker, also after an abandoned handshake; shutting the socket down ends that thread.

use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

#[derive(Default)]
pub(crate) struct SocketGuard(Mutex<SocketState>);

#[derive(Default)]
enum SocketState {
    #[default]
    Unset,
    Open(TcpStream),
    Shut,
}

impl SocketGuard {
    /// Registers the socket. After `shut_down` the socket is shut down at once.
    pub(crate) fn register(&self, socket: TcpStream) {
        let mut state = self.state();
        match *state {
            SocketState::Shut => shut_socket(&socket),
            _ => *state = SocketState::Open(socket),
        }
    }

    fn shut_down(&self) {
        if let SocketState::Open(socket) = std::mem::replace(&mut *self.state(), SocketState::Shut)
        {
            shut_socket(&socket);
        }
    }

    fn state(&self) -> MutexGuard<'_, SocketState> {
        self.0.lock().expect("no code panics while it holds this lock")
    }
}

fn shut_socket(socket: &TcpStream) {
    // Fails when the other side closed first, which has the same effect.
    let _ = socket.shutdown(Shutdown::Both);
}

pub(crate) struct ShutdownOnDrop(Arc<SocketGuard>);

impl ShutdownOnDrop {
    pub(crate) fn new(guard: Arc<SocketGuard>) -> Self {
        Self(guard)
    }
}

impl Drop for ShutdownOnDrop {
    fn drop(&mut self) {
        self.0.shut_down();
    }
}
