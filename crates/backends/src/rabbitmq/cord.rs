//! Ends a connection for certain. The client reads its socket in a thread of its own, which a broker that has gone silent
//! would keep for ever, also after a handshake that was given up; shutting the socket down ends that thread.

use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

#[derive(Default)]
pub(super) struct Cord(Mutex<State>);

#[derive(Default)]
enum State {
    #[default]
    Loose,
    Tied(TcpStream),
    Cut,
}

impl Cord {
    /// A socket that comes after the cut is shut down at once.
    pub(super) fn tie(&self, socket: TcpStream) {
        let mut state = self.state();
        match *state {
            State::Cut => shut(&socket),
            _ => *state = State::Tied(socket),
        }
    }

    fn cut(&self) {
        if let State::Tied(socket) = std::mem::replace(&mut *self.state(), State::Cut) {
            shut(&socket);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no code panics while it holds this lock")
    }
}

fn shut(socket: &TcpStream) {
    // It fails when the other side was first, which is as good.
    let _ = socket.shutdown(Shutdown::Both);
}

pub(super) struct CutOnDrop(Arc<Cord>);

impl CutOnDrop {
    pub(super) fn new(cord: Arc<Cord>) -> Self {
        Self(cord)
    }
}

impl Drop for CutOnDrop {
    fn drop(&mut self) {
        self.0.cut();
    }
}
