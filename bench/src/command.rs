//! The command that tells a server how much to stream. The offline pilot implements it, and so do the other two servers of
//! the benchmark, so that all three get the same request.

use std::fmt;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) count: usize,
    pub(crate) size: usize,
    pub(crate) delay: Duration,
}

impl Command {
    /// As fast as the server can.
    pub(crate) const fn flat_out(count: usize) -> Self {
        Self { count, size: 20, delay: Duration::ZERO }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut numbers =
            text.strip_prefix("/stream ")?.split(' ').zip(["count=", "size=", "delay_ms="]);
        let mut number = || {
            let (word, name) = numbers.next()?;
            word.strip_prefix(name)?.parse::<u32>().ok()
        };
        let (count, size, delay) = (number()?, number()?, number()?);
        Some(Self {
            count: count as usize,
            size: size as usize,
            delay: Duration::from_millis(delay.into()),
        })
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, size, delay } = self;
        write!(f, "/stream count={count} size={size} delay_ms={}", delay.as_millis())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_survives_a_round_trip() {
        let command = Command { count: 2, size: 1, delay: Duration::from_secs(60) };
        assert_eq!(command.to_string(), "/stream count=2 size=1 delay_ms=60000");
        assert_eq!(Command::parse(&command.to_string()), Some(command));
        assert_eq!(Command::parse("/stream count=x"), None);
    }
}
