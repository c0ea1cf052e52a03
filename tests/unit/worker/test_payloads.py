"""The payloads of built-in jobs: their JSON, and what is refused when it is read."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic.fields import FieldInfo

from ingest.errors import Permanent
from ingest.payloads import (
    AWAITS_MEMBERS,
    PAYLOADS,
    FilePayload,
    MemberPayload,
    Payload,
    RechunkTally,
    Refusal,
    RefusedMember,
    RunPayload,
    StoredMember,
    member_payload,
)

ROOT = Path(__file__).parents[3]
JSON = st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.booleans())
FILE = {"blobKey": "app/1", "contentHash": "00ff", "sizeBytes": 2}
RUN = "6f1c1f3e-0d4b-4a57-9d3f-0a3f3f3f3f3f"


@dataclass(frozen=True)
class Job:
    type: str
    payload: Mapping[str, Any]


def values(field: FieldInfo) -> st.SearchStrategy[Any]:
    given_types = {
        dict[str, Any]: JSON,
        dict[str, Any] | None: st.none() | JSON,
        Refusal: st.builds(Refusal),
        RechunkTally | None: st.none() | st.builds(RechunkTally, chunks=st.integers()),
    }
    kind: Any = field.annotation
    return given_types[kind] if kind in given_types else st.from_type(kind)


@st.composite
def payloads(draw: st.DrawFn) -> tuple[str, Payload]:
    type, models = draw(st.sampled_from(list(PAYLOADS.items())))
    model = draw(st.sampled_from(models))
    fields = {name: draw(values(field)) for name, field in model.model_fields.items()}
    return type, model(**fields)


def stored(type: str, payload: Payload) -> Job:
    return Job(type, json.loads(payload.to_json()))


@given(payloads())
def test_what_was_stored_is_what_the_handler_gets(typed: tuple[str, Payload]) -> None:
    type, payload = typed
    job = stored(type, payload)

    read = member_payload(job) if type == "member" else payload.of(job)

    assert read == payload
    assert all(re.fullmatch(r"[a-z]+([A-Z][a-z]+)*", key) for key in job.payload)


def test_the_json_of_a_file_is_flat_camel_case_with_a_hexadecimal_hash() -> None:
    payload = FilePayload(blob_key="app/1", content_hash=b"\x00\xff", size_bytes=2)

    assert json.loads(payload.to_json()) == FILE
    assert AWAITS_MEMBERS == "awaitsMembers"


@pytest.mark.parametrize(
    ("model", "payload", "wrong"),
    [
        (FilePayload, {**FILE, "sizeBytes": None}, "sizeBytes (int_type)"),
        (FilePayload, {**FILE, "contentHash": "SECRET"}, "contentHash (value_error)"),
        (FilePayload, {**FILE, "colour": "SECRET"}, "colour (extra_forbidden)"),
        (FilePayload, {"blob_key": "SECRET"}, "blobKey (missing)"),
        (RunPayload, {"crawlId": "SECRET"}, "crawlId (uuid_parsing)"),
        (RunPayload, {}, "crawlId (missing)"),
    ],
)
def test_a_wrong_payload_is_a_permanent_error_that_names_keys_and_no_value(
    model: type[Payload], payload: dict[str, Any], wrong: str
) -> None:
    with pytest.raises(Permanent) as refused:
        model.of(Job("file", payload))

    assert refused.value.code == "invalid_payload"
    assert wrong in str(refused.value)
    assert "SECRET" not in str(refused.value)


def test_member_payload_is_either_stored_or_refused() -> None:
    inside = {"uri": "a.zip/b.txt", "depth": 1}
    refusal = {"code": "encrypted", "message": "a password"}

    assert isinstance(member_payload(Job("member", {**inside, **FILE})), StoredMember)
    refused = member_payload(Job("member", {**inside, "refused": refusal}))
    assert isinstance(refused, RefusedMember)
    assert refused.refused == Refusal(code="encrypted", message="a password")
    with pytest.raises(Permanent, match=r"blobKey \(extra_forbidden\)"):
        member_payload(Job("member", {**inside, **FILE, "refused": refusal}))
    assert get_args(MemberPayload) == PAYLOADS["member"]


def test_custom_payload_model_is_read_the_same_way() -> None:
    class Greeting(Payload):
        first_name: str
        run: UUID | None = None

    assert Greeting.of(Job("greet", {"firstName": "Ada"})) == Greeting(first_name="Ada")


def test_no_other_module_or_statement_names_a_key_of_a_payload() -> None:
    keys = {
        model.key(field)
        for models in PAYLOADS.values()
        for model in models
        for field in model.model_fields
    }
    named = re.compile(
        rf"payload\W+[\"']({'|'.join(keys)})[\"']|payload\s*(->|\?)|\.payload(\[|\.get)"
    )
    files = [*ROOT.glob("ingest/**/*.py"), *ROOT.glob("ingest/**/*.sql"), *ROOT.glob("api/**/*.py")]
    found = [
        f"{path.relative_to(ROOT)}: {hit.group()}"
        for path in files
        if path.name != "payloads.py"
        for hit in named.finditer(path.read_text())
    ]

    assert len(files) > 300
    assert found == []
