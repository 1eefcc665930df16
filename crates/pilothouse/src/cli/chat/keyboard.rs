//! Keyboard input: typed lines and Ctrl-C.

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

pub(crate) enum KeyboardInput {
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D, or the end of a pipe.
    End,
}

/// Input while a response is shown.
pub(crate) enum TypedDuringTurn {
    Line(String),
    Interrupt,
}

/// Whether lines are read while a response is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineReading {
    Read,
    /// They stay in the channel.
    Leave,
}

pub(crate) struct Keyboard {
    lines: mpsc::Receiver<String>,
    /// Whether the input has ended.
    ended: bool,
    /// Registered for the whole time, so that no Ctrl-C is lost between two waits.
    interrupts: Signal,
}

impl Keyboard {
    /// Reads on a separate thread, because a read of the terminal cannot be canceled. The thread ends with the process.
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let interrupts = signal(SignalKind::interrupt()).context("could not listen for Ctrl-C")?;
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

    pub(crate) async fn next(&mut self) -> KeyboardInput {
        if self.ended {
            return KeyboardInput::End;
        }
        tokio::select! {
            line = self.lines.recv() => line.map_or(KeyboardInput::End, KeyboardInput::Line),
            _ = self.interrupts.recv() => KeyboardInput::Interrupt,
        }
    }

    /// The same while a response is shown: the end of the input does not stop the response, so it is reported at the next
    /// prompt.
    pub(crate) async fn next_during_turn(&mut self, lines: LineReading) -> TypedDuringTurn {
        loop {
            tokio::select! {
                line = self.lines.recv(), if lines == LineReading::Read && !self.ended => match line {
                    Some(line) => return TypedDuringTurn::Line(line),
                    None => self.ended = true,
                },
                _ = self.interrupts.recv() => return TypedDuringTurn::Interrupt,
            }
        }
    }

    /// Returns at the next Ctrl-C, or at once if one is pending.
    pub(crate) async fn interrupted(&mut self) {
        self.interrupts.recv().await;
    }
}
