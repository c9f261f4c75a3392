"""Alert rules and dashboard: what they name is exported, each alert has a case, and a real Prometheus takes both."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.embedded.process import wait_until
from deploy.processes import CHECKOUT
from tests import debian
from tests.deploy import prometheus
from tests.installation import Installation
from tests.services import free_port

FOLDER = CHECKOUT / "deploy" / "prometheus"
DASHBOARD = CHECKOUT / "deploy" / "grafana" / "cukassza.json"
#: Names of our own series in an expression.
_OURS = re.compile(r"\bcukassza_[a-z0-9_]+")
#: The alert whose threshold a test alters.
ALTERED = "HandNotSettled"
#: What exporters of others begin with, which the example's jobs scrape.
OTHERS = ("pg_", "pgbouncer_", "etcd_", "patroni_", "haproxy_", "node_", "probe_", "up")


def alerts() -> list[dict[str, Any]]:
    rules = yaml.safe_load((FOLDER / "rules.yml").read_text(encoding="utf-8"))
    return [rule for group in rules["groups"] for rule in group["rules"]]


def queries() -> list[str]:
    """Every expression of the dashboard."""
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    return [target["expr"] for panel in panels for target in panel.get("targets", [])]


def exported() -> set[str]:
    from casino.metrics import declared

    return {series for metric in declared.EVERY for series in metric.series}


def labels_of(series: str) -> set[str]:
    from casino.metrics import declared

    return {label for metric in declared.EVERY if series in metric.series for label in metric.labels} | {"le"}


# --- The files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["rules", "dashboard"])
def test_every_metric_that_is_asked_for_is_exported(where: str) -> None:
    expressions = [alert["expr"] for alert in alerts()] if where == "rules" else queries()
    assert len(expressions) > 15
    for expression in expressions:
        assert set(_OURS.findall(expression)) <= exported(), expression
        for series, selector in re.findall(r"\b(cukassza_[a-z0-9_]+)\{([^}]*)\}", expression):
            assert set(re.findall(r"(\w+)\s*(?:=|!)", selector)) <= labels_of(series), expression


def test_what_others_export_is_scraped_by_the_example() -> None:
    jobs = yaml.safe_load((FOLDER / "prometheus.yml").read_text(encoding="utf-8"))["scrape_configs"]
    assert {job["job_name"] for job in jobs} == {
        "cukassza", "postgres", "patroni", "etcd", "pgbouncer", "haproxy", "node", "certificate",
    }  # fmt: skip
    for alert in alerts():
        # Without selectors and what is grouped by, each name is a series or a function.
        plain = re.sub(r"\{[^}]*\}|\b(by|without) \([^)]*\)", "", alert["expr"])
        names = re.findall(r"\b[a-z]+_[a-z0-9_]+\b", plain)
        series = [name for name in names if name not in ("histogram_quantile", "predict_linear")]
        assert all(name.startswith((*OTHERS, "cukassza_")) for name in series), alert


def test_each_alert_says_whom_it_wakes_and_has_cases() -> None:
    names = [alert["alert"] for alert in alerts()]
    assert len(names) == len(set(names))
    cases = yaml.safe_load((FOLDER / "rules_test.yml").read_text(encoding="utf-8"))["tests"]
    asked = [one for case in cases for one in case["alert_rule_test"]]
    for alert in alerts():
        assert alert["labels"]["severity"] in ("page", "ticket") and alert["annotations"]["summary"]
        found = [bool(one["exp_alerts"]) for one in asked if one["alertname"] == alert["alert"]]
        assert True in found and False in found, f"{alert['alert']}: one case in which it fires, and one in which not"
    assert {one["alertname"] for one in asked} == set(names)


def test_each_alert_is_explained() -> None:
    page = (CHECKOUT / "docs" / "how-to" / "watch.md").read_text(encoding="utf-8")
    assert [alert["alert"] for alert in alerts() if f"`{alert['alert']}`" not in page] == []


# --- A real Prometheus ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def there() -> None:
    """Prometheus is here, or can be had."""
    try:
        prometheus.program("promtool")
    except debian.NotUnpacked as error:
        pytest.skip(f"no Prometheus is installed, and {error}")


@pytest.mark.slow
@pytest.mark.usefixtures("there")
def test_promtool_takes_rules_and_configuration_and_every_case_passes(tmp_path: Path) -> None:
    said = prometheus.tool("check", "rules", "rules.yml", cwd=FOLDER)
    assert said.returncode == 0 and f"{len(alerts())} rules found" in said.stdout, said
    said = prometheus.tool("test", "rules", "rules_test.yml", cwd=FOLDER)
    assert said.returncode == 0, said.stdout + said.stderr
    text = (FOLDER / "prometheus.yml").read_text(encoding="utf-8")
    (tmp_path / "prometheus.yml").write_text(text.replace("/etc/prometheus/cukassza-metrics-token", "/dev/null"))
    (tmp_path / "rules.yml").write_text((FOLDER / "rules.yml").read_text(encoding="utf-8"))
    said = prometheus.tool("check", "config", "prometheus.yml", cwd=tmp_path)
    assert said.returncode == 0, said.stdout + said.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("there")
def test_a_case_that_is_wrong_does_not_pass(tmp_path: Path) -> None:
    """Otherwise the test above would prove nothing."""
    rules = (FOLDER / "rules.yml").read_text(encoding="utf-8")
    altered = rules.replace('unsettled_seconds{sandbox="0"}) > 60\n', 'unsettled_seconds{sandbox="0"}) > 61\n')
    assert altered != rules
    (tmp_path / "rules.yml").write_text(altered, encoding="utf-8")
    cases = yaml.safe_load((FOLDER / "rules_test.yml").read_text(encoding="utf-8"))
    # Those of the altered alert alone: for all of them promtool takes many seconds.
    cases["tests"] = [case for case in cases["tests"] if case["name"].startswith(f"{ALTERED} ")]
    (tmp_path / "rules_test.yml").write_text(yaml.safe_dump(cases), encoding="utf-8")
    said = prometheus.tool("test", "rules", "rules_test.yml", cwd=tmp_path)
    assert said.returncode != 0 and ALTERED in said.stdout + said.stderr, said


@pytest.fixture
def quick(installed: Installation, tmp_path: Path) -> str:
    """The example's configuration for the web on a port, which scrapes every second; rules that wait for less."""
    rules = (FOLDER / "rules.yml").read_text(encoding="utf-8")
    (tmp_path / "rules.yml").write_text(re.sub(r"(?m)^ +for: .*\n", "", rules), encoding="utf-8")
    found = yaml.safe_load((FOLDER / "prometheus.yml").read_text(encoding="utf-8"))
    found["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    del found["alerting"]
    [job] = found["scrape_configs"] = [job for job in found["scrape_configs"] if job["job_name"] == "cukassza"]
    job["authorization"]["credentials_file"] = str(installed.folder / "metrics-token")
    job["static_configs"] = [{"targets": ["127.0.0.1:PORT"]}]
    return yaml.safe_dump(found)


@pytest.fixture
def house(installed: Installation) -> Iterator[Any]:
    from tests.casino.kit import Kit

    kit = Kit.found()
    yield kit
    kit.close()


@pytest.mark.slow
@pytest.mark.usefixtures("there")
def test_a_running_house_is_scraped_and_an_alert_fires_when_the_workers_stop(
    installed: Installation, house: Any, quick: str, tmp_path: Path
) -> None:
    processes, root = installed.up()
    configuration = quick.replace("PORT", root.rpartition(":")[2])
    with prometheus.running(tmp_path, configuration, free_port()) as there:
        assert wait_until(lambda: _healthy(there), seconds=60), prometheus.read(there, "targets")
        assert wait_until(lambda: _metric(there, "cukassza_heartbeat_age_seconds{part='sequencer'}") < 20, seconds=30)
        assert wait_until(lambda: _metric(there, "sum(cukassza_requests_total{operation='metrics'})") > 3, seconds=30)
        series = set(prometheus.read(there, "label/__name__/values"))
        declared = {name for name in exported() if "verif" not in name and "refusals" not in name}
        nothing = {"cukassza_actions_total", "cukassza_spans_dropped_total"}
        assert declared - series <= nothing, "there is nothing to say of what nobody did"
        assert wait_until(lambda: "PartSlow" not in _firing(there), seconds=60), _firing(there)
        for name in ("worker", "worker-2"):
            processes.kill(name, signal.SIGSTOP)
        try:
            assert wait_until(lambda: "PartSlow" in _firing(there), seconds=90), _firing(there)
        finally:
            for name in ("worker", "worker-2"):
                processes.kill(name, signal.SIGCONT)
        assert wait_until(lambda: "PartSlow" not in _firing(there), seconds=60)


def _healthy(root: str) -> bool:
    return [one["health"] for one in prometheus.read(root, "targets")["activeTargets"]] == ["up"]


def _metric(root: str, expression: str) -> float:
    """The value of an expression; NaN, which is neither more nor less than anything, where there is none."""
    from urllib.parse import quote

    found = prometheus.read(root, f"query?query={quote(expression)}")["result"]
    return float(found[0]["value"][1]) if found else float("nan")


def _firing(root: str) -> set[str]:
    found = prometheus.read(root, "alerts")["alerts"]
    return {one["labels"]["alertname"] for one in found if one["state"] == "firing"}
