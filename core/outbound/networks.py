"""Networks that the service does not connect to for users, unless the operator allows it.

The sources are the IANA special-purpose address registries of IPv4 and IPv6 (RFC 6890), and the addresses
where cloud providers serve metadata and credentials.
"""

import ipaddress

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

_REFUSED_IPV4 = tuple(
    (ipaddress.IPv4Network(network), reason)
    for network, reason in (
        ("0.0.0.0/8", "this network"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by the customers of a carrier (carrier-grade NAT)"),
        ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved for protocols"),
        ("192.0.2.0/24", "for documentation"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "for benchmarks"),
        ("198.51.100.0/24", "for documentation"),
        ("203.0.113.0/24", "for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
# All addresses outside global unicast are refused; for these, the rows only provide the reason.
_GLOBAL_IPV6 = ipaddress.IPv6Network("2000::/3")
_REFUSED_IPV6 = tuple(
    (ipaddress.IPv6Network(network), reason)
    for network, reason in (
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("::/96", "IPv4-compatible"),
        ("64:ff9b:1::/48", "a local translation of IPv4"),
        ("2001::/32", "a Teredo tunnel"),
        ("2001::/23", "reserved for protocols"),
        ("2001:db8::/32", "for documentation"),
        ("2002::/16", "a 6to4 tunnel"),
        ("3fff::/20", "for documentation"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private"),
        ("ff00::/8", "multicast"),
    )
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")

METADATA_ADDRESSES = frozenset(
    map(
        ipaddress.ip_address,
        (
            "169.254.169.254",  # AWS, Azure, Google Cloud, Oracle, OpenStack, DigitalOcean
            "169.254.169.253",  # the DNS of AWS
            "169.254.170.2",  # credentials of ECS tasks
            "169.254.170.23",  # credentials of EKS pods
            "fd00:ec2::254",  # AWS
            "fd00:ec2::23",  # credentials of EKS pods
            "fd20:ce::254",  # Google Cloud
            "100.100.100.200",  # Alibaba Cloud
            "168.63.129.16",  # Azure, inside its range of public addresses
            "192.0.0.192",  # Oracle Cloud
        ),
    )
)


def actual_address(address: IPAddress) -> IPAddress:
    """Return the IPv4 address in a mapped or translated (NAT64) IPv6 address, else the address itself."""
    if not isinstance(address, ipaddress.IPv6Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def refusal_reason(address: IPAddress) -> str | None:
    """Return the reason to refuse an address, None for a globally routed one.

    Args:
        address: Result of `actual_address`.
    """
    if address in METADATA_ADDRESSES:
        return "the metadata service of a cloud provider"
    if isinstance(address, ipaddress.IPv4Address):
        return next((reason for network, reason in _REFUSED_IPV4 if address in network), None)
    default = None if address in _GLOBAL_IPV6 else "reserved"
    return next((reason for network, reason in _REFUSED_IPV6 if address in network), default)
