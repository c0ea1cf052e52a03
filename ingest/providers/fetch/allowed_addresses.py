"""Which IP addresses may be reached: public ones, and those that the operator allows."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_network,
)
from typing import Final, Self

from ingest.errors import Permanent
from ingest.providers.fetch.fetch_target import literal_address, parse_url

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


def _named(networks: dict[str, str]) -> list[tuple[Network, str]]:
    return [(ip_network(network), name) for network, name in networks.items()]


# All networks of the IANA special-purpose registries that are not globally reachable.
_REFUSED: Final = _named(
    {
        "0.0.0.0/8": "unspecified",
        "10.0.0.0/8": "private",
        "100.64.0.0/10": "shared by a carrier",
        "127.0.0.0/8": "loopback",
        "169.254.0.0/16": "link-local",
        "172.16.0.0/12": "private",
        "192.0.0.0/24": "reserved",
        "192.0.2.0/24": "for documentation",
        "192.88.99.0/24": "reserved",
        "192.168.0.0/16": "private",
        "198.18.0.0/15": "for benchmarks",
        "198.51.100.0/24": "for documentation",
        "203.0.113.0/24": "for documentation",
        "224.0.0.0/4": "multicast",
        "240.0.0.0/4": "reserved",
        "::/128": "unspecified",
        "::1/128": "loopback",
        "fc00::/7": "private",
        "fe80::/10": "link-local",
        "fec0::/10": "private",
        "ff00::/8": "multicast",
        "2001::/23": "reserved",
        "2001:db8::/32": "for documentation",
        "3fff::/20": "for documentation",
    }
)
_GLOBAL_IPV6: Final = IPv6Network("2000::/3")

# Cloud metadata services give credentials to any client; even an allowed host must not resolve to
# these.
_METADATA: Final[list[Network]] = [
    ip_network(network)
    for network in (
        "169.254.0.0/16",
        "fe80::/10",
        "fd00:ec2::254",  # Amazon
        "fd20:ce::254",  # Google
        "100.100.100.200",  # Alibaba
        "168.63.129.16",  # Azure
        "192.0.0.192",  # Oracle
    )
]

# IPv6 prefixes with an IPv4 address in the last 32 bits: compatible, mapped, translated, NAT64.
# (6to4 has it directly after its prefix.)
_CARRIERS: Final = [
    IPv6Network(network)
    for network in ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")
]
_6TO4: Final = IPv6Network("2002::/16")
# Refused by default; if the operator allows one, we also check the IPv4 addresses inside.
_LOCAL_NAT64: Final = IPv6Network("64:ff9b:1::/48")
_TEREDO: Final = IPv6Network("2001::/32")
_ISATAP: Final = (bytes.fromhex("00005efe"), bytes.fromhex("02005efe"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowList:
    """Private networks and hosts that may be reached."""

    networks: tuple[Network, ...] = ()
    hosts: tuple[str, ...] = ()
    """Host names, and suffixes that start with a dot."""

    @classmethod
    def of(cls, entries: Iterable[str]) -> Self:
        """Parse entries of INGEST_FETCH_ALLOW: `10.1.0.0/16`, `::1`, `wiki.example`, `.example`."""
        networks: list[Network] = []
        hosts: list[str] = []
        for entry in entries:
            try:
                networks.append(ip_network(entry, strict=False))
            except ValueError:
                hosts.append(entry.lower())
        return cls(networks=tuple(networks), hosts=tuple(hosts))

    def names(self, host: str) -> bool:
        return any(
            host.endswith(known) if known.startswith(".") else host == known for known in self.hosts
        )

    def refusal(self, address: Address, *, host: str) -> str | None:
        """Why `address` of `host` may not be reached, such as `loopback`; None if it may."""
        for seen in _effective_addresses(address):
            reason = self._refusal(seen, host)
            if reason is not None:
                return reason
        return None

    def _refusal(self, address: Address, host: str) -> str | None:
        networks = [network for network in self.networks if address in network]
        for metadata in _METADATA:
            if address in metadata:
                named = any(_is_within(network, metadata) for network in networks)
                return None if named else "link-local, or that of a cloud's metadata"
        return None if networks or self.names(host) else _special(address)


def blocked_reason(url: str, *, allow: Sequence[str]) -> str | None:
    """Why this URL is never fetched, checked without the DNS; None if it may be.

    `allow`: the entries of INGEST_FETCH_ALLOW. A name that passes here may still be refused when
    it is resolved.
    """
    try:
        host = parse_url(url).host
    except Permanent as error:
        return str(error)
    return refused_host(host, AllowList.of(allow))


def refused_host(host: str, allowed: AllowList) -> str | None:
    """Why the host of a FetchTarget is refused without asking the DNS; None if it is not."""
    address = literal_address(host)
    if address is None and (host == "localhost" or host.endswith(".localhost")):
        address = IPv4Address("127.0.0.1")
    reason = None if address is None else allowed.refusal(address, host=host)
    if reason is None:
        return None
    return (
        f"the URL's host is not public: its address is {reason},"
        " and INGEST_FETCH_ALLOW does not name it"
    )


def _special(address: Address) -> str | None:
    for network, name in _REFUSED:
        if address in network:
            return name
    if address.version == 6 and address not in _GLOBAL_IPV6:
        return "reserved"
    return None


def _effective_addresses(address: Address) -> Iterator[Address]:
    """The addresses where a packet may arrive: `address`, embedded IPv4 addresses, or both."""
    if isinstance(address, IPv4Address) or int(address) <= 1:  # `::` and `::1` embed no IPv4
        yield address
        return
    packed = address.packed
    if any(address in carrier for carrier in _CARRIERS):
        yield IPv4Address(packed[12:])
    elif address in _6TO4:
        yield IPv4Address(packed[2:6])
    else:
        yield address
        yield from _tunnelled(address)


def _tunnelled(address: IPv6Address) -> Iterator[IPv4Address]:
    packed = address.packed
    if address in _TEREDO:
        yield IPv4Address(packed[4:8])
        yield IPv4Address(bytes(byte ^ 0xFF for byte in packed[12:]))
    elif address in _LOCAL_NAT64 or packed[8:12] in _ISATAP:
        yield IPv4Address(packed[12:])


def _is_within(network: Network, other: Network) -> bool:
    if isinstance(network, IPv4Network):
        return isinstance(other, IPv4Network) and network.subnet_of(other)
    return isinstance(other, IPv6Network) and network.subnet_of(other)
