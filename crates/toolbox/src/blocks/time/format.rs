//! Output formats of the time blocks.

use jiff::Zoned;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use ports::block::BlockError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limit on a format string, in bytes.
const MAX_FORMAT_BYTES: usize = 1000;

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "discriminator", rename_all = "lowercase")]
pub(crate) enum TimeFormat {
    Strftime {
        /// The strftime format, for example `%Y-%m-%d`.
        #[serde(default)]
        format: Option<String>,
        #[serde(default)]
        timezone: ZoneName,
        #[serde(default, rename = "use_user_timezone")]
        _use_user_timezone: UserZone,
    },
    Iso8601 {
        #[serde(default)]
        timezone: ZoneName,
        #[serde(default, rename = "use_user_timezone")]
        _use_user_timezone: UserZone,
        /// Include microseconds.
        #[serde(default)]
        include_microseconds: bool,
    },
}

impl Default for TimeFormat {
    fn default() -> Self {
        Self::Strftime {
            format: None,
            timezone: ZoneName::default(),
            _use_user_timezone: UserZone::default(),
        }
    }
}

/// The time zone, for example `Europe/Paris`.
#[derive(Deserialize, JsonSchema, Serialize)]
#[serde(transparent)]
pub(crate) struct ZoneName(String);

impl Default for ZoneName {
    fn default() -> Self {
        Self("UTC".to_owned())
    }
}

// Users have no time zone yet; accepted for compatibility with existing graphs.
/// Not supported yet; `timezone` is used.
#[derive(Default, Deserialize, JsonSchema, Serialize)]
#[serde(transparent)]
pub(crate) struct UserZone(bool);

/// The part of a timestamp that a block outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimePart {
    Time,
    Date,
    DateAndTime,
}

impl TimePart {
    fn default_format(self) -> &'static str {
        match self {
            Self::Time => "%H:%M:%S",
            Self::Date => "%Y-%m-%d",
            Self::DateAndTime => "%Y-%m-%d %H:%M:%S",
        }
    }

    fn iso_format(self, microseconds: bool) -> &'static str {
        match (self, microseconds) {
            (Self::Date, _) => "%Y-%m-%d",
            (Self::Time, false) => "T%H:%M:%S%:z",
            (Self::Time, true) => "T%H:%M:%S.%6f%:z",
            (Self::DateAndTime, false) => "%Y-%m-%dT%H:%M:%S%:z",
            (Self::DateAndTime, true) => "%Y-%m-%dT%H:%M:%S.%6f%:z",
        }
    }
}

impl TimeFormat {
    pub(crate) fn zone(&self) -> Result<TimeZone, BlockError> {
        let (Self::Strftime { timezone: ZoneName(timezone), .. }
        | Self::Iso8601 { timezone: ZoneName(timezone), .. }) = self;
        if timezone == "UTC" {
            return Ok(TimeZone::UTC);
        }
        TimeZone::get(timezone)
            .map_err(|_| BlockError::failed(format!("Unknown time zone: '{timezone}'.")))
    }

    pub(crate) fn write(&self, time: &Zoned, part: TimePart) -> Result<String, BlockError> {
        let format = match self {
            Self::Iso8601 { include_microseconds, .. } => part.iso_format(*include_microseconds),
            Self::Strftime { format: Some(format), .. } => format,
            Self::Strftime { format: None, .. } => part.default_format(),
        };
        if format.len() > MAX_FORMAT_BYTES {
            return Err(BlockError::failed("The format is too long."));
        }
        // `%f` means six digits in Python's strftime, which existing graphs use.
        let format = format.replace("%f", "%6f");
        strtime::format(&format, time)
            .map_err(|error| BlockError::failed(format!("The format is invalid: {error}.")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_time_is_formatted_as_requested() {
        let moment: jiff::Timestamp = "2026-03-04T05:06:07.000089Z".parse().expect("a time");
        let strftime = |format: &str| json!({ "discriminator": "strftime", "format": format });
        let table = [
            (json!({ "discriminator": "strftime" }), TimePart::Time, "05:06:07"),
            (json!({ "discriminator": "strftime" }), TimePart::Date, "2026-03-04"),
            (json!({ "discriminator": "strftime" }), TimePart::DateAndTime, "2026-03-04 05:06:07"),
            (
                strftime("%d/%m/%y %A %I:%M %p %f"),
                TimePart::Time,
                "04/03/26 Wednesday 05:06 AM 000089",
            ),
            (json!({ "discriminator": "iso8601" }), TimePart::Time, "T05:06:07+00:00"),
            (json!({ "discriminator": "iso8601" }), TimePart::Date, "2026-03-04"),
            (
                json!({ "discriminator": "iso8601", "include_microseconds": true }),
                TimePart::DateAndTime,
                "2026-03-04T05:06:07.000089+00:00",
            ),
            (
                json!({ "discriminator": "iso8601", "timezone": "Asia/Kathmandu" }),
                TimePart::DateAndTime,
                "2026-03-04T10:51:07+05:45",
            ),
        ];
        for (format, part, wanted) in table {
            let format: TimeFormat = serde_json::from_value(format).expect("a format");
            let time = moment.to_zoned(format.zone().expect("a zone"));
            assert_eq!(format.write(&time, part).as_deref(), Ok(wanted));
        }
    }

    #[test]
    fn an_unknown_zone_or_invalid_format_is_rejected() {
        let read = |format: Value| serde_json::from_value::<TimeFormat>(format).expect("a format");
        assert!(
            read(json!({ "discriminator": "iso8601", "timezone": "Moon/Base" })).zone().is_err()
        );
        let time = jiff::Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
        for format in ["%", "%!".repeat(2).as_str(), "%Y".repeat(1000).as_str()] {
            let format = read(json!({ "discriminator": "strftime", "format": format }));
            assert!(format.write(&time, TimePart::Time).is_err());
        }
    }
}
