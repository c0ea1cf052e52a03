"""Which URLs are refused before anything is sent, and what the operator's list opens."""

from ipaddress import ip_address

import pytest

from ingest.providers.fetch.allowed_addresses import AllowList, blocked_reason

REFUSED_URLS = [
    # other schemes, and none
    "ftp://example.com/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:25/",
    "example.com",
    "//example.com/",
    "",
    # credentials, ports, characters that parsers disagree about
    "http://user:secret@example.com/",
    "http://@example.com/",
    "http://example.com:0/",
    "http://example.com:65536/",
    "http://example.com:80:80/",
    "http://example.com\\@127.0.0.1/",
    "http:\\\\127.0.0.1/",
    "http:///127.0.0.1/",
    "http://exa\tmple.com/",
    "http://example.com/\r\nHost: other",
    "http://exa mple.com/",
    "http://example..com/",
    "http://[::1/",
    "http://[v1.x]/",
    "http://example.com/\ud800",
    "http://" + 64 * "a" + ".com/",
    "http://" + 64 * "abcd." + "com/",
    "http://example.com/" + 9000 * "a",
    "http://\u0378.example/",
    # loopback in every spelling
    "http://127.0.0.1/",
    "http://127.8.9.1/",
    "http://127.0.0.1./",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://app.localhost/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://017700000001/",
    "http://0177.0.0.1/",
    "http://0x7f.0.0.1/",
    "http://127.1/",
    "http://127.0.0.01/",
    "http://1.2.3.4.5/",
    "http://0/",
    "http://0x/",
    "http://%31%32%37.0.0.1/",
    "http://\uff11\uff12\uff17.0.0.1/",
    "http://127\u30020\u30020\u30021/",
    "http://\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    # IPv4 that is not public
    "http://0.0.0.0/",
    "http://10.0.0.1/",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://172.16.0.1/",
    "http://172.20.0.1/",
    "http://172.31.255.255/",
    "http://192.0.0.1/",
    "http://192.0.2.1/",
    "http://192.88.99.1/",
    "http://192.168.1.1/",
    "http://198.18.0.1/",
    "http://198.19.255.255/",
    "http://198.51.100.1/",
    "http://203.0.113.1/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://168.63.129.16/",
    # IPv6 that is not public
    "http://[::]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://[fec0::1]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/",
    "http://[ff02::1]/",
    "http://[100::1]/",
    "http://[2001:db8::1]/",
    "http://[2001:2::1]/",
    "http://[3fff::1]/",
    "http://[5f00::1]/",
    "http://[4000::1]/",
    # IPv6 that holds such an IPv4 address
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[64:ff9b::10.0.0.1]/",
    "http://[64:ff9b:1::10.0.0.1]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:a9fe:a9fe::1]/",
    "http://[2001:0:a00:1::f7f7:f7f7]/",
    "http://[2001:0:808:808::f5ff:fffe]/",
    "http://[2a00::5efe:10.0.0.1]/",
]


@pytest.mark.parametrize("url", REFUSED_URLS)
def test_url_of_a_private_address_is_refused(url: str) -> None:
    assert blocked_reason(url, allow=()) is not None


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com",
        "HTTPS://EXAMPLE.COM:443/a?b#c",
        "http://example.com:8080/",
        "http://example.com./",
        "http://my_site.example.com/",
        "http://\u4f8b\u3048.jp/\u00e4 b?\u00fc=1",
        "http://8.8.8.8/",
        "http://172.32.0.1/",
        "http://100.128.0.1/",
        "http://[2606:4700::1111]/",
        "http://[::ffff:8.8.8.8]/",
        "http://[64:ff9b::808:808]/",
        "http://[2002:808:808::]/",
        "http://7.example/",
        "http://0x7f.example/",
        "http://localhost.example/",
    ],
)
def test_a_public_url_may_be_fetched(url: str) -> None:
    assert blocked_reason(url, allow=()) is None


def test_the_reason_never_quotes_the_url() -> None:
    reason = blocked_reason("http://me:hunter2@example.com/?token=hunter2", allow=())

    assert reason == "the URL contains a user name or password"


def test_the_reason_names_the_setting_that_would_allow_it() -> None:
    assert blocked_reason("http://10.1.2.3/", allow=()) == (
        "the URL's host is not public: its address is private,"
        " and INGEST_FETCH_ALLOW does not name it"
    )


@pytest.mark.parametrize(
    ("url", "allow"),
    [
        ("http://10.1.2.3/", "10.1.0.0/16"),
        ("http://10.1.2.3/", "10.1.2.3"),
        ("http://[fd12::1]/", "fd12::/16"),
        ("http://[::1]/", "::1"),
        ("http://[::ffff:10.1.2.3]/", "10.1.0.0/16"),
        ("http://127.0.0.1/", "127.0.0.0/8"),
        ("http://localhost/", "localhost"),
        ("http://app.localhost/", ".localhost"),
        ("http://169.254.169.254/", "169.254.169.254"),
        ("http://169.254.169.254/", "169.254.0.0/16"),
        ("http://[fd00:ec2::254]/", "fd00:ec2::254"),
    ],
)
def test_the_operator_can_allow_a_network_an_address_or_a_host(url: str, allow: str) -> None:
    assert blocked_reason(url, allow=()) is not None
    assert blocked_reason(url, allow=("192.168.77.0/24", allow)) is None


@pytest.mark.parametrize(
    ("url", "allow"),
    [
        ("http://10.2.0.1/", "10.1.0.0/16"),
        ("http://localhost/", ".localhost"),
        ("http://notlocalhost.localhost/", "localhost"),
        ("http://2130706433/", "127.0.0.0/8"),
        ("http://user@127.0.0.1/", "127.0.0.0/8"),
        ("http://127.0.0.1:0/", "127.0.0.0/8"),
        ("http://[2001:0:a00:1::f7f7:f7f7]/", "2001::/32"),
        ("http://[64:ff9b:1::10.0.0.1]/", "64:ff9b:1::/48"),
    ],
)
def test_allowed_network_does_not_open_others(url: str, allow: str) -> None:
    assert blocked_reason(url, allow=(allow,)) is not None


@pytest.mark.parametrize("address", ["169.254.169.254", "fd00:ec2::254", "100.100.100.200"])
def test_the_metadata_address_is_opened_by_its_own_network_only(address: str) -> None:
    broad = AllowList.of(["0.0.0.0/0", "::/0", "100.64.0.0/10", "metadata.internal"])
    exact = AllowList.of([address])

    assert broad.refusal(ip_address(address), host="metadata.internal") is not None
    assert exact.refusal(ip_address(address), host="metadata.internal") is None
