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

/// What may come while an answer is shown.
pub(super) enum Typed {
    Line(String),
    Interrupt,
}

/// Which lines are read while something else is waited for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    Read,
    /// They stay where they are until somebody wants them.
    Leave,
}

pub(super) struct Keyboard {
    lines: mpsc::Receiver<String>,
    /// Whether the end of the input was reached.
    ended: bool,
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
        Ok(Self { lines, ended: false, interrupts })
    }

    pub(super) async fn next(&mut self) -> Input {
        if self.ended {
            return Input::End;
        }
        tokio::select! {
            line = self.lines.recv() => line.map_or(Input::End, Input::Line),
            _ = self.interrupts.recv() => Input::Interrupt,
        }
    }

    /// The same while an answer is shown: the end of the input is no reason to stop looking at it, so it is kept for
    /// the next prompt.
    pub(super) async fn meanwhile(&mut self, lines: Lines) -> Typed {
        loop {
            tokio::select! {
                line = self.lines.recv(), if lines == Lines::Read && !self.ended => match line {
                    Some(line) => return Typed::Line(line),
                    None => self.ended = true,
                },
                _ = self.interrupts.recv() => return Typed::Interrupt,
            }
        }
    }

    /// Returns at the next Ctrl-C, or at once when there was one that nobody has seen yet.
    pub(super) async fn interrupted(&mut self) {
        self.interrupts.recv().await;
    }
}
