"""The report in a real browser: nothing loaded or complained of, usable by keyboard, at three widths, by night."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path

import pytest

import loralint
from loralint.engine.settings import Settings
from loralint.model import Report, Run, Series, Table
from loralint.render import render

from .conftest import BAD, BLOCK, GOOD

pytest.importorskip("jinja2")
webdriver = pytest.importorskip("selenium.webdriver")
axe = pytest.importorskip("axe_core_python.selenium")

from selenium.webdriver.chrome.service import Service  # noqa: E402 - skipped above where it is not installed
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
)  # fmt: skip
HOSTILE = GOOD + "note: \"</script><script>document.title='x'</script><img src=http://localhost/x onerror=alert(1)>\"\n"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    program, driver = next(filter(None, map(shutil.which, BROWSERS)), None), shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("no Chromium with its driver here")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=Service(driver))
    started.set_script_timeout(120)
    yield started
    started.quit()


def _probed(report: Report) -> Report:
    """The report with what a probe would have measured of its first run."""
    verdict = Table("verdict", "probe: UNSTABLE.", ("what", "value"), (("rate", 0.02), ("edge_rate", 0.004)))
    inputs = Table(
        "inputs", "inputs: the largest", ("module", "median norm", "max"), (("model.mlp.down_proj", 1.0, 8.0),)
    )
    ramp = Series("ramp", "learning rate", "loss", ((1e-5, 0.0), (1e-3, 0.2), (1e-2, 1.5), (1e-1, None)))
    runs = (report.runs[0]._replace(tables=(verdict, inputs), series=(ramp,)), *report.runs[1:])
    return report._replace(runs=runs)


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, str]:
    """Name -> address of a page on one bad run that was probed, a good one, a hostile one, and on several."""
    folder = tmp_path_factory.mktemp("pages")
    texts = {"block": BLOCK, "good": GOOD, "hostile": HOSTILE, "review": BAD}
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")

    def checked(*names: str) -> Report:
        paths = [folder / f"{name}.yaml" for name in names]
        return loralint.check(paths, settings=Settings(), figures=True, gpu="A100-80GB")

    skipped = Run(("big.yaml",), None, 100, "pass", ())
    several = checked(*texts)
    reports = {
        "bad": _probed(checked("block")),
        "good": checked("good"),
        "hostile": checked("hostile"),
        "several": several._replace(runs=(*several.runs, skipped)),
    }
    for name, report in reports.items():
        (folder / f"{name}.html").write_text(render("html", report, color=False), encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in reports}


def _open(browser, address: str, width: int = 1440, scheme: str = "light") -> None:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    )
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    browser.get("about:blank")
    for kind in ("browser", "performance"):
        browser.get_log(kind)
    browser.get(address)


def _asked(browser) -> set[str]:
    """Addresses that the page asked for."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return {one["params"]["request"]["url"] for one in events if one["method"] == "Network.requestWillBeSent"}


def _faults(browser) -> list[str]:
    found = axe.Axe().run(browser, {"exclude": [["details.run:not([open])"]]})["violations"]
    return [f"{one['id']}: {[node['html'][:150] for node in one['nodes']][:3]}" for one in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1440])
@pytest.mark.parametrize("name", ["bad", "several"])
def test_it_fits_loads_nothing_and_can_be_read_by_everybody(browser, pages, name, width, scheme):
    _open(browser, pages[name], width, scheme)
    opened = "details.run:first-of-type" if name == "several" else "details"
    browser.execute_script(f"document.querySelectorAll('{opened}').forEach((one) => {{ one.open = true; }})")
    assert browser.get_log("browser") == []
    assert _asked(browser) == {pages[name]}
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    if (width, scheme) in {(360, "light"), (1440, "dark")}:  # axe takes its time
        assert _faults(browser) == []


@pytest.mark.parametrize("name", ["good", "hostile"])
def test_what_a_config_holds_stays_text(browser, pages, name):
    _open(browser, pages[name])
    assert browser.title == f"loralint: {Path(pages[name].removeprefix('file://')).with_suffix('.yaml')}: " + (
        "pass" if name == "good" else browser.title.rpartition(" ")[2]
    )
    assert browser.get_log("browser") == []
    assert _asked(browser) == {pages[name]}


def test_the_policy_lets_no_other_script_run(browser, pages):
    _open(browser, pages["good"])
    ran = browser.execute_script(
        "const one = document.createElement('script'); one.textContent = 'document.title = \"x\"';"
        "document.body.append(one); return document.title"
    )
    assert ran != "x"
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))


def test_day_and_night_are_switched_by_keyboard(browser, pages):
    _open(browser, pages["good"])
    body = "return getComputedStyle(document.documentElement).backgroundColor"
    light = browser.execute_script(body)
    keys = browser.find_element(By.TAG_NAME, "body")
    keys.send_keys(Keys.TAB)
    assert browser.switch_to.active_element.text == "Skip to the report"
    browser.switch_to.active_element.send_keys(Keys.TAB)
    button = browser.switch_to.active_element
    assert button.get_attribute("id") == "theme"
    button.send_keys(Keys.ENTER)
    assert button.get_attribute("aria-pressed") == "true"
    assert browser.execute_script(body) != light
    button.send_keys(Keys.SPACE)
    assert browser.execute_script(body) == light


def test_parts_that_are_folded_open_by_keyboard(browser, pages):
    _open(browser, pages["good"])
    for summary in browser.find_elements(By.CSS_SELECTOR, "main summary"):
        summary.send_keys(Keys.ENTER)
    assert browser.execute_script("return document.querySelectorAll('main details:not([open])').length") == 0


def _names(browser) -> list[str]:
    rows = browser.find_elements(By.CSS_SELECTOR, "#index tbody tr")
    return [Path(row.find_element(By.TAG_NAME, "a").text).stem for row in rows if row.is_displayed()]


def test_the_index_is_sorted_by_its_heads(browser, pages):
    _open(browser, pages["several"])
    assert _names(browser) == ["block", "good", "hostile", "review"]
    head = next(one for one in browser.find_elements(By.CSS_SELECTOR, "#index th button") if one.text == "score")
    scores = "return [...document.querySelectorAll('#index tbody tr')].map((row) => Number(row.cells[3].textContent))"
    head.send_keys(Keys.ENTER)
    assert browser.execute_script(scores) == sorted(browser.execute_script(scores))
    head.send_keys(Keys.SPACE)
    assert browser.execute_script(scores) == sorted(browser.execute_script(scores), reverse=True)
    marked = browser.find_elements(By.CSS_SELECTOR, "#index th[aria-sort]")
    assert [one.get_attribute("aria-sort") for one in marked] == ["descending"]


def test_the_index_is_filtered_by_words_rules_and_verdicts(browser, pages):
    _open(browser, pages["several"])
    words = browser.find_element(By.ID, "words")
    words.send_keys("LL303")
    assert _names(browser) == ["block"]
    assert browser.find_element(By.ID, "shown").text == "1 of 4 runs"
    assert len([one for one in browser.find_elements(By.CSS_SELECTOR, "details.run") if one.is_displayed()]) == 1
    words.clear()
    words.send_keys("axolotl good")
    assert _names(browser) == ["good"]
    words.clear()
    words.send_keys(Keys.SPACE)
    for button in browser.find_elements(By.CSS_SELECTOR, "#filter button"):
        if button.text != "pass":
            button.send_keys(Keys.ENTER)
    assert "block" not in _names(browser)
    assert "good" in _names(browser)


def test_a_link_opens_the_run_or_rule_that_it_leads_to(browser, pages):
    _open(browser, pages["several"])
    section = browser.find_element(By.ID, "run-1")
    assert section.get_attribute("open") is None
    browser.find_element(By.CSS_SELECTOR, "#index a[href='#run-1']").send_keys(Keys.ENTER)
    WebDriverWait(browser, 10).until(lambda _: section.get_attribute("open") is not None)
    _open(browser, pages["several"] + "#findings-4")
    assert browser.find_element(By.ID, "run-4").get_attribute("open") is not None


def test_on_paper_everything_that_shows_is_unfolded(browser, pages):
    _open(browser, pages["bad"])
    folded = "return document.querySelectorAll('main details:not([open])').length"
    before = browser.execute_script(folded)
    browser.execute_script(f"addEventListener('beforeprint', () => {{ window.seen = (() => {{ {folded} }})(); }})")
    made = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert made.startswith(b"%PDF-")
    assert before > 0
    assert browser.execute_script("return window.seen") == 0
    assert browser.execute_script(folded) == before
