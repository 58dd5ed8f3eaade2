"""A proxy in front of a server that notes requests and does to some of them what networks do."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]


#: None: hand it on. "drop": close the connection instead of answering, after the server has done
#: it. A pair: answer with this status and text instead of handing it on.
Fault = Callable[[Request], "None | str | tuple[int, str]"]


class Proxy:
    def __init__(self, target: str) -> None:
        self.log: list[Request] = []
        self.fault: Fault = lambda request: None
        host = target.removeprefix("http://")
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                headers = {key.lower(): value for key, value in self.headers.items()}
                request = Request(self.command, self.path, headers)
                proxy.log.append(request)
                fault = proxy.fault(request)
                if isinstance(fault, tuple):
                    self.answer(fault[0], {}, fault[1].encode())
                    return
                connection = http.client.HTTPConnection(host, timeout=30)
                connection.putrequest(
                    self.command, self.path, skip_host=True, skip_accept_encoding=True
                )
                for key, value in self.headers.items():
                    connection.putheader(key, value)
                connection.endheaders(body)
                got = connection.getresponse()
                data = got.read()
                if fault == "drop":
                    self.close_connection = True
                    self.connection.close()
                    return
                kept = {k: v for k, v in got.getheaders() if k.lower() != "transfer-encoding"}
                self.answer(got.status, kept, data)

            def answer(self, status: int, headers: dict[str, str], data: bytes) -> None:
                self.send_response_only(status)
                for key, value in headers.items():
                    self.send_header(key, value)
                if "content-length" not in {key.lower() for key in headers} and status != 304:
                    self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

            do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = handle_any

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
