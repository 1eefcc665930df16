//! Logs to standard error, one line per event, for people or programs.

use std::io::{self, Write};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::config::{LogFormat, Settings};

/// Longer lines are truncated.
const LINE_BYTES: usize = 16 * 1024;

/// Drivers whose logs would contain what they send, including messages of users. Relevant events are logged by us.
const DRIVER_FILTERS: [&str; 4] =
    ["tokio_postgres=warn", "redis=warn", "lapin=off", "amq_protocol=off"];

pub(crate) fn install(settings: &Settings) -> anyhow::Result<()> {
    let mut filter = EnvFilter::try_new(&settings.log_filter).map_err(|error| {
        anyhow::anyhow!(
            "Invalid RUST_LOG ({error}); use for example `info` or `pilothouse=debug,info`."
        )
    })?;
    for directive in DRIVER_FILTERS {
        filter = filter.add_directive(directive.parse()?);
    }
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(EscapingWriter);
    match settings.log_format {
        LogFormat::Human => log.with_ansi(false).with_target(false).init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
    Ok(())
}

/// Writes each event as one line that cannot imitate another event or control the terminal.
#[derive(Clone, Copy)]
struct EscapingWriter;

impl<'a> MakeWriter<'a> for EscapingWriter {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        *self
    }
}

impl Write for EscapingWriter {
    /// Called once per event, including its newline.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        io::stderr().lock().write_all(one_line(event).as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

fn one_line(event: &[u8]) -> String {
    let text = String::from_utf8_lossy(event);
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let mut line = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        if line.len() >= LINE_BYTES {
            line.push('…');
            break;
        }
        if c.is_control() || is_invisible(c) {
            line.extend(c.escape_unicode());
        } else {
            line.push(c);
        }
    }
    line.push('\n');
    line
}

/// Characters that change how others are displayed: direction marks, zero-width characters and tags.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}'
        | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_text_cannot_imitate_a_line_or_an_escape() {
        let line = one_line(b"user said \n2026-01-01 ERROR admin \x1b]0;pwn\x07 \xE2\x80\xAEx\n");
        assert_eq!(line.matches('\n').count(), 1);
        assert!(!line.contains(['\u{1b}', '\u{7}', '\u{202E}']));
        assert!(one_line(&vec![b'x'; 1 << 20]).len() < LINE_BYTES + 10);
    }
}
