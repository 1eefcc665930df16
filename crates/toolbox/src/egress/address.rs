//! Decides which IP addresses belong to the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// Permits public addresses and the networks that the operator allowed.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddressPolicy {
    pub(crate) allowed_networks: Vec<IpNet>,
}

impl AddressPolicy {
    pub(crate) fn permits(&self, address: IpAddr) -> bool {
        is_public(address) || self.allowed_networks.iter().any(|network| network.contains(&address))
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !NON_PUBLIC_V4.iter().any(|network| network.contains(&v4)),
        // Only this block is allocated for global unicast. Unspecified, loopback, IPv4-mapped, IPv4-compatible, NAT64,
        // unique local, link local and multicast addresses lie outside it and are therefore refused.
        IpAddr::V6(v6) => {
            GLOBAL_V6.contains(&v6) && !NON_PUBLIC_V6.iter().any(|network| network.contains(&v6))
        }
    }
}

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6(a: u16, b: u16, c: u16, prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), prefix)
}

const NON_PUBLIC_V4: &[Ipv4Net] = &[
    v4(0, 0, 0, 0, 8),
    v4(10, 0, 0, 0, 8),
    v4(100, 64, 0, 0, 10),
    v4(127, 0, 0, 0, 8),
    // The metadata service of a cloud provider, although a public address.
    v4(168, 63, 129, 16, 32),
    v4(169, 254, 0, 0, 16),
    v4(172, 16, 0, 0, 12),
    v4(192, 0, 0, 0, 24),
    v4(192, 0, 2, 0, 24),
    v4(192, 88, 99, 0, 24),
    v4(192, 168, 0, 0, 16),
    v4(198, 18, 0, 0, 15),
    v4(198, 51, 100, 0, 24),
    v4(203, 0, 113, 0, 24),
    v4(224, 0, 0, 0, 4),
    v4(240, 0, 0, 0, 4),
];

const GLOBAL_V6: Ipv6Net = v6(0x2000, 0, 0, 3);

const NON_PUBLIC_V6: &[Ipv6Net] = &[
    // Protocol assignments, among them Teredo, which embeds an IPv4 address.
    v6(0x2001, 0, 0, 23),
    v6(0x2001, 0x0db8, 0, 32),
    // 6to4 embeds an IPv4 address.
    v6(0x2002, 0, 0, 16),
    v6(0x3fff, 0, 0, 20),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_addresses_are_not_public() {
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "10.1.2.3",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:0:7f00:1::",
            "2001:10::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            let address: IpAddr = text.parse().expect("an address");
            assert!(!is_public(address), "{text}");
        }
    }

    #[test]
    fn public_addresses_are_public() {
        for text in ["1.1.1.1", "8.8.8.8", "172.32.0.1", "198.20.0.1", "2606:4700::1111", "2a00::1"]
        {
            let address: IpAddr = text.parse().expect("an address");
            assert!(is_public(address), "{text}");
        }
    }

    #[test]
    fn an_allowed_network_permits_only_its_own_addresses() {
        let policy =
            AddressPolicy { allowed_networks: vec!["127.0.0.1/32".parse().expect("a network")] };
        assert!(policy.permits("127.0.0.1".parse().expect("an address")));
        for other in ["127.0.0.2", "::1", "::ffff:127.0.0.1"] {
            assert!(!policy.permits(other.parse().expect("an address")), "{other}");
        }
    }
}
