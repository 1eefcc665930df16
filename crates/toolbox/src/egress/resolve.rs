//! Names to addresses, with the check between the answer and the connection: the HTTP client asks here, and connects to
//! exactly the addresses that passed. A second answer for the same name therefore cannot slip in.

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

/// Asks the operating system.
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

/// What the HTTP client is given for a resolver.
pub(super) struct CheckedResolver {
    pub(super) inner: Arc<dyn HostResolver>,
    pub(super) policy: Arc<AddressPolicy>,
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

/// One inner address among public ones refuses the whole name: which of them a connection takes is a matter of luck,
/// and a name with both is either broken or a trick.
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
    // The client puts the port of the URL in place of 0.
    Ok(addresses.iter().map(|address| SocketAddr::new(*address, 0)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_inner_address_refuses_the_whole_name() {
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
