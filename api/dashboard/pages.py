"""Serves the dashboard: the page at `/` for browsers, and what it loads below `/assets`."""

from pathlib import Path
from typing import Final

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.exceptions import HTTPException

from api.dashboard.files import PAGE, BuiltFiles

STATIC: Final = Path(__file__).parent / "static"
"""The folder of the built files."""

_NOT_BUILT: Final = """\
<!doctype html>
<html lang="en"><title>rag-ingest</title>
<h1>The dashboard is not built</h1>
<p>This installation lacks its files. In a checkout of the source, build them:
<pre>cd dashboard &amp;&amp; npm ci &amp;&amp; npm run build</pre>
<p>The API works without them: <a href="docs">its documentation</a>.
</html>
"""


def add_start_page(app: FastAPI, folder: Path | None, *, has_docs: bool) -> None:
    """Serve `/`: the dashboard in `folder` for browsers, if there is one; for the rest, the way to
    the documentation, if there is one."""
    files = None if folder is None else BuiltFiles(folder)

    @app.get("/", include_in_schema=False)
    async def start(request: Request) -> Response:
        if files is not None and _wants_page(request):
            page = files.get(PAGE)
            return HTMLResponse(_NOT_BUILT, 503) if page is None else page.response(request)
        if not has_docs:
            raise HTTPException(404)
        docs = f"{request.scope.get('root_path', '')}/docs"
        return RedirectResponse(docs, headers={"Vary": "Accept"})

    if files is not None:

        @app.api_route("/assets/{name:path}", methods=["GET", "HEAD"], include_in_schema=False)
        async def asset(request: Request, name: str) -> Response:
            file = files.get(f"assets/{name}")
            if file is None:
                raise HTTPException(404)
            return file.response(request)


def _wants_page(request: Request) -> bool:
    """Browsers name the type; `*/*` is what programs send."""
    accepted = request.headers.get("accept", "").split(",")
    return any(part.partition(";")[0].strip().lower() == "text/html" for part in accepted)
