"""Starts real object storage servers on loopback, each with an empty bucket, for the tests.

tools/services.sh installs them. A server that can't be started raises Missing, with the reason.
"""

from __future__ import annotations

import base64
import contextlib
import datetime
import hashlib
import hmac
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SERVICES = pathlib.Path(os.environ.get("INFINO_SERVICES", ROOT / "build" / "services"))
BUCKET = "bkt"
KEY_ID, SECRET = "AKIATESTTESTTEST", "topsecretvalue123"
# Azurite's own account, which its documentation gives.
AZURE_ACCOUNT = "devstoreaccount1"
AZURE_KEY = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)


class Missing(Exception):
    """A server is not installed, or does not start."""


@dataclass
class Server:
    """A running server. `uri` is that of its bucket."""

    name: str
    uri: str
    options: dict[str, str]
    url: str
    log: pathlib.Path
    start: Callable[[], subprocess.Popen[bytes]] = field(repr=False)
    process: subprocess.Popen[bytes] | None = None

    def kill(self) -> None:
        """Ends it at once, as a crash would."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def restart(self) -> None:
        """Starts it anew with what it has stored."""
        self.kill()
        self.process = self.start()
        wait_for(self)

    def tail(self) -> str:
        return self.log.read_text(errors="replace")[-2000:]


def find(*places: str) -> str:
    for place in places:
        path = SERVICES / place
        if path.exists():
            return str(path)
        found = shutil.which(path.name)
        if found:
            return found
    raise Missing(f"{pathlib.Path(places[0]).name} is not installed; tools/services.sh does that")


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def send(method: str, url: str, headers: dict[str, str], body: bytes = b"") -> int:
    request = urllib.request.Request(url, data=body or None, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def wait_for(server: Server, seconds: float = 60) -> None:
    """Waits until the server answers requests at all."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if server.process is None or server.process.poll() is not None:
            raise Missing(f"{server.name} ended at once: {server.tail()}")
        try:
            send("GET", server.url, {})
            return
        except OSError:
            time.sleep(0.1)
    raise Missing(f"{server.name} does not answer: {server.tail()}")


def sign_s3(method: str, url: str, body: bytes = b"") -> dict[str, str]:
    """The headers of a request without query, signed with the test's key."""
    scheme, _, host, path = url.split("/", 3)
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    content = hashlib.sha256(body).hexdigest()
    headers = {"host": host, "x-amz-content-sha256": content, "x-amz-date": now}
    names = ";".join(headers)
    lines = "".join(f"{name}:{value}\n" for name, value in headers.items())
    canonical = f"{method}\n/{path}\n\n{lines}\n{names}\n{content}"
    scope = f"{now[:8]}/us-east-1/s3/aws4_request"
    to_sign = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = ("AWS4" + SECRET).encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, to_sign.encode(), "sha256").hex()
    headers["Authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={KEY_ID}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
    del headers["host"]
    return headers


def sign_azure(method: str, path: str, query: dict[str, str]) -> dict[str, str]:
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%a, %d %b %Y %H:%M:%S GMT")
    headers = {"x-ms-date": now, "x-ms-version": "2021-08-06"}
    lines = "".join(f"{name}:{value}\n" for name, value in headers.items())
    resource = f"/{AZURE_ACCOUNT}{path}" + "".join(f"\n{k}:{v}" for k, v in sorted(query.items()))
    to_sign = f"{method}\n" + "\n" * 11 + lines + resource
    digest = hmac.digest(base64.b64decode(AZURE_KEY), to_sign.encode(), "sha256")
    headers["Authorization"] = f"SharedKey {AZURE_ACCOUNT}:{base64.b64encode(digest).decode()}"
    headers["Content-Length"] = "0"
    return headers


def make(what: str, attempt: Callable[[], int], server: Server) -> None:
    """Repeats `attempt` until it succeeds: servers answer before they are ready."""
    deadline = time.monotonic() + 60
    status = 0
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            status = attempt()
            if status in (200, 201, 409):
                return
        time.sleep(0.2)
    raise Missing(f"{server.name} makes no {what}: status {status}; {server.tail()}")


def launch(command: list[str], log: pathlib.Path, folder: str) -> Callable[[], subprocess.Popen[bytes]]:
    def start() -> subprocess.Popen[bytes]:
        with log.open("ab") as out:
            return subprocess.Popen(
                command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, cwd=folder,
                start_new_session=True,
            )
    return start


def s3_options(url: str) -> dict[str, str]:
    return {
        "aws_access_key_id": KEY_ID,
        "aws_secret_access_key": SECRET,
        "aws_region": "us-east-1",
        "aws_endpoint": url,
        "aws_allow_http": "true",
    }


def seaweedfs(folder: str) -> tuple[Server, Callable[[Server], None]]:
    """S3 with signatures checked; bucket `public` may be read by anybody."""
    weed = find("venv/bin/weed")
    master, master_grpc, volume, volume_grpc, filer, filer_grpc, s3, s3_grpc = free_ports(8)
    identities = [
        {
            "name": "writer",
            "credentials": [{"accessKey": KEY_ID, "secretKey": SECRET}],
            "actions": ["Admin", "Read", "List", "Tagging", "Write"],
        },
        {"name": "anonymous", "actions": ["Read:public", "List:public"]},
    ]
    config = pathlib.Path(folder) / "s3.json"
    config.write_text(json.dumps({"identities": identities}))
    command = [
        weed, "-logtostderr=true", "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
        f"-master.port={master}", f"-master.port.grpc={master_grpc}",
        f"-volume.port={volume}", f"-volume.port.grpc={volume_grpc}", "-volume.max=100",
        "-master.volumeSizeLimitMB=64", "-filer", f"-filer.port={filer}",
        f"-filer.port.grpc={filer_grpc}", "-s3", f"-s3.port={s3}", f"-s3.port.grpc={s3_grpc}",
        f"-s3.config={config}", "-s3.port.iceberg=0", "-s3.port.lance=0",
    ]
    url = f"http://127.0.0.1:{s3}"
    log = pathlib.Path(folder) / "log"
    server = Server(
        "seaweedfs", f"s3://{BUCKET}", s3_options(url), url, log, launch(command, log, folder)
    )

    def prepare(server: Server) -> None:
        for bucket in (BUCKET, "public"):
            where = f"{url}/{bucket}"
            make("bucket", lambda: send("PUT", where, sign_s3("PUT", where)), server)
            # The first object of a bucket takes seconds.
            first, body = where + "/first", b"x" * 5000
            make("object", lambda: send("PUT", first, sign_s3("PUT", first, body), body), server)
            send("DELETE", first, sign_s3("DELETE", first))

    return server, prepare


def moto(folder: str) -> tuple[Server, Callable[[Server], None]]:
    """Answers much like S3 itself; signatures are not checked."""
    (port,) = free_ports(1)
    command = [find("venv/bin/moto_server"), "-H", "127.0.0.1", "-p", str(port)]
    url = f"http://127.0.0.1:{port}"
    log = pathlib.Path(folder) / "log"
    server = Server(
        "moto", f"s3://{BUCKET}", s3_options(url), url, log, launch(command, log, folder)
    )
    where = f"{url}/{BUCKET}"
    return server, lambda server: make(
        "bucket", lambda: send("PUT", where, sign_s3("PUT", where)), server
    )


def azurite(folder: str) -> tuple[Server, Callable[[Server], None]]:
    (port,) = free_ports(1)
    command = [
        find("node_modules/.bin/azurite-blob"), "--blobHost", "127.0.0.1", "--blobPort", str(port),
        "--location", folder, "--silent", "--skipApiVersionCheck", "--disableTelemetry",
    ]
    url = f"http://127.0.0.1:{port}"
    options = {
        "azure_storage_account_name": AZURE_ACCOUNT,
        "azure_storage_account_key": AZURE_KEY,
        "azure_endpoint": f"{url}/{AZURE_ACCOUNT}",
        "azure_allow_http": "true",
    }
    log = pathlib.Path(folder) / "log"
    server = Server("azurite", f"az://{BUCKET}", options, url, log, launch(command, log, folder))
    path = f"/{AZURE_ACCOUNT}/{BUCKET}"
    query = {"restype": "container"}
    return server, lambda server: make(
        "container",
        lambda: send("PUT", f"{url}{path}?restype=container", sign_azure("PUT", path, query)),
        server,
    )


def google_double(folder: str) -> tuple[Server, Callable[[Server], None]]:
    """Not a real server: see google_double.py."""
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}"
    double = pathlib.Path(__file__).parent / "google_double.py"
    options = {"google_base_url": url, "google_skip_signature": "true", "allow_http": "true"}
    log = pathlib.Path(folder) / "log"
    command = [sys.executable, str(double), str(port)]
    server = Server(
        "google_double", f"gs://{BUCKET}", options, url, log, launch(command, log, folder)
    )
    return server, lambda server: None


KINDS = {"seaweedfs": seaweedfs, "moto": moto, "azurite": azurite, "google_double": google_double}


@contextlib.contextmanager
def running(kind: str) -> Iterator[Server]:
    """A server of that kind, gone afterwards with all it stored."""
    with tempfile.TemporaryDirectory(prefix=f"infino-{kind}-", ignore_cleanup_errors=True) as folder:
        server, prepare = KINDS[kind](folder)
        server.log.touch()
        server.process = server.start()
        try:
            wait_for(server)
            prepare(server)
            yield server
        finally:
            server.kill()
