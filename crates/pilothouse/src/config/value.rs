//! The types of settings: how each is parsed and displayed.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use protocol::secret::SecretText;
use url::Url;

pub(crate) trait SettingValue: Sized {
    /// For the documentation.
    const KIND: &'static str;
    /// The error continues the sentence "NAME must be …".
    fn read(text: &str) -> Result<Self, &'static str>;
    fn shown(&self) -> String;
}

/// A value that can be 0.
pub(crate) trait Quantity {
    fn is_zero(&self) -> bool;
}

impl SettingValue for SecretText {
    const KIND: &'static str = "secret";
    fn read(text: &str) -> Result<Self, &'static str> {
        Ok(Self::from(text))
    }
    fn shown(&self) -> String {
        format!("<set, {} characters>", self.expose().chars().count())
    }
}

macro_rules! keyword_settings {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $first:literal $(| $other:literal)*),+ } $or:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name { $($variant),+ }

        impl SettingValue for $name {
            const KIND: &'static str = $or;
            fn read(text: &str) -> Result<Self, &'static str> {
                match text.to_ascii_lowercase().as_str() {
                    $($first $(| $other)* => Ok(Self::$variant),)+
                    _ => Err($or),
                }
            }
            fn shown(&self) -> String {
                match self { $(Self::$variant => $first.to_owned()),+ }
            }
        }
    };
}

keyword_settings!(Switch { On = "on" | "true" | "1" | "yes", Off = "off" | "false" | "0" | "no" } "`on` or `off`");
keyword_settings!(AuthMode { Local = "local", Jwt = "jwt" } "`local` or `jwt`");
keyword_settings!(
    ProviderName { OpenAi = "openai", Anthropic = "anthropic", Offline = "offline" }
    "`openai`, `anthropic` or `offline`"
);
keyword_settings!(LogFormat { Human = "human", Json = "json" } "`human` or `json`");

/// A duration in seconds, with optional decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DurationSeconds(pub(crate) Duration);

/// A duration in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DurationMillis(pub(crate) Duration);

impl SettingValue for DurationSeconds {
    const KIND: &'static str = "seconds";
    fn read(text: &str) -> Result<Self, &'static str> {
        let expected = "a number of seconds";
        let seconds: f64 = text.parse().map_err(|_| expected)?;
        Duration::try_from_secs_f64(seconds).map(Self).map_err(|_| expected)
    }
    fn shown(&self) -> String {
        self.0.as_secs_f64().to_string()
    }
}

impl SettingValue for DurationMillis {
    const KIND: &'static str = "milliseconds";
    fn read(text: &str) -> Result<Self, &'static str> {
        text.parse()
            .map(|millis| Self(Duration::from_millis(millis)))
            .map_err(|_| "a whole number of milliseconds")
    }
    fn shown(&self) -> String {
        self.0.as_millis().to_string()
    }
}

macro_rules! parsed {
    ($($type:ty, $kind:literal, $expected:literal;)+) => {
        $(impl SettingValue for $type {
            const KIND: &'static str = $kind;
            fn read(text: &str) -> Result<Self, &'static str> {
                text.parse().map_err(|_| $expected)
            }
            fn shown(&self) -> String {
                self.to_string()
            }
        })+
    };
}

parsed! {
    u16, "number", "a whole number from 0 to 65535";
    u32, "number", "a whole number";
    u64, "number", "a whole number";
    usize, "number", "a whole number";
    IpAddr, "address", "an IP address such as 127.0.0.1";
    String, "text", "text";
}

macro_rules! quantities {
    ($($type:ty, $zero:expr;)+) => {
        $(impl Quantity for $type {
            fn is_zero(&self) -> bool {
                *self == $zero
            }
        })+
    };
}

quantities! {
    u32, 0;
    u64, 0;
    usize, 0;
    DurationSeconds, Self(Duration::ZERO);
    DurationMillis, Self(Duration::ZERO);
}

impl<T: Quantity> Quantity for Option<T> {
    fn is_zero(&self) -> bool {
        self.as_ref().is_some_and(Quantity::is_zero)
    }
}

impl SettingValue for f64 {
    const KIND: &'static str = "number";
    fn read(text: &str) -> Result<Self, &'static str> {
        let expected = "a number that is not negative";
        let number: f64 = text.parse().map_err(|_| expected)?;
        if number.is_finite() && number >= 0.0 { Ok(number) } else { Err(expected) }
    }
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl SettingValue for PathBuf {
    const KIND: &'static str = "path";
    fn read(text: &str) -> Result<Self, &'static str> {
        Ok(text.into())
    }
    fn shown(&self) -> String {
        self.display().to_string()
    }
}

impl SettingValue for Url {
    const KIND: &'static str = "URL";
    fn read(text: &str) -> Result<Self, &'static str> {
        let expected = "a URL that starts with http:// or https://";
        let url: Url = text.parse().map_err(|_| expected)?;
        if matches!(url.scheme(), "http" | "https") && url.has_host() {
            Ok(url)
        } else {
            Err(expected)
        }
    }
    /// A password in a URL is masked.
    fn shown(&self) -> String {
        let mut shown = self.clone();
        if shown.password().is_some() {
            let _ = shown.set_password(Some("***"));
        }
        shown.to_string()
    }
}

impl SettingValue for Vec<Url> {
    const KIND: &'static str = "URLs";
    fn read(text: &str) -> Result<Self, &'static str> {
        text.split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(|part| {
                Url::read(part)
                    .map_err(|_| "origins such as https://app.example, separated by commas")
            })
            .collect()
    }
    fn shown(&self) -> String {
        self.iter().map(SettingValue::shown).collect::<Vec<_>>().join(",")
    }
}

/// An optional setting. An empty value counts as not set.
impl<T: SettingValue> SettingValue for Option<T> {
    const KIND: &'static str = T::KIND;
    fn read(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() { Ok(None) } else { T::read(text).map(Some) }
    }
    fn shown(&self) -> String {
        self.as_ref().map_or_else(|| "<not set>".to_owned(), SettingValue::shown)
    }
}
