"""The software bill of materials of what requirements.lock installs: CycloneDX 1.6, as JSON.

`python -m tests.sbom` prints it; the same lock gives the same document. Hashes are those that pip
checks: one for each file that a package publishes.
"""

import json
import sys
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from ingest.providers.embedders import local
from ingest.tokens import vocabularies
from tests.licences import LOCK, Locked, installed_licence, locked, precise

_ROOT: Final = Path(__file__).parents[1]

Json = dict[str, Any]


def sbom(lock: str, *, version: str) -> Json:
    """The document, for the text of a lock file and a version of the product."""
    entries = locked(lock)
    product = f"pkg:pypi/rag-ingest@{version}"
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, product + lock)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": product,
                "name": "rag-ingest",
                "version": version,
                "purl": product,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": [*map(_component, entries), *_model_files()],
        "dependencies": _dependencies(entries, product),
    }


def _component(entry: Locked) -> Json:
    purl = _purl(entry)
    component: Json = {
        "type": "library",
        "bom-ref": purl,
        "name": entry.name,
        "version": entry.version,
        "purl": purl,
        "externalReferences": [
            {
                "type": "distribution",
                "url": f"https://pypi.org/project/{entry.name}/{entry.version}/",
                "hashes": [{"alg": "SHA-256", "content": digest} for digest in entry.hashes],
            }
        ],
    }
    about = installed_licence(entry.name)
    if about is not None:  # else it is for other systems than this one
        component["licenses"] = [{"expression": precise(entry.name, about[1])}]
    return component


def _model_files() -> list[Json]:
    """What NOTICE lists beyond packages."""
    files = [
        ("data", "cl100k_base.tiktoken", vocabularies._CL100K_SHA256, "MIT"),
        ("data", "all-MiniLM-L6-v2/tokenizer.json", vocabularies._MINILM_SHA256, "Apache-2.0"),
        ("machine-learning-model", "all-MiniLM-L6-v2-int8.onnx", local._SHA256, "Apache-2.0"),
    ]
    return [
        {
            "type": kind,
            "bom-ref": name,
            "name": name,
            "hashes": [{"alg": "SHA-256", "content": digest}],
            "licenses": [{"license": {"id": licence}}],
        }
        for kind, name, digest, licence in files
    ]


def _dependencies(entries: Sequence[Locked], product: str) -> list[Json]:
    refs = {"rag-ingest": [product]}
    for entry in entries:
        refs.setdefault(entry.name, []).append(_purl(entry))
    needs: defaultdict[str, list[str]] = defaultdict(list)
    for entry in entries:
        for name in entry.needed_by:
            for ref in refs.get(name, ()):
                needs[ref].append(_purl(entry))
    return [{"ref": ref, "dependsOn": sorted(on)} for ref, on in sorted(needs.items())]


def _purl(entry: Locked) -> str:
    return f"pkg:pypi/{entry.name}@{entry.version}"


def main() -> None:
    about = tomllib.loads((_ROOT / "pyproject.toml").read_text())
    document = sbom(LOCK.read_text(), version=about["project"]["version"])
    json.dump(document, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
