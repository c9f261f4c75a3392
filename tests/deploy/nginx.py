"""A real nginx with the house's configuration, on ports of its own: Debian's, installed or unpacked without root."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from deploy import embedded
from deploy.embedded.process import wait_until
from deploy.fleet import front, stacks
from deploy.fleet.stacks import Stack
from deploy.processes import CHECKOUT
from tests import debian
from tests.services import free_port

FLEET = CHECKOUT / "deploy" / "fleet" / "fleet.toml"
CONFIGURATION = CHECKOUT / "deploy" / "nginx" / "cukassza.conf"
#: The name of the house in the configuration.
HOUSE = "house.example"
_MAIN = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log warn; worker_processes 1; worker_rlimit_nofile 1024;
events {{ worker_connections 900; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  include {folder}/cukassza.conf;
}}
"""


@dataclass(frozen=True)
class Nginx:
    """A running nginx: its ports without and with TLS, the certificate to trust, its folder with logs, its process."""

    plain: int
    tls: int
    certificate: Path
    folder: Path
    process: int

    def reload(self) -> None:
        """Have it read its configuration again."""
        os.kill(self.process, signal.SIGHUP)


def program() -> Path:
    """nginx. Raises debian.NotUnpacked."""
    if found := shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin"):
        return Path(found)
    return debian.unpacked(embedded.var_dir() / "nginx", ("nginx-light",)) / "usr/sbin/nginx"


def written(folder: Path, before: Sequence[Stack]) -> tuple[Path, int, int]:
    """The configuration in this folder, in front of these stacks: the file, and nginx's two ports."""
    plain, tls = free_port(), free_port()
    place(folder, before)
    text = CONFIGURATION.read_text(encoding="utf-8")
    for old, new in (
        ("/etc/nginx/cukassza-stacks.conf", f"{folder}/stacks.conf"),
        ("listen [::]:80 default_server;", ""),
        ("listen [::]:443 ssl default_server so_keepalive=30s:10s:3;", ""),
        ("listen 80 ", f"listen 127.0.0.1:{plain} "),
        ("listen 443 ", f"listen 127.0.0.1:{tls} "),
        ("/etc/cukassza/tls", str(folder)),
        ("/var/log/nginx", str(folder)),
    ):
        assert old in text, old
        text = text.replace(old, new)
    (folder / "cukassza.conf").write_text(text, encoding="utf-8")
    main = folder / "nginx.conf"
    main.write_text(_MAIN.format(folder=folder), encoding="utf-8")
    certify(folder, [host for one in before for host in one.hosts])
    return main, plain, tls


def place(folder: Path, before: Sequence[Stack]) -> None:
    """Which names lead to which stack, in this folder."""
    (folder / "stacks.conf").write_text(front.nginx(before), encoding="utf-8")


def house(port: int) -> list[Stack]:
    """The stack of the example, whose web serves at this port."""
    [one] = stacks.read(FLEET)
    return [replace(one, web=f"127.0.0.1:{port}")]


@contextmanager
def running(folder: Path, before: Sequence[Stack]) -> Iterator[Nginx]:
    """nginx in front of these stacks. Raises debian.NotUnpacked."""
    nginx = program()
    main, plain, tls = written(folder, before)
    with subprocess.Popen([nginx, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(main)]) as process:
        try:
            assert wait_until(lambda: process.poll() is not None or _listens(tls), seconds=10)
            assert process.poll() is None, (folder / "error.log").read_text()
            yield Nginx(plain, tls, folder / "fullchain.pem", folder, process.pid)
        finally:
            process.terminate()
            process.wait(timeout=10)


def certify(folder: Path, hosts: Sequence[str]) -> None:
    """A key, and a certificate that it signs for itself, for these names."""
    key = ec.generate_private_key(ec.SECP256R1())
    name, now = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hosts[0])]), datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "fullchain.pem").write_bytes(certificate.public_bytes(pem))
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "key.pem").write_bytes(private)


def _listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0
