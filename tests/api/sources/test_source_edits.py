"""Names and metadata of a source: what may be changed, and into what."""

import json
from typing import Any

import httpx
import pytest

from tests.api.helpers import upload

SOURCES = "/api/knowledge-sources"


async def add(client: httpx.AsyncClient, path: str = "a.txt", data: bytes = b"a") -> dict[str, str]:
    file: dict[str, str] = (await upload(client, {path: data})).json()["files"][0]
    return file


async def test_name_and_metadata_can_be_changed_apart(editor: httpx.AsyncClient) -> None:
    file = await add(editor)
    url = f"{SOURCES}/{file['knowledgeSourceId']}"

    named = (await editor.patch(url, json={"name": "New name"})).json()
    tagged = (await editor.patch(url, json={"metadata": {"k": ["v"]}})).json()

    assert (named["name"], named["metadata"]) == ("New name", {})
    assert (tagged["name"], tagged["metadata"]) == ("New name", {"k": ["v"]})
    assert tagged["eventSeq"] == named["eventSeq"] + 1


async def test_unstorable_characters_are_removed_from_metadata(editor: httpx.AsyncClient) -> None:
    file = await add(editor)
    odd = {"name": "a\u0000b\ud800", "metadata": {"k\ud800\u0000": ["v\u0000", {"\ud83d": 1}]}}

    answer = await editor.patch(
        f"{SOURCES}/{file['knowledgeSourceId']}",
        content=json.dumps(odd),
        headers={"Content-Type": "application/json"},
    )

    assert answer.status_code == 200
    assert answer.json()["name"] == "ab"
    assert answer.json()["metadata"] == {"k": ["v", {"": 1}]}


@pytest.mark.parametrize(
    "body", [{"name": ""}, {"nmae": "x"}, {"name": 1}, {"metadata": []}, {"status": "completed"}]
)
async def test_a_wrong_patch_is_a_422(editor: httpx.AsyncClient, body: dict[str, Any]) -> None:
    file = await add(editor)

    answer = await editor.patch(f"{SOURCES}/{file['knowledgeSourceId']}", json=body)

    assert answer.status_code == 422
    assert answer.json()["errors"]


async def test_metadata_of_more_than_64_kib_is_a_422_that_names_it(
    editor: httpx.AsyncClient,
) -> None:
    posted = await upload(editor, {"a.txt": b"hello"})
    url = f"/api/knowledge-sources/{posted.json()['knowledgeSourceIds'][0]}"
    frame = len('{"k":""}')
    largest = {"k": "é" * ((65_536 - frame) // 2)}

    taken = await editor.patch(url, json={"metadata": largest})
    refused = await editor.patch(url, json={"metadata": {"k": largest["k"] + "x"}})

    assert (taken.status_code, taken.json()["metadata"]) == (200, largest)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "body.metadata"
