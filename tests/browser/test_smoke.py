"""The fast smoke of every `make test`: signing in, home, an experiment, the theme, and that nothing foreign runs."""

import re
from pathlib import Path

import pytest
from addresses import settled
from ground import REPORTING, Watch, assert_accessible, submit
from playwright.sync_api import BrowserContext, Page, expect

from cluster import Client, Cluster, det
from determined._version import __version__

pytestmark = pytest.mark.timeout(300)  # its limits of waiting, one after the other

HOSTILE = "<script>window.stolen = 1</script><img src=x onerror='window.stolen = 1'>"


@pytest.fixture(scope="module")
def experiment(site: Cluster, tmp_path_factory: pytest.TempPathFactory) -> int:
    """A finished experiment whose name, description and labels are markup."""
    client = Client(site.url)
    made = submit(
        client,
        tmp_path_factory.mktemp("hostile"),
        REPORTING,
        name=HOSTILE,
        description=HOSTILE,
        labels=[HOSTILE],
    )
    client.wait_state(made, "COMPLETED")
    return made


def test_sign_in_on_ones_own_machine_names_det_open_and_the_masters_own_version(page: Page) -> None:
    page.goto("/det/login")
    expect(page.get_by_role("form", name="Sign in")).to_contain_text("run det open to sign in")
    expect(page.get_by_text(f"version {__version__}")).to_be_visible()


def test_a_person_signs_in_comes_home_and_signs_out(page: Page) -> None:
    page.goto("/")
    expect(page).to_have_url(re.compile(r"/det/login"))
    page.get_by_label(re.compile("user", re.I)).first.fill("determined")
    page.get_by_role("button", name=re.compile("sign in", re.I)).click()
    expect(page).to_have_url(re.compile(r"/det/dashboard"))
    settled(page)
    assert page.evaluate("document.cookie") == ""
    assert_accessible(page)
    page.goto("/det/logout")
    expect(page).to_have_url(re.compile(r"/det/login"))
    page.goto("/det/dashboard")
    expect(page).to_have_url(re.compile(r"/det/login"))


def test_a_wrong_password_is_said(page: Page) -> None:
    page.goto("/det/login")
    page.get_by_label(re.compile("user", re.I)).first.fill("determined")
    page.get_by_label(re.compile("^password", re.I)).first.fill("wrong")
    page.get_by_role("button", name=re.compile("sign in", re.I)).click()
    expect(page.get_by_text(re.compile("user or password is wrong", re.I))).to_be_visible()


def test_a_copied_address_asks_who_is_there_and_then_shows_what_it_names(page: Page, experiment: int) -> None:
    page.goto(f"/det/experiments/{experiment}")
    expect(page).to_have_url(re.compile(r"/det/login\?redirect="))
    page.get_by_label(re.compile("user", re.I)).first.fill("determined")
    page.get_by_role("button", name=re.compile("sign in", re.I)).click()
    expect(page).to_have_url(re.compile(rf"/det/experiments/{experiment}"))
    expect(page.get_by_text("<script>", exact=False).first).to_be_visible()


def test_the_address_of_det_open_opens_signed_in_once(
    page: Page, site: Cluster, experiment: int, tmp_path: Path
) -> None:
    def fresh() -> str:
        return det(tmp_path, "open", "experiment", str(experiment), "--print-only", master=site.url).stdout.strip()

    page.goto(fresh().partition("#")[0])
    expect(page.get_by_role("button", name=re.compile("sign in", re.I))).to_be_visible()
    address = fresh()  # one lives for a minute: the page has come before it is made
    page.goto(address)  # in a tab that shows the sign-in only the fragment changes
    expect(page).to_have_url(re.compile(rf"/det/experiments/{experiment}"))
    expect(page.get_by_text("<script>", exact=False).first).to_be_visible()
    page.context.clear_cookies()
    page.goto(address)
    expect(page.get_by_text(re.compile("used or is too old"))).to_be_visible()


def test_markup_in_names_stays_text(signed_in: Page, experiment: int) -> None:
    for path in (
        f"/det/experiments/{experiment}",
        f"/det/experiments/{experiment}/logs",
        "/det/projects/1/experiments",
    ):
        signed_in.goto(path)
        expect(signed_in.get_by_text("<script>window.stolen", exact=False).first).to_be_visible()
        assert signed_in.evaluate("window.stolen") is None, path
        assert signed_in.locator("img[src=x], script:not([src])").count() == 0, path


def test_an_experiment_is_shown_with_its_state_and_without_serious_findings(signed_in: Page, experiment: int) -> None:
    signed_in.goto(f"/det/experiments/{experiment}")
    expect(signed_in.get_by_text("Completed").first).to_be_visible()
    settled(signed_in)
    assert_accessible(signed_in)


def test_the_theme_is_switched_and_stays(signed_in: Page) -> None:
    signed_in.goto("/det/settings")
    before = _background(signed_in)
    signed_in.get_by_label(re.compile("^dark", re.I)).first.check(force=True)
    expect(signed_in.locator("html")).to_have_attribute("data-theme", "dark")
    # Chromium may draw a frame before colours of the new scheme are computed
    signed_in.wait_for_function(
        "before => getComputedStyle(document.documentElement).backgroundColor !== before", arg=before
    )
    signed_in.reload()
    assert signed_in.locator("html").get_attribute("data-theme") == "dark"
    settled(signed_in)
    assert_accessible(signed_in)


def test_what_a_script_smuggled_in_could_do_is_refused(signed_in: Page, watch: Watch) -> None:
    watch.allow("Content Security Policy")
    signed_in.goto("/det/dashboard")
    signed_in.evaluate("""() => {
        const inline = document.createElement("script");
        inline.textContent = "window.stolen = 1";
        document.head.append(inline);
    }""")
    assert signed_in.evaluate("window.stolen") is None
    refused = signed_in.evaluate("() => fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')")
    assert refused == "refused"
    watch.foreign.clear()


def test_another_site_cannot_act_in_the_name_of_who_is_signed_in(
    context: BrowserContext, signed_in: Page, site: Cluster, watch: Watch
) -> None:
    """A page of another origin posts with the browser's cookies: a form needs no permission to be sent."""
    watch.allow("403|Content Security Policy")
    elsewhere = site.url.replace("127.0.0.1", "localhost")
    form = f"<form method=post action='{site.url}/api/v1/workspaces' enctype='text/plain'><input name='x'></form>"
    context.route(f"{elsewhere}/evil", lambda route: route.fulfill(content_type="text/html", body=form))
    signed_in.goto(f"{elsewhere}/evil")
    with signed_in.expect_navigation() as sent:
        signed_in.evaluate("() => document.forms[0].submit()")
    assert sent.value is not None
    assert sent.value.status in (401, 403)
    watch.foreign.clear()


def _background(page: Page) -> str:
    found: str = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    return found
