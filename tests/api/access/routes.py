"""Every route with the role that it needs and a body, and how tests call it."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID, uuid4

import httpx

from tests.api.helpers import upload

SOURCE = "/api/knowledge-sources/{id}"
BATCH = "/api/batches/{id}"
COLLECTION = "/api/collections/{id}"
KEYS = "/api/applications/{id}/keys"
HOOK = "/api/webhook-endpoints/{id}"


ROLES: Final = {
    "POST /upload/documents": "editor",
    "POST /upload/check": "editor",
    "POST /upload/url": "editor",
    "GET /upload/url": "editor",
    "POST /upload/url/check": "editor",
    "GET /api/knowledge-sources": "viewer",
    "GET /api/knowledge-sources/counts": "viewer",
    "GET /api/knowledge-sources/export": "viewer",
    "POST /api/knowledge-sources/bulk": "editor",
    f"GET {SOURCE}": "viewer",
    f"PATCH {SOURCE}": "editor",
    f"DELETE {SOURCE}": "editor",
    f"POST {SOURCE}/cancel": "editor",
    f"POST {SOURCE}/retry": "editor",
    f"POST {SOURCE}/rescrape": "editor",
    f"POST {SOURCE}/read-again": "editor",
    f"GET {SOURCE}/crawls": "viewer",
    f"GET {SOURCE}/pages": "viewer",
    f"GET {SOURCE}/children": "viewer",
    f"GET {SOURCE}/documents": "viewer",
    f"GET {SOURCE}/chunks": "viewer",
    f"GET {SOURCE}/events": "viewer",
    f"GET {SOURCE}/stream": "viewer",
    "GET /api/collections": "viewer",
    "POST /api/collections": "editor",
    f"GET {COLLECTION}": "viewer",
    f"PATCH {COLLECTION}": "editor",
    f"DELETE {COLLECTION}": "editor",
    f"POST {COLLECTION}/knowledge-sources": "editor",
    "GET /api/knowledge-source/{id}/progress": "viewer",
    "GET /api/documents/{id}": "viewer",
    "GET /api/documents/{id}/text": "viewer",
    "GET /api/documents/{id}/original": "viewer",
    "GET /api/documents/{id}/left-out": "viewer",
    "GET /api/documents/{id}/pages": "viewer",
    "GET /api/documents/{id}/pages/{page}.png": "viewer",
    "GET /api/documents/{id}/pages/{page}/places": "viewer",
    "GET /api/documents/{id}/chunks": "viewer",
    "GET /api/chunks/{id}": "viewer",
    "GET /api/chunks/{id}/section": "viewer",
    "POST /api/preview": "editor",
    "GET /api/batches": "viewer",
    f"GET {BATCH}": "viewer",
    f"GET {BATCH}/report": "viewer",
    f"POST {BATCH}/retry-failed": "editor",
    f"POST {BATCH}/cancel": "editor",
    "GET /api/jobs": "viewer",
    "GET /api/jobs/counts": "viewer",
    "GET /api/jobs/export": "viewer",
    "POST /api/jobs": "editor",
    "POST /api/jobs/bulk": "editor",
    "POST /api/jobs/retry-failed": "editor",
    "POST /api/jobs/trigger": "operator",
    "GET /api/jobs/{id}": "viewer",
    "GET /api/jobs/{id}/logs": "viewer",
    "DELETE /api/jobs/{id}": "editor",
    "POST /api/jobs/{id}/retry": "editor",
    "POST /api/jobs/{id}/cancel": "editor",
    "POST /api/jobs/{id}/approve": "editor",
    "POST /api/jobs/{id}/reject": "editor",
    "POST /api/search": "viewer",
    "PUT /api/judgements": "editor",
    "GET /api/judgements": "viewer",
    "DELETE /api/judgements/{id}": "editor",
    "GET /api/judgement-sets": "viewer",
    "DELETE /api/judgement-sets/{name}": "editor",
    "GET /api/judgement-sets/{name}/export": "viewer",
    "GET /api/judgement-sets/{name}/questions": "viewer",
    "POST /api/judgement-sets/{name}/evaluate": "viewer",
    "POST /api/tickets": "viewer",
    "GET /api/me": "viewer",
    "POST /api/session/codes": "operator",
    "GET /api/usage": "viewer",
    "GET /api/overview": "viewer",
    "GET /api/activity": "viewer",
    "GET /api/workers": "viewer",
    "GET /api/settings": "operator",
    "GET /api/reembed": "admin",
    "POST /api/reembed": "admin",
    "POST /api/reembed/all": "operator",
    "GET /api/applications": "operator",
    "POST /api/applications": "operator",
    "GET /api/applications/{id}": "admin",
    "PATCH /api/applications/{id}": "admin",
    f"GET {KEYS}": "admin",
    f"POST {KEYS}": "admin",
    f"DELETE {KEYS}/{{keyId}}": "admin",
    "GET /api/schedules": "viewer",
    "GET /api/schedules/next": "viewer",
    "GET /api/schedules/nightly": "viewer",
    "GET /api/schedules/ticks": "operator",
    "GET /api/job-types": "viewer",
    "GET /api/job-types/counts": "operator",
    "POST /api/job-types": "operator",
    "PATCH /api/job-types/{type}": "operator",
    "DELETE /api/job-types/{type}": "operator",
    "GET /api/worker/config": "operator",
    "GET /api/worker/desired": "viewer",
    "PUT /api/worker/config": "operator",
    "GET /api/worker/provider": "operator",
    "POST /api/worker/provider/pause": "operator",
    "DELETE /api/worker/provider/pause": "operator",
    "POST /api/worker/provider/resume": "operator",
    "GET /api/webhook-endpoints": "admin",
    "POST /api/webhook-endpoints": "admin",
    f"GET {HOOK}": "admin",
    f"PATCH {HOOK}": "admin",
    f"DELETE {HOOK}": "admin",
    f"POST {HOOK}/rotate-secret": "admin",
    f"POST {HOOK}/test": "admin",
    f"GET {HOOK}/deliveries": "admin",
    f"GET {HOOK}/deliveries/{{deliveryId}}": "admin",
    f"POST {HOOK}/deliveries/{{deliveryId}}/replay": "admin",
}


# The webhook is signed; sessions are in test_sessions.py.
OPEN: Final = {
    *("GET /healthz", "GET /readyz", "GET /metrics", "POST /api/webhooks/firecrawl"),
    *("POST /api/session", "DELETE /api/session"),
}


BODIES: Final[Mapping[str, Any]] = {
    "POST /upload/check": {"files": [{"path": "secret.txt", "sha256": "0" * 64}]},
    f"PATCH {SOURCE}": {"name": "mine now"},
    "POST /api/collections": {"name": "new"},
    f"PATCH {COLLECTION}": {"name": "mine now"},
    f"POST {COLLECTION}/knowledge-sources": {"remove": [str(UUID(int=1))]},
    "POST /api/search": {"query": "secret"},
    "PUT /api/judgements": {"query": "secret", "chunkId": str(UUID(int=1)), "grade": 1},
    "POST /api/judgement-sets/{name}/evaluate": {"settings": [{}]},
    "POST /api/applications": {"name": "new"},
    "PATCH /api/applications/{id}": {"name": "mine now"},
    f"POST {KEYS}": {"name": "back door", "role": "admin"},
    "POST /api/jobs": {"type": "file", "payload": {"blobKey": "secret"}},
    "POST /api/jobs/retry-failed": {"type": "file"},
    "POST /api/jobs/bulk": {"action": "cancel", "filter": {}},
    "POST /api/knowledge-sources/bulk": {"action": "delete", "filter": {}},
    "POST /api/job-types": {"type": "mine"},
    "PATCH /api/job-types/{type}": {},
    "PUT /api/worker/config": {"paused": False},
    "POST /api/worker/provider/pause": {"name": "static"},
    "POST /api/webhook-endpoints": {"url": "https://x.example", "events": ["job.failed"]},
    f"PATCH {HOOK}": {"url": "https://thief.example"},
}
NAMED: Final = [route for route in ROLES if "{id}" in route]
RANKS: Final = ("viewer", "editor", "admin", "operator")


def seen(answer: httpx.Response) -> tuple[int, str]:
    """Status and code of a problem."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    return answer.status_code, answer.json()["code"]


def nobodys(route: str) -> str:
    path = route.partition(" ")[2]
    return path.format(
        id=uuid4(), keyId=uuid4(), deliveryId=uuid4(), type="none", name="none", page=1
    )


async def call(client: httpx.AsyncClient, route: str, url: str) -> httpx.Response:
    method = route.partition(" ")[0]
    if route == "POST /upload/documents":
        return await upload(client, {"x.txt": b"x"})
    return await client.request(method, url, json=BODIES.get(route))
