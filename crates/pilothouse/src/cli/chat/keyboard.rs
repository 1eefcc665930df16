//! What the person does: lines they type and Ctrl-C.

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

pub(super) enum Input {
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D, or the end of a pipe.
    End,
}

pub(super) struct Keyboard {
    lines: mpsc::Receiver<String>,
    /// Listens from the start to the end, so that no Ctrl-C falls between two waits.
    interrupts: Signal,
}

impl Keyboard {
    /// A thread of its own reads, because a read of the terminal cannot be cancelled. It ends with the process.
    pub(super) fn listen() -> anyhow::Result<Self> {
        let interrupts = signal(SignalKind::interrupt()).context("Ctrl-C cannot be listened to")?;
        let (sender, lines) = mpsc::channel(16);
        std::thread::spawn(move || {
            for line in std::io::stdin().lines() {
                let Ok(line) = line else { break };
                if sender.blocking_send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { lines, interrupts })
    }

    pub(super) async fn next(&mut self) -> Input {
        tokio::select! {
            line = self.lines.recv() => line.map_or(Input::End, Input::Line),
            _ = self.interrupts.recv() => Input::Interrupt,
        }
    }

    /// Returns at the next Ctrl-C, or at once when there was one that nobody has seen yet.
    pub(super) async fn interrupted(&mut self) {
        self.interrupts.recv().await;
    }
}
