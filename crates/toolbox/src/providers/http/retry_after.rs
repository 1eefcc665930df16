//! Parses the `retry-after` header: seconds or a date.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// Upper limit; longer waits make no sense for a step.
const LONGEST: Duration = Duration::from_secs(3600);

pub(crate) fn of(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(LONGEST),
        Err(_) => {
            // Compared with the provider's own date, so that the two clocks need not agree.
            let now = date(headers.get(DATE)?.to_str().ok()?)?;
            // A date that has passed means now.
            Duration::try_from(date(text)?.duration_since(now)).unwrap_or_default()
        }
    };
    Some(wait.min(LONGEST))
}

fn date(text: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_parsed_and_other_text_is_ignored() {
        let table = [
            ("7", Some(7.0)),
            ("0.5", Some(0.5)),
            ("-3", Some(0.0)),
            ("99999999", Some(3600.0)),
            ("1e300", Some(3600.0)),
            ("NaN", Some(0.0)),
            ("Fri, 02 Jan 2026 03:04:35 GMT", Some(30.0)),
            ("Thu, 01 Jan 2026 00:00:00 GMT", Some(0.0)),
            ("soon", None),
        ];
        for (value, expected) in table {
            let mut headers = HeaderMap::new();
            headers.insert(DATE, "Fri, 02 Jan 2026 03:04:05 GMT".parse().expect("valid"));
            headers.insert(RETRY_AFTER, value.parse().expect("valid"));
            assert_eq!(of(&headers), expected.map(Duration::from_secs_f64), "{value}");
        }
        assert_eq!(of(&HeaderMap::new()), None);
    }
}
