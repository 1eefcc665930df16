//! How a time is written.

use jiff::Zoned;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use ports::block::BlockError;
use schemars::JsonSchema;
use serde::Deserialize;

/// Letters of a format.
const LONGEST_FORMAT: usize = 1000;

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "discriminator", rename_all = "lowercase")]
pub(super) enum Format {
    Strftime {
        /// The parts of the time, such as `%Y-%m-%d`.
        #[serde(default)]
        format: Option<String>,
        /// The name of the time zone, such as `Europe/Paris`.
        #[serde(default = "utc")]
        timezone: String,
        /// Whether to prefer the time zone of the user. None is known, so `timezone` counts.
        #[serde(default)]
        #[expect(
            dead_code,
            reason = "no user has a time zone yet; graphs may name it all the same"
        )]
        use_user_timezone: bool,
    },
    Iso8601 {
        /// The name of the time zone, such as `Europe/Paris`.
        #[serde(default = "utc")]
        timezone: String,
        /// Whether to prefer the time zone of the user. None is known, so `timezone` counts.
        #[serde(default)]
        #[expect(
            dead_code,
            reason = "no user has a time zone yet; graphs may name it all the same"
        )]
        use_user_timezone: bool,
        /// Whether to write millionths of a second.
        #[serde(default)]
        include_microseconds: bool,
    },
}

impl Default for Format {
    fn default() -> Self {
        Self::Strftime { format: None, timezone: utc(), use_user_timezone: false }
    }
}

fn utc() -> String {
    "UTC".to_owned()
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Time,
    Date,
    DateAndTime,
}

impl Part {
    fn usual_format(self) -> &'static str {
        match self {
            Self::Time => "%H:%M:%S",
            Self::Date => "%Y-%m-%d",
            Self::DateAndTime => "%Y-%m-%d %H:%M:%S",
        }
    }

    fn iso(self, microseconds: bool) -> &'static str {
        match (self, microseconds) {
            (Self::Date, _) => "%Y-%m-%d",
            (Self::Time, false) => "T%H:%M:%S%:z",
            (Self::Time, true) => "T%H:%M:%S.%6f%:z",
            (Self::DateAndTime, false) => "%Y-%m-%dT%H:%M:%S%:z",
            (Self::DateAndTime, true) => "%Y-%m-%dT%H:%M:%S.%6f%:z",
        }
    }
}

impl Format {
    pub(super) fn zone(&self) -> Result<TimeZone, BlockError> {
        let (Self::Strftime { timezone, .. } | Self::Iso8601 { timezone, .. }) = self;
        if timezone == "UTC" {
            return Ok(TimeZone::UTC);
        }
        TimeZone::get(timezone)
            .map_err(|_| BlockError::failed(format!("There is no time zone '{timezone}'.")))
    }

    pub(super) fn write(&self, time: &Zoned, part: Part) -> Result<String, BlockError> {
        let format = match self {
            Self::Iso8601 { include_microseconds, .. } => part.iso(*include_microseconds),
            Self::Strftime { format: Some(format), .. } => format,
            Self::Strftime { format: None, .. } => part.usual_format(),
        };
        if format.len() > LONGEST_FORMAT {
            return Err(BlockError::failed("The format is too long."));
        }
        // Six digits, as everyone expects who has written such formats before.
        let format = format.replace("%f", "%6f");
        strtime::format(&format, time)
            .map_err(|error| BlockError::failed(format!("The format is wrong: {error}.")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_time_is_written_as_it_was_asked_for() {
        let moment: jiff::Timestamp = "2026-03-04T05:06:07.000089Z".parse().expect("a time");
        let strftime = |format: &str| json!({ "discriminator": "strftime", "format": format });
        let table = [
            (json!({ "discriminator": "strftime" }), Part::Time, "05:06:07"),
            (json!({ "discriminator": "strftime" }), Part::Date, "2026-03-04"),
            (json!({ "discriminator": "strftime" }), Part::DateAndTime, "2026-03-04 05:06:07"),
            (strftime("%d/%m/%y %A %I:%M %p %f"), Part::Time, "04/03/26 Wednesday 05:06 AM 000089"),
            (json!({ "discriminator": "iso8601" }), Part::Time, "T05:06:07+00:00"),
            (json!({ "discriminator": "iso8601" }), Part::Date, "2026-03-04"),
            (
                json!({ "discriminator": "iso8601", "include_microseconds": true }),
                Part::DateAndTime,
                "2026-03-04T05:06:07.000089+00:00",
            ),
            (
                json!({ "discriminator": "iso8601", "timezone": "Asia/Kathmandu" }),
                Part::DateAndTime,
                "2026-03-04T10:51:07+05:45",
            ),
        ];
        for (format, part, wanted) in table {
            let format: Format = serde_json::from_value(format).expect("a format");
            let time = moment.to_zoned(format.zone().expect("a zone"));
            assert_eq!(format.write(&time, part).as_deref(), Ok(wanted));
        }
    }

    #[test]
    fn a_wrong_zone_or_format_says_so() {
        let read = |format: Value| serde_json::from_value::<Format>(format).expect("a format");
        assert!(
            read(json!({ "discriminator": "iso8601", "timezone": "Moon/Base" })).zone().is_err()
        );
        let time = jiff::Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
        for format in ["%", "%!".repeat(2).as_str(), "%Y".repeat(1000).as_str()] {
            let format = read(json!({ "discriminator": "strftime", "format": format }));
            assert!(format.write(&time, Part::Time).is_err());
        }
    }
}
