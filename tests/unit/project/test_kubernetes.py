"""The manifests of deploy/kubernetes: valid by Kubernetes' own schemas, and they fit together."""

import copy
import json
import re
from collections.abc import Collection, Iterator
from functools import cache
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import jsonschema
import kubernetes_validate
import pytest
import yaml

from api.cli.main import app as cli
from api.main import create_app
from api.worker_app import create_worker_app
from ingest.settings.loading import load_settings
from ingest.settings.settings import Settings
from ingest.store.limits.desired_workers import Desired

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "deploy" / "kubernetes"
# The oldest that is still common; the package has the schemas of later ones too.
VERSIONS = ("1.29", "1.33")
KEDA = json.loads((Path(__file__).parent / "keda.schema.json").read_text())

Manifest = dict[str, Any]


def manifests() -> Iterator[Manifest]:
    for path in sorted(FOLDER.glob("*.yaml")):
        yield from yaml.safe_load_all(path.read_text())


def one(kind: str, name: str) -> Manifest:
    [found] = [m for m in manifests() if m["kind"] == kind and m["metadata"]["name"] == name]
    return found


def pods() -> Iterator[Manifest]:
    """The pod templates of all workloads."""
    for manifest in manifests():
        if "template" in manifest.get("spec", {}):
            yield manifest["spec"]["template"]


def container(pod: Manifest) -> Manifest:
    [only] = pod["spec"]["containers"]
    found: Manifest = only
    return found


@cache
def paths_of(component: str) -> Collection[str]:
    """What a process answers, as its OpenAPI document has it."""
    create = create_app if component == "api" else create_worker_app
    app = create(cast(Any, None))
    return frozenset(app.openapi()["paths"])


def validate(manifest: Manifest) -> None:
    if manifest["apiVersion"].startswith("keda.sh/"):
        jsonschema.Draft202012Validator(KEDA).validate(manifest)
        return
    for version in VERSIONS:
        kubernetes_validate.validate(manifest, version, strict=True)


def test_every_manifest_is_valid() -> None:
    kinds = []
    for manifest in manifests():
        validate(manifest)
        kinds.append(manifest["kind"])

    assert sorted(kinds) == [
        "ConfigMap",
        "Deployment",
        "Deployment",
        "Ingress",
        "Job",
        "NetworkPolicy",
        "PodDisruptionBudget",
        "PodDisruptionBudget",
        "ScaledObject",
        "Secret",
        "Secret",
        "Service",
        "TriggerAuthentication",
    ]


@pytest.mark.parametrize(
    ("kind", "name", "path", "value"),
    [
        ("Deployment", "rag-ingest-worker", ("spec", "replica"), 1),
        ("Deployment", "rag-ingest-api", ("spec", "replicas"), "two"),
        ("Service", "rag-ingest-api", ("spec", "ports"), "8000"),
        ("ScaledObject", "rag-ingest-worker", ("spec", "minReplicas"), 0),
        ("ScaledObject", "rag-ingest-worker", ("spec", "maxReplicaCount"), "8"),
        ("TriggerAuthentication", "rag-ingest-scaler", ("spec", "secretRef"), []),
    ],
)
def test_invalid_manifest_is_detected(
    kind: str, name: str, path: tuple[str, str], value: Any
) -> None:
    wrong = copy.deepcopy(one(kind, name))
    wrong[path[0]][path[1]] = value

    with pytest.raises((kubernetes_validate.ValidationError, jsonschema.ValidationError)):
        validate(wrong)


def test_manifest_settings_exist_and_are_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    given = one("ConfigMap", "rag-ingest")["data"] | one("Secret", "rag-ingest")["stringData"]
    known = {
        field.validation_alias or f"INGEST_{name.upper()}"
        for name, field in Settings.model_fields.items()
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)

    assert set(given) <= known
    assert load_settings().worker_port == 9000


def test_referenced_config_maps_and_secrets_exist() -> None:
    named = {(m["kind"], m["metadata"]["name"]) for m in manifests()}

    for pod in pods():
        for source in container(pod)["envFrom"]:
            if "configMapRef" in source:
                assert ("ConfigMap", source["configMapRef"]["name"]) in named
            else:
                assert ("Secret", source["secretRef"]["name"]) in named
        volumes = {volume["name"] for volume in pod["spec"]["volumes"]}
        assert {mount["name"] for mount in container(pod)["volumeMounts"]} <= volumes


def test_selectors_choose_the_pods_of_their_own_component() -> None:
    labels = {pod["metadata"]["labels"]["app.kubernetes.io/component"]: pod for pod in pods()}

    for manifest in manifests():
        selector = manifest.get("spec", {}).get("selector")
        if selector:
            component = manifest["metadata"]["labels"]["app.kubernetes.io/component"]
            chosen = selector.get("matchLabels", selector)
            assert chosen.items() <= labels[component]["metadata"]["labels"].items()


def test_containers_run_commands_that_exist_without_root_and_with_time_to_stop() -> None:
    commands = {
        command.name or (command.callback and command.callback.__name__)
        for command in cli.registered_commands
    }

    for pod in pods():
        assert set(container(pod)["args"]) <= commands
        assert container(pod)["image"] == "rag-ingest:latest"
        assert pod["spec"]["securityContext"]["runAsNonRoot"] is True
        assert str(pod["spec"]["securityContext"]["runAsUser"]) in (ROOT / "Dockerfile").read_text()
        assert pod["spec"]["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container(pod)["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        if pod["spec"].get("restartPolicy") != "Never":
            assert pod["spec"]["terminationGracePeriodSeconds"] >= 60


@pytest.mark.parametrize(
    ("component", "setting"),
    [
        ("api", "INGEST_PORT"),
        ("worker", "INGEST_WORKER_PORT"),
    ],
)
def test_probes_and_scrapes_target_existing_endpoints(component: str, setting: str) -> None:
    pod = one("Deployment", f"rag-ingest-{component}")["spec"]["template"]
    [port] = container(pod)["ports"]
    number = one("ConfigMap", "rag-ingest")["data"][setting]
    annotations = pod["metadata"]["annotations"]
    paths = paths_of(component)

    assert str(port["containerPort"]) == annotations["prometheus.io/port"] == number
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        get = container(pod)[probe]["httpGet"]
        assert get["port"] == port["name"]
        assert get["path"] in paths
    assert annotations["prometheus.io/path"] in paths


def test_network_policy_covers_the_pods_and_opens_only_their_ports() -> None:
    spec = one("NetworkPolicy", "rag-ingest")["spec"]
    chosen = spec["podSelector"]["matchLabels"].items()
    [incoming] = spec["ingress"]
    served = {port["containerPort"] for pod in pods() for port in container(pod).get("ports", ())}
    [web] = [rule for rule in spec["egress"] if "to" in rule]
    refused = [ip_network(net) for peer in web["to"] for net in peer["ipBlock"]["except"]]

    assert all(chosen <= pod["metadata"]["labels"].items() for pod in pods() if "metadata" in pod)
    assert {port["port"] for port in incoming["ports"]} == served
    assert set(spec["policyTypes"]) == {"Ingress", "Egress"}
    for private in ("169.254.169.254", "10.0.0.1", "192.168.1.1", "172.17.0.1", "fd00::1", "::1"):
        assert any(ip_address(private) in net for net in refused)


def test_ingress_exposes_exactly_the_authenticated_routes() -> None:
    [rule] = one("Ingress", "rag-ingest")["spec"]["rules"]
    service = one("Service", "rag-ingest-api")
    prefixes = [entry["path"] for entry in rule["http"]["paths"]]

    for entry in rule["http"]["paths"]:
        backend = entry["backend"]["service"]
        assert backend["name"] == service["metadata"]["name"]
        assert backend["port"]["name"] in {port["name"] for port in service["spec"]["ports"]}
    outside = {
        path for path in paths_of("api") if not any(path.startswith(f"{p}/") for p in prefixes)
    }
    assert outside == {"/healthz", "/readyz", "/metrics"}


def test_the_example_secret_names_no_provider_that_would_be_asked() -> None:
    """Applied as it is, a made-up key would have every text refused."""
    given = one("Secret", "rag-ingest")["stringData"]

    assert given.keys() == {"DATABASE_URL", "INGEST_ADMIN_KEY"}


def test_commented_manifest_parts_are_valid() -> None:
    for component in ("api", "worker"):
        text = (FOLDER / f"{component}.yaml").read_text()
        uncommented = re.sub(
            r"^( +)# (serviceAccountName|- \{?name|  secret)", r"\1\2", text, flags=re.M
        )
        deployment = next(iter(yaml.safe_load_all(uncommented)))
        validate(deployment)
        spec = deployment["spec"]["template"]["spec"]
        mounts = {mount["name"] for mount in container({"spec": spec})["volumeMounts"]}
        assert spec["serviceAccountName"]
        assert "credentials" in mounts & {volume["name"] for volume in spec["volumes"]}


def test_the_autoscaler_asks_the_service_for_the_number_of_workers() -> None:
    scaled = one("ScaledObject", "rag-ingest-worker")["spec"]
    [trigger] = scaled["triggers"]
    url = urlsplit(trigger["metadata"]["url"])
    service = one("Service", "rag-ingest-api")
    authentication = one("TriggerAuthentication", trigger["authenticationRef"]["name"])
    [token] = authentication["spec"]["secretTargetRef"]

    assert url.path in paths_of("api")
    assert str(url.hostname).split(".")[0] == service["metadata"]["name"]
    assert url.port == service["spec"]["ports"][0]["port"]
    assert trigger["metadata"]["valueLocation"] in Desired.model_json_schema()["properties"]
    assert one("Deployment", scaled["scaleTargetRef"]["name"])["spec"].get("replicas") is None
    assert scaled["minReplicaCount"] == 0
    assert token["parameter"] == "token"
    assert token["key"] in one("Secret", token["name"])["stringData"]


def test_the_autoscaler_may_start_as_many_workers_as_the_service_may_want(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("INGEST_SCALE", one("ConfigMap", "rag-ingest")["data"]["INGEST_SCALE"])
    most = load_settings().scaling.most

    assert one("ScaledObject", "rag-ingest-worker")["spec"]["maxReplicaCount"] == most
