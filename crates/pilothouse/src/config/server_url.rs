//! The URL of another server, with its password. It is always shown without the password.

use std::fmt;

use protocol::secret::SecretText;
use url::Url;

use super::value::SettingValue;

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ServerUrl(Url);

/// The parts of a URL that is not given as a whole.
pub(crate) struct UrlParts<'a> {
    pub(crate) scheme: &'static str,
    pub(crate) host: &'a str,
    pub(crate) port: u16,
    pub(crate) user: &'a str,
    pub(crate) password: Option<&'a SecretText>,
    /// The database or the virtual host, not escaped.
    pub(crate) path: &'a str,
}

impl ServerUrl {
    pub(crate) fn of(parts: &UrlParts<'_>) -> Result<Self, &'static str> {
        let expected = "the name or the address of a host";
        // An IPv6 address is in brackets in a URL, but not in a host setting.
        let host = match parts.host.parse::<std::net::Ipv6Addr>() {
            Ok(address) => format!("[{address}]"),
            Err(_) => parts.host.to_owned(),
        };
        let mut url: Url = format!("{}://{host}", parts.scheme).parse().map_err(|_| expected)?;
        // Anything more in it would be parsed as a user, a port or a path.
        if url.host_str() != Some(host.as_str()) || !matches!(url.path(), "" | "/") {
            return Err(expected);
        }
        // The setters escape everything except the escape character itself.
        let escaped = |text: &str| text.replace('%', "%25");
        let password = parts.password.map(|password| escaped(password.expose()));
        let set = url
            .set_port(Some(parts.port))
            .and_then(|()| url.set_username(&escaped(parts.user)))
            .and_then(|()| url.set_password(password.as_deref()));
        set.map_err(|()| expected)?;
        url.path_segments_mut().map_err(|()| expected)?.clear().push(parts.path);
        Ok(Self(url))
    }

    /// With the password: only for connecting.
    pub(crate) fn expose(&self) -> &str {
        self.0.as_str()
    }

    pub(crate) fn scheme(&self) -> &str {
        self.0.scheme()
    }

    /// Host, port and path.
    pub(crate) fn host_and_path(&self) -> String {
        let host = self.0.host_str().unwrap_or_default();
        let port = self.0.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{host}{port}{}", self.0.path().trim_end_matches('/'))
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown())
    }
}

impl SettingValue for ServerUrl {
    const KIND: &'static str = "URL, secret";
    fn read(text: &str) -> Result<Self, &'static str> {
        let expected = "a URL such as scheme://user:password@host:port/name, with special characters of the password escaped (@ is %40)";
        let url: Url = text.parse().map_err(|_| expected)?;
        if url.host_str().is_some_and(|host| !host.is_empty()) {
            Ok(Self(url))
        } else {
            Err(expected)
        }
    }
    /// Without parameters: they can contain a password, too.
    fn shown(&self) -> String {
        let mut shown = self.0.clone();
        shown.set_query(None);
        shown.set_fragment(None);
        shown.shown()
    }
}
