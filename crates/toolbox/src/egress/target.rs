//! Checks a URL by its text alone, before host resolution. The first URL and every redirect pass the same checks.

use std::net::IpAddr;

use url::{Host, Url};

use super::address::AddressPolicy;
use super::error::EgressError;

/// Longer ones are refused before they are parsed.
const URL_CHARS: usize = 4096;

/// Host name suffixes of the machine itself or of internal networks, refused whatever they resolve to.
const INTERNAL_NAMES: &[&str] = &["localhost", "internal", "local", "localdomain", "home.arpa"];

#[derive(Clone, Debug)]
pub(crate) struct TargetPolicy {
    pub(crate) ports: Vec<u16>,
    pub(crate) addresses: AddressPolicy,
}

impl TargetPolicy {
    /// Parses and checks a URL from an untrusted source.
    pub(crate) fn parse(&self, text: &str) -> Result<Url, EgressError> {
        let text = text.trim();
        if text.chars().count() > URL_CHARS {
            return Err(EgressError::BadUrl("it is too long"));
        }
        // The parser silently drops tabs and line breaks and reads a backslash as a slash, so a reader of the text could
        // see another host than the parser does. None of them is accepted.
        if text.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
            return Err(EgressError::BadUrl(
                "it contains spaces, control characters or backslashes",
            ));
        }
        let url = Url::parse(text).map_err(|_| EgressError::BadUrl("it is not a complete URL"))?;
        self.check(url)
    }

    /// The target of a redirect. A redirect from https to http is refused.
    pub(crate) fn follow(&self, from: &Url, location: &str) -> Result<Url, EgressError> {
        if location.chars().count() > URL_CHARS
            || location.chars().any(|c| c.is_control() || c == '\\')
        {
            return Err(EgressError::Blocked("it redirects to something that is not a URL"));
        }
        let next = from
            .join(location)
            .map_err(|_| EgressError::Blocked("it redirects to something that is not a URL"))?;
        if from.scheme() == "https" && next.scheme() != "https" {
            return Err(EgressError::Blocked("it redirects from https to an unencrypted address"));
        }
        self.check(next)
    }

    fn check(&self, url: Url) -> Result<Url, EgressError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(EgressError::Blocked("only http and https URLs can be fetched"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(EgressError::Blocked("it contains a user name or password"));
        }
        if !url.port_or_known_default().is_some_and(|port| self.ports.contains(&port)) {
            return Err(EgressError::Blocked("only ports 80 and 443 can be fetched"));
        }
        let public = match url.host() {
            None => return Err(EgressError::BadUrl("it has no host")),
            Some(Host::Ipv4(address)) => self.addresses.permits(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => self.addresses.permits(IpAddr::V6(address)),
            Some(Host::Domain(name)) => is_public_name(name),
        };
        if !public {
            return Err(EgressError::Blocked("the host is not on the public internet"));
        }
        Ok(url)
    }
}

fn is_public_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    // A name of one label would be resolved in the search domains of the machine.
    name.contains('.')
        && !INTERNAL_NAMES
            .iter()
            .any(|closed| name.strip_suffix(closed).is_some_and(|rest| rest.ends_with('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> TargetPolicy {
        TargetPolicy { ports: vec![80, 443], addresses: AddressPolicy::default() }
    }

    #[test]
    fn every_spelling_of_an_internal_address_is_refused() {
        for text in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://0x7f000001/",
            "http://0x7f.1/",
            "http://2130706433/",
            "http://0177.0.0.1/",
            "http://127.0.0.1./",
            "http://localhost/",
            "http://LOCALHOST./",
            "http://a.localhost/",
            "http://[::1]/",
            "http://[::]/",
            "http://[::ffff:7f00:1]/",
            "http://[::127.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[2002:7f00:1::]/",
            "http://[fd00:ec2::254]/",
            "http://a@127.0.0.1/",
            "http://good.example:x@127.0.0.1/",
            "http://user@good.example/",
            "http://127.0.0.1#@good.example",
            "http://127.0.0.1?@good.example",
            "http://good.example\\@127.0.0.1/",
            "http:\\\\127.0.0.1\\",
            "http://①②⑦.⓪.⓪.①/",
            "http://%31%32%37.0.0.1/",
            "http://127。0。0。1/",
            "http://ⓛocalhost/",
            "http://12\t7.0.0.1/",
            "http://127.0.\n0.1/",
            "http://good.example\0.127.0.0.1/",
            "http://good.example%00.evil.example/",
            "http://169.254.169.254/latest/meta-data/",
            "http://168.63.129.16/",
            "http://100.100.100.200/",
            "http://metadata.google.internal/",
            "http://metadata/",
            "http://instance-data/",
            "http://printer.local/",
            "http://0/",
            "http://0.0.0.0/",
            "http://good.example:22/",
            "http://good.example:8080/",
            "ftp://good.example/",
            "file:///etc/passwd",
            "gopher://good.example/",
            "data:text/plain,x",
            "javascript:alert(1)",
            "//good.example/",
            "good.example",
            "http://",
            "",
        ] {
            assert!(policy().parse(text).is_err(), "{text:?} was accepted");
        }
    }

    #[test]
    fn ordinary_addresses_pass_and_keep_their_host() {
        for (text, host) in [
            ("http://good.example/a?b=c#d", "good.example"),
            (" https://good.example ", "good.example"),
            ("https://good.example:443/", "good.example"),
            ("https://bücher.example/", "xn--bcher-kva.example"),
            // The host is the whole name, not the trusted-looking start of it.
            ("https://trusted.com.evil.example/", "trusted.com.evil.example"),
            ("https://8.8.8.8/", "8.8.8.8"),
        ] {
            let url = policy().parse(text).expect(text);
            assert_eq!(url.host_str(), Some(host), "{text}");
        }
        assert!(policy().parse(&format!("http://good.example/{}", "a".repeat(5000))).is_err());
    }

    #[test]
    fn a_redirect_is_checked_like_a_first_url_and_never_drops_https() {
        let policy = policy();
        let from = Url::parse("https://good.example/a/b").expect("a URL");
        let next = policy.follow(&from, "../c").expect("a relative redirect");
        assert_eq!(next.as_str(), "https://good.example/c");
        for location in [
            "http://good.example/",
            "//127.0.0.1/",
            "https://127.0.0.1/",
            "https://[::1]/",
            "https://a:b@good.example/",
            "file:///etc/passwd",
            "gopher://good.example/",
            "data:text/html,x",
            "https://good.example:25/",
            "\\\\127.0.0.1\\x",
            "https://good.example\r\nX: y",
        ] {
            assert!(policy.follow(&from, location).is_err(), "{location:?} was followed");
        }
    }
}
