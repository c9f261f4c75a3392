"""`metrics.md`: what `/metrics` shows, from the declarations."""

from collections.abc import Iterable

from casino.core.measured import OF_PROCESSES, Metric
from casino.metrics.declared import OF_STATE
from casino.reference.markdown import generated, table

HEAD = """
What `GET /metrics` shows in Prometheus' text format. [Watch](../how-to/watch.md) says who may read it, and which alerts
rest on it. No label names a person, a token, a device's address or an amount of money.
"""


def render() -> str:
    """The page."""
    head = f"# Metrics\n\n{generated('`casino/core/measured.py` and `casino/metrics/declared.py`')}{HEAD}"
    counted = f"## Counted by the processes of the web\n\n{_table(OF_PROCESSES)}"
    state = f"## The state when it is asked for\n\n{_table(OF_STATE)}"
    return f"{head}\n{counted}\n{state}"


def _table(metrics: Iterable[Metric]) -> str:
    return table(("metric", "kind", "labels", "meaning"), map(_row, metrics))


def _row(metric: Metric) -> tuple[str, str, str, str]:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    return f"`{metric.name}`", str(metric.kind), labels, metric.meaning
