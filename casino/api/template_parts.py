"""What the operations that follow a template share."""

from typing import Any

from rest_framework import serializers

from casino.api.http.operations import StrictBoolean


class ByTemplate(StrictBoolean):
    """Whether the chips are those of a template; false where it is left out."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"required": False, "default": False, **kwargs})


def one_way(attrs: dict[str, Any], *names: str) -> dict[str, Any]:
    """The input, if it names chips by some of these members or by a template, and not in both ways. Raises
    ValidationError."""
    named, by_template = names & attrs.keys(), attrs.get("by_template", False)
    if by_template and named:
        raise serializers.ValidationError({name: ["The template says this."] for name in sorted(named)})
    if not by_template and not named:
        or_template = ", or take those of the template" if "by_template" in attrs else ""
        raise serializers.ValidationError({names[0]: [f"Name the chips{or_template}."]})
    return attrs
