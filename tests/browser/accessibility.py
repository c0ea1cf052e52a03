"""Checks of a page by axe, in both themes."""

import json
from typing import Final, Literal

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import CDPSession, Page

Theme = Literal["light", "dark"]
THEMES: Final[tuple[Theme, ...]] = ("light", "dark")

_GRAVE: Final = ("serious", "critical")
_RUN: Final = 'axe.run({resultTypes: ["violations"]}).then((r) => JSON.stringify(r.violations))'


def check_accessibility(page: Page) -> None:
    """Fail if axe finds a serious fault in the light or in the dark theme."""
    if faults := axe(page):
        raise AssertionError("\n".join(faults))


def axe(page: Page) -> list[str]:
    """The serious and critical faults of the page as it is: theme, rule, element, what is wrong."""
    # By the protocol of the browser: page.evaluate is an eval, which the content policy forbids.
    protocol = page.context.new_cdp_session(page)
    protocol.send("Runtime.evaluate", {"expression": AXE_SCRIPT})
    faults = []
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        faults += [f"{theme}: {fault}" for fault in _faults(protocol)]
    page.emulate_media(color_scheme=None)
    protocol.detach()
    return faults


def _faults(protocol: CDPSession) -> list[str]:
    answer = protocol.send(
        "Runtime.evaluate", {"expression": _RUN, "awaitPromise": True, "returnByValue": True}
    )
    return [
        f"{violation['id']}: {node['target']}: {node['failureSummary']}"
        for violation in json.loads(answer["result"]["value"])
        for node in violation["nodes"]
        if node["impact"] in _GRAVE
    ]
