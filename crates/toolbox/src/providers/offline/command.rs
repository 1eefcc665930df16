//! The commands of the offline pilot, one per line.

use std::time::Duration;

use ports::model::ModelErrorKind;

const MAX_COUNT: u64 = 1_000_000;
const MAX_SIZE: u64 = 10_000;
const MAX_DELAY_MS: u64 = 60_000;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PilotCommand {
    Help,
    Stream(StreamCommand),
    Think(String),
    /// Reply to a message of one of the page's cards that needs no tool.
    Say(&'static str),
    Tool {
        name: String,
        /// As written, valid or not.
        arguments: String,
    },
    Fail(ModelErrorKind),
    /// An invalid command, with a message for the user.
    Mistake(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamCommand {
    pub(crate) count: usize,
    /// Characters of each chunk.
    pub(crate) size: usize,
    pub(crate) delay: Duration,
}

/// The commands in a message; other lines are ignored.
pub(crate) fn parse(message: &str) -> Vec<PilotCommand> {
    message.lines().filter_map(|line| line.trim().strip_prefix('/')).map(command).collect()
}

fn command(line: &str) -> PilotCommand {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match word {
        "help" => PilotCommand::Help,
        "stream" => deltas(rest).map_or_else(PilotCommand::Mistake, PilotCommand::Stream),
        "think" => PilotCommand::Think(rest.to_owned()),
        "tool" => {
            let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            if name.is_empty() {
                return PilotCommand::Mistake("`/tool` needs a tool name.".into());
            }
            let arguments = if arguments.trim().is_empty() { "{}" } else { arguments.trim() };
            PilotCommand::Tool { name: name.into(), arguments: arguments.into() }
        }
        "fail" => failure(rest).map_or_else(PilotCommand::Mistake, PilotCommand::Fail),
        other => PilotCommand::Mistake(format!("Unknown command `/{other}`.")),
    }
}

fn deltas(rest: &str) -> Result<StreamCommand, String> {
    let (mut count, mut size, mut delay_ms) = (200, 20, 0);
    for pair in rest.split_whitespace() {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (target, least, most) = match name {
            "count" => (&mut count, 1, MAX_COUNT),
            "size" => (&mut size, 1, MAX_SIZE),
            "delay_ms" => (&mut delay_ms, 0, MAX_DELAY_MS),
            other => {
                return Err(format!("`/stream` takes count, size and delay_ms, not `{other}`."));
            }
        };
        *target =
            value.parse().ok().filter(|value| (least..=most).contains(value)).ok_or_else(|| {
                format!("`{name}` of `/stream` must be a number from {least} to {most}.")
            })?;
    }
    Ok(StreamCommand {
        count: count as usize,
        size: size as usize,
        delay: Duration::from_millis(delay_ms),
    })
}

fn failure(code: &str) -> Result<ModelErrorKind, String> {
    use ModelErrorKind::*;
    Ok(match code {
        "unreachable" => Unreachable,
        "timed_out" => TimedOut,
        "rate_limited" => RateLimited { after: None },
        "overloaded" => Overloaded { after: None },
        "too_long" => TooLong,
        "refused" => Refused,
        "auth" => Auth,
        "broken" => Broken,
        _ => {
            return Err(
                "`/fail` takes unreachable, timed_out, rate_limited, overloaded, too_long, \
                refused, auth or broken."
                    .into(),
            );
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(count: usize, size: usize, delay_ms: u64) -> PilotCommand {
        PilotCommand::Stream(StreamCommand { count, size, delay: Duration::from_millis(delay_ms) })
    }

    fn tool(name: &str, arguments: &str) -> PilotCommand {
        PilotCommand::Tool { name: name.into(), arguments: arguments.into() }
    }

    #[test]
    fn commands_are_whole_lines() {
        let table: [(&str, &[PilotCommand]); 7] = [
            ("hello / there", &[]),
            ("/stream", &[stream(200, 20, 0)]),
            ("/stream count=5 size=3 delay_ms=10", &[stream(5, 3, 10)]),
            (
                "please\n  /tool a {\"x\": 1}\n/tool b\n",
                &[tool("a", "{\"x\": 1}"), tool("b", "{}")],
            ),
            ("/tool a {not json", &[tool("a", "{not json")]),
            (
                "/think hard now\n/help",
                &[PilotCommand::Think("hard now".into()), PilotCommand::Help],
            ),
            ("/fail overloaded", &[PilotCommand::Fail(ModelErrorKind::Overloaded { after: None })]),
        ];
        for (message, expected) in table {
            assert_eq!(parse(message), expected, "{message}");
        }
    }

    #[test]
    fn an_invalid_command_is_reported() {
        for message in [
            "/stream count=0",
            "/stream count=1000001",
            "/stream size=10001",
            "/stream delay_ms=60001",
            "/stream speed=3",
            "/stream count=many",
            "/tool",
            "/fail somehow",
            "/dance",
        ] {
            assert!(matches!(&parse(message)[..], [PilotCommand::Mistake(_)]), "{message}");
        }
    }
}
