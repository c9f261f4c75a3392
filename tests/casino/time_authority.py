"""A time-stamp authority as somebody else would run it: `openssl ts -reply` behind HTTP, under a root of its own."""

import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="the authority is the program openssl")

_CONFIG = """
[ authority ]
serial = {folder}/serial
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = {digests}
accuracy = secs:1
"""


class TimeAuthority:
    """Answers requests (DER of a TimeStampReq) with a certificate that its root has signed; keys are made here."""

    def __init__(self, folder: Path, *, digests: str = "sha256") -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        root = _certificate("Test root", root_key, "Test root", root_key, x509.BasicConstraints(True, None))
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING])
        signer = _certificate("Test authority", key, "Test root", root_key, usage)
        self.root = self._written("root.pem", root.public_bytes(Encoding.PEM))
        self._signer = self._written("signer.pem", signer.public_bytes(Encoding.PEM))
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        self._key = self._written("signer.key", private)
        self._config = self._written("authority.cnf", _CONFIG.format(folder=folder, digests=digests).encode())

    def answer(self, query: bytes) -> bytes:
        """The DER of a TimeStampResp."""
        asked = self._written("query.tsq", query)
        command = ["openssl", "ts", "-reply", "-config", self._config, "-section", "authority", "-queryfile", asked]
        given = ["-signer", self._signer, "-inkey", self._key, "-out", self.folder / "answer.tsr"]
        subprocess.run([*command, *given], check=True, capture_output=True)
        return (self.folder / "answer.tsr").read_bytes()

    def _written(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(data)
        return path


def _certificate(
    name: str, key: ec.EllipticCurvePrivateKey, issuer: str, by: ec.EllipticCurvePrivateKey, says: x509.ExtensionType
) -> x509.Certificate:
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(says, critical=True)
    )
    return made.sign(by, hashes.SHA256())


Answer = Callable[[bytes], tuple[int, bytes]]


@contextmanager
def served(answer: Answer) -> Iterator[str]:
    """The address of a server that answers a query with a status and a body."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.headers["Content-Type"] == "application/timestamp-query"
            status, body = answer(query)
            self.send_response(status)
            self.send_header("Content-Type", "application/timestamp-reply")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/tsa"
        finally:
            server.shutdown()
            thread.join()


def verified_by_openssl(folder: Path, note: str, response: bytes, root: Path) -> bool:
    """Whether openssl says that a response stamps a note, under a root."""
    (folder / "note").write_text(note, newline="")
    (folder / "stamp.tsr").write_bytes(response)
    command = ["openssl", "ts", "-verify", "-data", folder / "note", "-in", folder / "stamp.tsr", "-CAfile", root]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
