"""What was made of files and pages: documents, their chunks, their bytes."""

from typing import Final

from api.routes.documents import chunks, documents, originals

ROUTERS: Final = (documents.router, originals.router, chunks.router)
