"""Every address of the page in both themes and at both widths: it renders, is accessible, and complains of nothing."""

import re

import pytest
from addresses import ADDRESSES, ended_experiments, settled
from ground import assert_accessible
from playwright.sync_api import Page, expect

from cluster import Client, Cluster

pytestmark = pytest.mark.browser

REDIRECTS = {
    "": "dashboard",
    "cluster": "clusters",
    "cluster/logs": "clusters/logs",
    "logs": "clusters/logs",
    "jobs": "clusters",
    "projects": "projects/1/experiments",
    "admin": "admin/user-management",
}


@pytest.fixture(scope="module")
def named(site: Cluster, tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    return ended_experiments(Client(site.url), tmp_path_factory.mktemp("experiments"))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("address", ADDRESSES)
def test_a_page_renders_without_complaint_or_serious_finding(
    signed_in: Page, named: dict[str, int], address: str, theme: str
) -> None:
    signed_in.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    signed_in.goto(f"/det/{address.format(**named)}")
    settled(signed_in)
    assert_accessible(signed_in)


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_page_fits_a_narrow_phone(signed_in: Page, named: dict[str, int], address: str) -> None:
    signed_in.set_viewport_size({"width": 320, "height": 640})
    signed_in.goto(f"/det/{address.format(**named)}")
    settled(signed_in)
    excess = signed_in.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert excess == 0, f"{address} is {excess} px too wide for a screen of 320"


@pytest.mark.parametrize("path", REDIRECTS)
def test_an_older_address_leads_to_its_page(signed_in: Page, path: str) -> None:
    signed_in.goto(f"/det/{path}")
    expect(signed_in).to_have_url(re.compile(rf"/det/{re.escape(REDIRECTS[path])}$"))
