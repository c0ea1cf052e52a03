"""GET /docs: the API for people. All that the page loads is in this installation."""

import base64
import hashlib
import re
from typing import Final

from fastapi import FastAPI, Request
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse

from api.middleware.security_headers import CONTENT_POLICY, NO_EMBEDDING

STATIC: Final = "/static-offline-docs"
_INLINE_SCRIPT: Final = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


def add_docs_page(app: FastAPI) -> None:
    """Serve the page."""

    @app.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> HTMLResponse:
        root = request.scope.get("root_path", "")
        page = get_swagger_ui_html(
            openapi_url=f"{root}{app.openapi_url}",
            title=f"{app.title} API",
            swagger_js_url=f"{root}{STATIC}/swagger-ui-bundle.js",
            swagger_css_url=f"{root}{STATIC}/swagger-ui.css",
            swagger_favicon_url=f"{root}{STATIC}/favicon.png",
            swagger_ui_parameters={"validatorUrl": None},  # else it asks a service on the internet
        )
        page.headers[CONTENT_POLICY] = _policy(bytes(page.body))
        return page


def _policy(page: bytes) -> str:
    """Scripts of this server and those of this very page; styles and requests of this server."""
    digests = (hashlib.sha256(script).digest() for script in _INLINE_SCRIPT.findall(page))
    scripts = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; "
        f"img-src 'self' data:; connect-src 'self'; {NO_EMBEDDING}"
    )
