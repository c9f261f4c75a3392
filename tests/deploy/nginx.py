"""A real nginx with the house's configuration, on ports of its own: Debian's, installed or unpacked without root."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from deploy import embedded
from deploy.embedded.process import wait_until
from deploy.processes import CHECKOUT
from tests import debian
from tests.services import free_port

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
    """A running nginx: its ports without and with TLS, the certificate to trust, and its folder with its logs."""

    plain: int
    tls: int
    certificate: Path
    folder: Path


def program() -> Path:
    """nginx. Raises debian.NotUnpacked."""
    if found := shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin"):
        return Path(found)
    return debian.unpacked(embedded.var_dir() / "nginx", ("nginx-light",)) / "usr/sbin/nginx"


def written(folder: Path, port: int) -> tuple[Path, int, int]:
    """The configuration in this folder, for a house that serves at this port: the file, and nginx's two ports."""
    plain, tls = free_port(), free_port()
    text = CONFIGURATION.read_text(encoding="utf-8")
    for old, new in (
        ("127.0.0.1:8000", f"127.0.0.1:{port}"),
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
    certify(folder)
    return main, plain, tls


@contextmanager
def running(folder: Path, port: int) -> Iterator[Nginx]:
    """nginx in front of a house that serves at this port. Raises debian.NotUnpacked."""
    nginx = program()
    main, plain, tls = written(folder, port)
    with subprocess.Popen([nginx, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(main)]) as process:
        try:
            assert wait_until(lambda: process.poll() is not None or _listens(tls), seconds=10)
            assert process.poll() is None, (folder / "error.log").read_text()
            yield Nginx(plain, tls, folder / "fullchain.pem", folder)
        finally:
            process.terminate()
            process.wait(timeout=10)


def certify(folder: Path) -> None:
    """A key, and a certificate that it signs for itself, for the house of the example."""
    key = ec.generate_private_key(ec.SECP256R1())
    name, now = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOUSE)]), datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOUSE)]), critical=False)
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
