//! The names under which clients reach the receiver.
//!
//! A web page may let its own name point to this machine, and so read the answers of a server on a loopback
//! address. The `Host` of its requests is the name of the page, by which they are recognised.

use std::net::{IpAddr, SocketAddr};

use hyper::Uri;
use hyper::header::{HOST, HeaderMap};

/// The names of this machine, for itself and for its containers. A web page cannot have one of them.
const NAMES: [&str; 3] = ["localhost", "host.docker.internal", "host.containers.internal"];

/// The answer to a request that names another host.
pub(super) const WRONG_HOST: &str = "the Host has to be localhost or an IP address, because web pages could reach a \
                                     loopback address under their own names: change the URL, or add --allow-remote \
                                     if a proxy passes another name on";

/// The hosts that a request may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hosts {
    /// This machine, by one of its names or any address.
    Own,
    /// Any name: the receiver is in a network whose names only its users know.
    Any,
}

impl Hosts {
    /// Returns the hosts for a receiver at this address.
    pub(super) const fn at(address: SocketAddr, allow_remote: bool) -> Self {
        if address.ip().is_loopback() && !allow_remote { Self::Own } else { Self::Any }
    }

    /// Returns whether a request with this target and these headers is for the receiver. The host of an absolute
    /// target counts as well. A request without a host comes from no web page.
    pub(super) fn allow(self, target: &Uri, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(HOST).iter();
        let named = target.authority().is_none_or(|authority| is_own(authority.as_str()));
        self == Self::Any || named && hosts.all(|host| host.to_str().is_ok_and(is_own))
    }
}

/// Returns whether a host, with or without a port, is a name of this machine or an IP address.
fn is_own(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(host) => host.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let is_name = |own: &&str| name.trim_end_matches('.').eq_ignore_ascii_case(own);
    name.parse::<IpAddr>().is_ok() || NAMES.iter().any(is_name)
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn only_names_of_this_machine_and_addresses_are_its_own() {
        let own = "localhost LocalHost:4318 localhost. 127.0.0.1:4318 127.0.0.1 192.168.0.7:80 [::1]:4318 [::1] \
                   host.docker.internal:4318 host.containers.internal";
        let others = "a attacker.example:4318 localhost.attacker.example 127.0.0.1.attacker.example notlocalhost \
                      [attacker.example]:4318 localhost@attacker.example :4318";
        assert!(own.split(' ').all(is_own));
        for other in others.split(' ').chain([""]) {
            assert!(!is_own(other), "{other}");
        }
    }

    #[test]
    fn only_a_loopback_address_asks_for_the_host() {
        let at = |address: &str, remote| Hosts::at(address.parse().expect("an address"), remote);
        assert_eq!(at("127.0.0.1:4318", false), Hosts::Own);
        assert_eq!(at("[::1]:4318", false), Hosts::Own);
        assert_eq!(at("127.0.0.1:4318", true), Hosts::Any);
        assert_eq!(at("0.0.0.0:4318", true), Hosts::Any);
        let with = |hosts: &[&'static str]| {
            hosts.iter().map(|host| (HOST, HeaderValue::from_static(host))).collect::<HeaderMap>()
        };
        let path = Uri::from_static("/metrics");
        assert!(Hosts::Own.allow(&path, &with(&[])));
        assert!(Hosts::Own.allow(&path, &with(&["localhost:4318"])));
        assert!(!Hosts::Own.allow(&path, &with(&["unstuck:4318"])));
        assert!(Hosts::Any.allow(&path, &with(&["unstuck:4318"])));
        let mut two = with(&["localhost"]);
        two.append(HOST, HeaderValue::from_static("attacker.example"));
        assert!(!Hosts::Own.allow(&path, &two));
        for (target, is_own) in [
            ("http://localhost:4318/metrics", true),
            ("http://127.0.0.1/metrics", true),
            ("http://attacker.example:4318/metrics", false),
            ("http://localhost@attacker.example/metrics", false),
            ("attacker.example:4318", false),
        ] {
            let target = target.parse().expect("a target");
            assert_eq!(Hosts::Own.allow(&target, &with(&["localhost"])), is_own, "{target}");
            assert!(Hosts::Any.allow(&target, &with(&["localhost"])));
        }
    }
}
