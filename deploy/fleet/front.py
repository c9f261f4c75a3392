"""The part of nginx's configuration that the fleet's file decides: `include /etc/nginx/cukassza-stacks.conf`."""

from collections.abc import Sequence

from deploy.fleet.stacks import DRAINED, Stack

_UPSTREAM = """upstream {name} {{
    server {web} max_fails=0;
    keepalive 32;
}}
"""
_HEAD = "# Made by `python -m deploy.fleet FILE nginx`: the stacks, and which host names lead to each.\n"


def nginx(stacks: Sequence[Stack]) -> str:
    """Upstreams, and the map from host name to stack. A name that no stack has leads nowhere; the names of a stack that
    is drained are answered by nginx."""
    upstreams = "".join(_UPSTREAM.format(name=one.name, web=one.web) for one in stacks)
    names = "".join(
        f"    {host} {DRAINED if one.drained else one.name};\n" for one in stacks for host in one.hosts
    )  # fmt: skip
    return f'{_HEAD}{upstreams}map $host $stack {{\n    default "";\n{names}}}\n'
