//! Host resolution with the address check. The HTTP client resolves through this and connects to exactly the checked
//! addresses, so a second, different DNS answer (DNS rebinding) has no effect.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolving};

use super::address::AddressPolicy;
use super::error::EgressError;

#[async_trait]
pub trait HostResolver: Send + Sync {
    /// All addresses of a name.
    async fn resolve(&self, host: &str) -> std::io::Result<Vec<IpAddr>>;
}

/// Resolves with the operating system.
pub struct SystemResolver {
    pub timeout: Duration,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(5) }
    }
}

#[async_trait]
impl HostResolver for SystemResolver {
    async fn resolve(&self, host: &str) -> std::io::Result<Vec<IpAddr>> {
        let found =
            tokio::time::timeout(self.timeout, tokio::net::lookup_host((host, 0))).await??;
        Ok(found.map(|address| address.ip()).collect())
    }
}

/// The resolver of the HTTP client.
pub(crate) struct CheckedResolver {
    pub(crate) inner: Arc<dyn HostResolver>,
    pub(crate) policy: Arc<AddressPolicy>,
}

impl reqwest::dns::Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (inner, policy) = (self.inner.clone(), self.policy.clone());
        Box::pin(async move {
            let host = name.as_str();
            let addresses = inner.resolve(host).await;
            let addresses = addresses.map_err(|_| EgressError::Unresolved(host.to_owned()))?;
            let checked = all_permitted(&policy, host, &addresses)?;
            Ok(Box::new(checked.into_iter()) as Addrs)
        })
    }
}

/// One internal address among public ones refuses the whole name: which address a connection takes is undefined, and a
/// name with both is either misconfigured or an attack.
fn all_permitted(
    policy: &AddressPolicy,
    host: &str,
    addresses: &[IpAddr],
) -> Result<Vec<SocketAddr>, EgressError> {
    if addresses.is_empty() {
        return Err(EgressError::Unresolved(host.to_owned()));
    }
    if !addresses.iter().all(|address| policy.permits(*address)) {
        return Err(EgressError::Blocked("the host is not on the public internet"));
    }
    // The HTTP client replaces port 0 by the port of the URL.
    Ok(addresses.iter().map(|address| SocketAddr::new(*address, 0)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_internal_address_refuses_the_whole_name() {
        let policy = AddressPolicy::default();
        let public: IpAddr = "8.8.8.8".parse().expect("an address");
        let inner: IpAddr = "10.0.0.1".parse().expect("an address");
        let check = |addresses: &[IpAddr]| all_permitted(&policy, "host.example", addresses);
        assert!(check(&[public]).is_ok());
        for addresses in [vec![inner], vec![public, inner], vec![inner, public]] {
            assert!(matches!(check(&addresses), Err(EgressError::Blocked(_))));
        }
        assert_eq!(check(&[]), Err(EgressError::Unresolved("host.example".into())));
    }
}
