"""How long tests wait before they call something hung: the one place to change it.

Limits of time only end what would wait for ever. What a test expects comes in a moment; on a
machine that is busy with other work it may take a hundred times as long, which is no failure.
"""

from datetime import timedelta
from typing import Final

PATIENCE: Final = 300.0
"""Seconds for one step: a request, a command, a process that starts or ends."""
LONG_PATIENCE: Final = 4 * PATIENCE
"""Seconds for a whole load: thousands of files, a crawl of a site."""
AGES: Final = timedelta(seconds=PATIENCE)
BROWSER_PATIENCE: Final = 60.0
"""Seconds until a page shows something: shorter, as a wrong locator waits that long too."""
