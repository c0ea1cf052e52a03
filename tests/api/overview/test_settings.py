"""GET /api/settings: what the installation is configured to be, for its operator."""

from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from ingest.disk_reserve import DiskReserve
from ingest.model import OcrSettings
from ingest.postgres.migrations import load_migrations
from ingest.providers.ocr import factory
from ingest.runtime import Runtime
from ingest.settings.settings import Settings
from tests.api.conftest import OPERATOR_KEY, connect, serve

CANARY = "c4n4ry-n07-t0-be-s33n"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Every secret, and every address that may hold one, has the canary."""
    return Settings.model_validate(
        {
            "data_dir": tmp_path,
            "admin_key": OPERATOR_KEY,
            "admin_key_previous": CANARY,
            "metrics_token": CANARY,
            "OPENAI_API_KEY": CANARY,
            "OPENAI_BASE_URL": f"https://{CANARY}@llm.example/v1?key={CANARY}",
            "rerank_url": f"https://user:{CANARY}@rank.example/rerank",
            "rerank_key": CANARY,
            "FIRECRAWL_API_KEY": CANARY,
            "FIRECRAWL_WEBHOOK_SECRET": CANARY,
            "smtp_url": f"smtp://user:{CANARY}@mail.example",
            "email_from": "rag@mail.example",
            "storage": f"gs://{CANARY}@bucket/prefix",
        },
        by_alias=True,
        by_name=True,
    )


async def test_the_answer_holds_no_secret(operator: httpx.AsyncClient) -> None:
    answer = await operator.get("/api/settings")

    assert answer.status_code == 200
    assert CANARY not in answer.text
    assert OPERATOR_KEY not in answer.text
    settings = {setting["name"]: setting for setting in answer.json()["settings"]}
    assert settings["OPENAI_API_KEY"] == {
        "name": "OPENAI_API_KEY", "value": None, "isSet": True, "isSecret": True,
    }  # fmt: skip
    assert settings["OPENAI_BASE_URL"]["value"] == "https://llm.example/v1"
    assert answer.json()["storage"] == {
        "kind": "bucket", "location": "gs://bucket/prefix", "usedBytes": 0, "freeBytes": None,
        "reserveBytes": 1024**3,
    }  # fmt: skip


async def test_it_names_versions_model_and_migrations(operator: httpx.AsyncClient) -> None:
    found = (await operator.get("/api/settings")).json()

    newest = max(migration.version for migration in load_migrations())
    assert found["database"]["migration"] == found["database"]["expectedMigration"] == newest
    assert found["database"]["sizeBytes"] > 1_000_000
    assert found["database"]["isEmbedded"] is True
    assert found["embedding"] == {
        "provider": "static", "model": "fake", "dimension": 8, "maxTokens": 512,
        "chunkTokens": 512, "chunkOverlap": 64,
    }  # fmt: skip
    assert found["ocr"] is None


async def test_a_folder_shows_its_free_space_and_ocr_its_languages(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(factory, "available", lambda ocr: f"{ocr.engine} 5.3")
    folder = runtime.settings.model_copy(
        update={"storage": None, "admin_key": SecretStr(OPERATOR_KEY)}
    )
    disk = DiskReserve({"files": tmp_path}, free_bytes=lambda _: 123)
    ocr = OcrSettings(engine="tesseract", languages=("deu", "eng"))
    changed = replace(runtime, settings=folder, disk=disk, ocr=ocr)
    async with serve(changed) as app, connect(app, OPERATOR_KEY) as operator:
        found = (await operator.get("/api/settings")).json()

    assert found["storage"]["kind"] == "folder"
    assert found["storage"]["location"] == f"file://{tmp_path}/blobs"
    assert found["storage"]["freeBytes"] == 123
    assert found["ocr"] == {"engine": "tesseract 5.3", "languages": ["deu", "eng"]}


async def test_only_the_operator_sees_it(app: FastAPI, admin: httpx.AsyncClient) -> None:
    answer = await admin.get("/api/settings")

    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
