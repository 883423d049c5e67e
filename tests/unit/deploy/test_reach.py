"""What `cluster-up` says about who can reach the master."""

from determined.deploy import reachability


def test_a_master_on_loopback_says_that_others_cannot_reach_it_and_how_they_could() -> None:
    (said,) = reachability.describe("http://127.0.0.1:8080", "127.0.0.1")
    assert "Only this machine" in said and "--host 0.0.0.0" in said


def test_a_master_on_every_address_names_one_that_others_can_use_and_misses_tls() -> None:
    address, missing = reachability.describe("http://127.0.0.1:8080", "0.0.0.0")
    assert "Others reach it at http://" in address and ":8080" in address
    assert "127.0.0.1" not in address and "0.0.0.0" not in address
    assert "security.tls" in missing


def test_a_master_with_tls_on_an_address_of_its_own_has_nothing_missing() -> None:
    assert reachability.describe("https://10.0.0.7:8443", "10.0.0.7") == [
        "Others reach it at https://10.0.0.7:8443: det -m https://10.0.0.7:8443 user login NAME"
    ]
