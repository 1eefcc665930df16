//! The address of another server together with what opens it. Only the part without the password is ever shown.

use std::fmt;

use url::Url;

use super::value::{Secret, Value};

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ServerUrl(Url);

/// What an address is put together from when it is not given as a whole.
pub(super) struct Parts<'a> {
    pub(super) scheme: &'static str,
    pub(super) host: &'a str,
    pub(super) port: u16,
    pub(super) user: &'a str,
    pub(super) password: Option<&'a Secret>,
    /// The database or the virtual host, not escaped.
    pub(super) path: &'a str,
}

impl ServerUrl {
    pub(super) fn of(parts: &Parts<'_>) -> Result<Self, &'static str> {
        let wanted = "the name or the address of a host";
        // An IPv6 address stands in brackets in a URL, and nobody writes them in a host setting.
        let host = match parts.host.parse::<std::net::Ipv6Addr>() {
            Ok(address) => format!("[{address}]"),
            Err(_) => parts.host.to_owned(),
        };
        let mut url: Url = format!("{}://{host}", parts.scheme).parse().map_err(|_| wanted)?;
        // Anything more in it would be taken for a user, a port or a path.
        if url.host_str() != Some(host.as_str()) || !matches!(url.path(), "" | "/") {
            return Err(wanted);
        }
        // The setters escape everything but the escape character itself.
        let escaped = |text: &str| text.replace('%', "%25");
        let password = parts.password.map(|password| escaped(password.expose()));
        let set = url
            .set_port(Some(parts.port))
            .and_then(|()| url.set_username(&escaped(parts.user)))
            .and_then(|()| url.set_password(password.as_deref()));
        set.map_err(|()| wanted)?;
        url.path_segments_mut().map_err(|()| wanted)?.clear().push(parts.path);
        Ok(Self(url))
    }

    /// With the password: for the one place that connects.
    pub(crate) fn expose(&self) -> &str {
        self.0.as_str()
    }

    pub(super) fn scheme(&self) -> &str {
        self.0.scheme()
    }

    /// Host, port and path, as people name a server.
    pub(crate) fn place(&self) -> String {
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

impl Value for ServerUrl {
    const KIND: &'static str = "URL, secret";
    fn read(text: &str) -> Result<Self, &'static str> {
        let wanted = "a URL such as scheme://user:password@host:port/name, with special characters of the password escaped (@ is %40)";
        let url: Url = text.parse().map_err(|_| wanted)?;
        if url.host_str().is_some_and(|host| !host.is_empty()) {
            Ok(Self(url))
        } else {
            Err(wanted)
        }
    }
    /// Parameters are left out: a password can stand there, too.
    fn shown(&self) -> String {
        let mut shown = self.0.clone();
        shown.set_query(None);
        shown.set_fragment(None);
        if shown.password().is_some() {
            let _ = shown.set_password(Some("***"));
        }
        shown.to_string()
    }
}
