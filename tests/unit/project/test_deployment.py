"""The compose file and the image."""

import re
import shlex
from typing import Any

import pytest
import yaml

from ingest.settings.settings import Settings
from tests.unit.project.test_documented_names import settings_variables
from tests.unit.project.test_repository import ROOT, read


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(read("compose.yaml"))
    return content


def test_compose_has_a_database_with_vectors_an_api_and_two_workers(
    compose: dict[str, Any],
) -> None:
    services = compose["services"]

    assert services["postgres"]["image"].startswith("pgvector/pgvector:pg")
    assert services["api"]["command"] == ["api"]
    assert services["worker"]["command"] == ["worker"]
    assert services["worker"]["deploy"]["replicas"] == 2
    for name in ("api", "worker"):
        assert services[name]["depends_on"]["postgres"] == {"condition": "service_healthy"}
    for name in ("postgres", "api"):
        assert services[name]["healthcheck"]["test"]


def test_compose_starts_the_bucket_emulator_only_on_demand(compose: dict[str, Any]) -> None:
    services = compose["services"]
    always = [name for name, service in services.items() if "profiles" not in service]

    assert always == ["postgres", "api", "worker"]
    assert services["gcs"]["profiles"] == services["gcs-bucket"]["profiles"] == ["gcs"]


def test_compose_services_run_with_least_privilege(compose: dict[str, Any]) -> None:
    for name in ("api", "worker"):
        service = compose["services"][name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert "/tmp" in service["volumes"]
    for name in ("api", "worker", "postgres"):
        assert compose["services"][name]["security_opt"] == ["no-new-privileges:true"]


def test_compose_names_only_what_it_defines(compose: dict[str, Any]) -> None:
    services = compose["services"]
    volumes = {
        volume.partition(":")[0]
        for service in services.values()
        for volume in service.get("volumes", [])
        if not volume.startswith("/")  # of the container's own
    }
    needed = {name for service in services.values() for name in service.get("depends_on", {})}

    assert volumes == set(compose["volumes"])
    assert needed <= set(services)


def test_compose_has_no_password_of_its_own(compose: dict[str, Any]) -> None:
    text = read("compose.yaml")
    defaults = re.findall(r"\$\{(\w*(?:PASSWORD|KEY|SECRET|TOKEN)\w*)(:[-?])(.*?)\}", text)
    given = [
        (name, value)
        for service in compose["services"].values()
        for name, value in service.get("environment", {}).items()
        if re.search("PASSWORD|KEY|SECRET|TOKEN|DATABASE_URL", name)
    ]

    assert {name for name, kind, _ in defaults if kind == ":?"} == {"POSTGRES_PASSWORD"}
    assert [name for name, kind, default in defaults if kind == ":-" and default] == []
    assert [name for name, value in given if "${" not in value] == []


def test_compose_sets_only_variables_that_exist(compose: dict[str, Any]) -> None:
    given = compose["services"]["api"]["environment"]

    assert set(given) <= set(settings_variables())


def test_empty_values_from_compose_count_as_unset(
    compose: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in settings_variables():
        monkeypatch.delenv(name, raising=False)
    plain = Settings()
    for name, value in compose["services"]["api"]["environment"].items():
        if name != "DATABASE_URL":
            monkeypatch.setenv(name, re.sub(r"\$\{\w+:-(.*?)\}", r"\1", value))

    assert Settings() == plain


def test_the_image_runs_without_root_and_gets_signals() -> None:
    lines = [line.strip() for line in read("Dockerfile").splitlines()]

    assert "USER ingest" in lines
    assert 'ENTRYPOINT ["ingest"]' in lines
    assert any("--require-hashes -r requirements.lock" in line for line in lines)
    copied = [line for line in lines if line.startswith("COPY ") and "--from" not in line]
    for line in copied:
        for source in shlex.split(line)[1:-1]:
            assert (ROOT / source).exists()
            assert f"!{source}" in read(".dockerignore").splitlines()
