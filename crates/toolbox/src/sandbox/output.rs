//! Captures the output of a command: limited in size, and without terminal escape sequences.

use tokio::io::{AsyncRead, AsyncReadExt};

use super::OUTPUT_BYTES;

#[derive(Default)]
pub(crate) struct CapturedOutput {
    kept: Vec<u8>,
    dropped: u64,
}

impl CapturedOutput {
    /// Reads to the end. Output beyond the limit is read and discarded: the command would hang on a full pipe and fail
    /// on a closed one.
    pub(crate) async fn drain(&mut self, mut from: impl AsyncRead + Unpin) {
        let mut piece = [0u8; 8192];
        while let Ok(count @ 1..) = from.read(&mut piece).await {
            let kept = count.min(OUTPUT_BYTES - self.kept.len());
            self.kept.extend_from_slice(&piece[..kept]);
            self.dropped += (count - kept) as u64;
        }
    }

    pub(crate) fn into_text(self) -> String {
        let mut text = plain(&String::from_utf8_lossy(&self.kept));
        if self.dropped > 0 {
            text.push_str(&format!("\n… [{} bytes cut]", self.dropped));
        }
        text
    }
}

/// Removes terminal escape sequences and control characters. In a terminal or a log they could move the cursor, change
/// titles or hide output.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\n' | '\t' => out.push(c),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => out.push('\n'),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        // Control sequence: ends at its final byte.
        Some('[') => while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
        // Strings to the terminal (titles, links, clipboards): end with BEL or ESC \.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(c) = chars.next() {
                if c == '\u{7}' || c == '\n' || (c == '\u{1b}' && chars.next_if_eq(&'\\').is_some())
                {
                    break;
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_removed_and_the_text_stays() {
        for (raw, want) in [
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("a\u{1b}]0;title\u{7}b", "ab"),
            ("a\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\b", "alinkb"),
            ("10%\r20%\r\ndone\n", "10%\n20%\ndone\n"),
            ("bell\u{7} back\u{8} nul\0 c1\u{9b}31m", "bell back nul c131m"),
            ("cut\u{1b}", "cut"),
            ("tab\tä→", "tab\tä→"),
            ("a\u{1b}]0;never ended\nnext", "anext"),
        ] {
            assert_eq!(plain(raw), want, "{raw:?}");
        }
    }

    #[tokio::test]
    async fn output_beyond_the_limit_is_counted_but_not_kept() {
        let mut captured = CapturedOutput::default();
        captured.drain(&vec![b'x'; OUTPUT_BYTES + 5][..]).await;
        assert_eq!(captured.kept.len(), OUTPUT_BYTES);
        assert!(captured.into_text().ends_with("x\n… [5 bytes cut]"));
    }
}
