"""Checks of a page by axe, in both themes."""

import json
from typing import Final, Literal

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

Theme = Literal["light", "dark"]
THEMES: Final[tuple[Theme, ...]] = ("light", "dark")

_GRAVE: Final = ("serious", "critical")


def axe(page: Page) -> list[str]:
    """The serious and critical faults of the page as it is: rule, element, what is wrong."""
    # By the protocol of the browser: page.evaluate is an eval, which the content policy forbids.
    protocol = page.context.new_cdp_session(page)
    protocol.send("Runtime.evaluate", {"expression": AXE_SCRIPT})
    answer = protocol.send(
        "Runtime.evaluate",
        {
            "expression": 'axe.run({resultTypes: ["violations"]}).then((r) => '
            "JSON.stringify(r.violations))",
            "awaitPromise": True,
            "returnByValue": True,
        },
    )
    protocol.detach()
    return [
        f"{violation['id']}: {node['target']}: {node['failureSummary']}"
        for violation in json.loads(answer["result"]["value"])
        for node in violation["nodes"]
        if node["impact"] in _GRAVE
    ]


def check_accessibility(page: Page) -> None:
    """Fail if axe finds a serious fault in the light or in the dark theme."""
    faults = []
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        faults += [f"{theme}: {fault}" for fault in axe(page)]
    page.emulate_media(color_scheme=None)
    if faults:
        raise AssertionError("\n".join(faults))
