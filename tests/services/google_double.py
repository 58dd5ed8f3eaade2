"""A stand-in for the XML interface of Google Cloud Storage: google_double.py PORT.

fake-gcs-server 1.56 has neither writing nor generations in that interface. This follows Google's
documentation: conditions by generation on writes, copies and reads, but none on uploads in parts,
which replace what is there.
"""

import email.utils
import hashlib
import itertools
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

BUCKET = "bkt"
PAGE = 100

lock = threading.Lock()
numbers = itertools.count(int(time.time() * 1e6))
objects: dict[str, tuple[bytes, int, float]] = {}
uploads: dict[str, dict[int, bytes]] = {}


def etag_of(data: bytes) -> str:
    return f'"{hashlib.md5(data).hexdigest()}"'


def error(status: int, code: str) -> tuple[int, dict[str, str], bytes]:
    return status, {}, f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()


def put(key: str, data: bytes) -> tuple[int, dict[str, str], bytes]:
    generation = next(numbers)
    objects[key] = (data, generation, time.time())
    return 200, {"ETag": etag_of(data), "x-goog-generation": str(generation)}, b""


def put_if(key: str, data: bytes, wanted: str | None) -> tuple[int, dict[str, str], bytes]:
    there = objects[key][1] if key in objects else 0
    if wanted is not None and int(wanted) != there:
        return error(412, "PreconditionFailed")
    return put(key, data)


def get(key: str, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
    if key not in objects:
        return error(404, "NoSuchKey")
    data, generation, modified = objects[key]
    told = {
        "ETag": etag_of(data),
        "x-goog-generation": str(generation),
        "Last-Modified": email.utils.formatdate(modified, usegmt=True),
    }
    if headers.get("x-goog-if-generation-not-match") == str(generation):
        return 304, told, b""
    if "range" not in headers:
        return 200, told, data
    first, last = (int(end) for end in headers["range"].removeprefix("bytes=").split("-"))
    if first >= len(data):
        return error(416, "InvalidRange")
    part = data[first : last + 1]
    told["Content-Range"] = f"bytes {first}-{first + len(part) - 1}/{len(data)}"
    return 206, told, part


def list_objects(query: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
    prefix, after = query.get("prefix", ""), query.get("continuation-token", "")
    keys = [key for key in sorted(objects) if key.startswith(prefix) and key > after]
    xml = ""
    for key in keys[:PAGE]:
        data, _, modified = objects[key]
        when = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(modified))
        xml += (
            f"<Contents><Key>{escape(key)}</Key><LastModified>{when}</LastModified>"
            f"<ETag>{escape(etag_of(data))}</ETag><Size>{len(data)}</Size></Contents>"
        )
    if len(keys) > PAGE:
        xml += f"<NextContinuationToken>{escape(keys[PAGE - 1])}</NextContinuationToken>"
    return 200, {}, f"<ListBucketResult>{xml}</ListBucketResult>".encode()


def upload(
    method: str, key: str, query: dict[str, str], body: bytes
) -> tuple[int, dict[str, str], bytes]:
    if "uploads" in query:
        name = f"upload-{next(numbers)}"
        uploads[name] = {}
        xml = f"<InitiateMultipartUploadResult><UploadId>{name}</UploadId></InitiateMultipartUploadResult>"
        return 200, {}, xml.encode()
    name = query["uploadId"]
    if name not in uploads:
        return error(404, "NoSuchUpload")
    if method == "DELETE":
        del uploads[name]
        return 204, {}, b""
    if method == "PUT":
        uploads[name][int(query["partNumber"])] = body
        return 200, {"ETag": etag_of(body)}, b""
    parts = uploads.pop(name)
    _, told, _ = put(key, b"".join(parts[number] for number in sorted(parts)))
    xml = f"<CompleteMultipartUploadResult><ETag>{escape(told['ETag'])}</ETag></CompleteMultipartUploadResult>"
    return 200, told, xml.encode()


def answer(
    method: str, path: str, query: dict[str, str], headers: dict[str, str], body: bytes
) -> tuple[int, dict[str, str], bytes]:
    bucket, _, key = path.lstrip("/").partition("/")
    bucket, key = urllib.parse.unquote(bucket), urllib.parse.unquote(key)
    if bucket != BUCKET:
        return error(404, "NoSuchBucket")
    with lock:
        if not key:
            return list_objects(query)
        if "uploads" in query or "uploadId" in query:
            return upload(method, key, query, body)
        wanted = headers.get("x-goog-if-generation-match")
        if method == "PUT" and "x-goog-copy-source" in headers:
            source = urllib.parse.unquote(headers["x-goog-copy-source"]).partition("/")[2]
            if source not in objects:
                return error(404, "NoSuchKey")
            return put_if(key, objects[source][0], wanted)
        if method == "PUT":
            return put_if(key, body, wanted)
        if method == "DELETE":
            return (204, {}, b"") if objects.pop(key, None) else error(404, "NoSuchKey")
        return get(key, headers)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        headers = {key.lower(): value for key, value in self.headers.items()}
        status, told, data = answer(self.command, url.path, query, headers, body)
        self.send_response_only(status)
        for key, value in told.items():
            self.send_header(key, value)
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = handle_any


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


if __name__ == "__main__":
    Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
