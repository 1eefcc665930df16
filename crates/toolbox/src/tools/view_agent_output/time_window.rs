//! Parses `run_time` ("today", "last week", an ISO date or time). Days are days in UTC.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

const DAY: SignedDuration = SignedDuration::from_hours(24);
const AROUND: SignedDuration = SignedDuration::from_hours(1);

/// At or after `from`, and before `until`. A missing bound means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimeWindow {
    pub(crate) from: Option<Timestamp>,
    pub(crate) until: Option<Timestamp>,
}

/// Text that cannot be parsed means any time: the newest run is a better answer than an error.
pub(crate) fn parse(words: &str, now: Timestamp) -> TimeWindow {
    let words = words.trim().to_lowercase();
    let today = TimeZone::UTC.to_datetime(now).date();
    match words.as_str() {
        "latest" | "" => TimeWindow::default(),
        "today" => day(today),
        "yesterday" => today.yesterday().map(day).unwrap_or_default(),
        "last week" | "last 7 days" => since(now, DAY * 7),
        "last month" | "last 30 days" => since(now, DAY * 30),
        words => date(words).map(day).or_else(|| moment(words).map(around)).unwrap_or_default(),
    }
}

fn since(now: Timestamp, ago: SignedDuration) -> TimeWindow {
    TimeWindow { from: now.checked_sub(ago).ok(), until: None }
}

fn day(date: Date) -> TimeWindow {
    let start = date.to_datetime(Default::default()).to_zoned(TimeZone::UTC);
    let from = start.ok().map(|start| start.timestamp());
    TimeWindow { from, until: from.and_then(|from| from.checked_add(DAY).ok()) }
}

fn around(moment: Timestamp) -> TimeWindow {
    TimeWindow { from: moment.checked_sub(AROUND).ok(), until: moment.checked_add(AROUND).ok() }
}

/// Accepts only a bare date: the date parser would silently drop a time of day.
fn date(words: &str) -> Option<Date> {
    (words.len() == "2026-01-31".len()).then(|| words.parse().ok()).flatten()
}

/// A time with an offset, or else in UTC.
fn moment(words: &str) -> Option<Timestamp> {
    let words = words.to_uppercase();
    let in_utc = || {
        let civil: DateTime = words.parse().ok()?;
        civil.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
    };
    words.parse().ok().or_else(in_utc)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expression_has_its_window() {
        let now: Timestamp = "2026-03-01T10:30:00Z".parse().expect("a time");
        let any = (None, None);
        for (words, (from, until)) in [
            ("latest", any),
            ("", any),
            ("  Latest ", any),
            ("today", (Some("2026-03-01T00:00:00Z"), Some("2026-03-02T00:00:00Z"))),
            ("Yesterday", (Some("2026-02-28T00:00:00Z"), Some("2026-03-01T00:00:00Z"))),
            ("last week", (Some("2026-02-22T10:30:00Z"), None)),
            ("LAST 7 DAYS", (Some("2026-02-22T10:30:00Z"), None)),
            ("last month", (Some("2026-01-30T10:30:00Z"), None)),
            ("last 30 days", (Some("2026-01-30T10:30:00Z"), None)),
            ("2024-02-29", (Some("2024-02-29T00:00:00Z"), Some("2024-03-01T00:00:00Z"))),
            ("2026-02-28T23:30:00Z", (Some("2026-02-28T22:30:00Z"), Some("2026-03-01T00:30:00Z"))),
            ("2026-02-28T23:30", (Some("2026-02-28T22:30:00Z"), Some("2026-03-01T00:30:00Z"))),
            ("2026-02-28 23:30:00", (Some("2026-02-28T22:30:00Z"), Some("2026-03-01T00:30:00Z"))),
            (
                "2026-02-28T23:30:00.5+02:00",
                (Some("2026-02-28T20:30:00.5Z"), Some("2026-02-28T22:30:00.5Z")),
            ),
            ("2026-02-30", any),
            ("2026-13-01T00:00:00Z", any),
            ("next tuesday", any),
        ] {
            let at = |text: Option<&str>| text.map(|text| text.parse().expect("a time"));
            let expected = TimeWindow { from: at(from), until: at(until) };
            assert_eq!(parse(words, now), expected, "{words}");
        }
    }

    #[test]
    fn a_day_starts_at_midnight_utc() {
        for (now, from) in [
            ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
            ("2026-01-01T23:59:59.999Z", "2026-01-01T00:00:00Z"),
            ("2026-01-02T01:00:00+02:00", "2026-01-01T00:00:00Z"),
        ] {
            let window = parse("today", now.parse().expect("a time"));
            assert_eq!(window.from, Some(from.parse().expect("a time")), "{now}");
        }
    }

    #[test]
    fn bounds_beyond_the_range_of_timestamps_are_missing() {
        let first = parse("yesterday", Timestamp::MIN);
        assert!(first.from.is_none());
        let last = parse(&Timestamp::MAX.to_string(), Timestamp::MAX);
        assert!(last.from.is_some() && last.until.is_none());
    }
}
