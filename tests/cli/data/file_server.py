"""A web server on loopback that serves bytes, and can fail in the usual ways."""
import http.server
import re
import threading


class FileServer:
    """Serves `files` (name to bytes) from a thread until close().

    ranges      whether it supports requests of ranges
    most        largest number of bytes that it sends of a range; the headers have the actual range
    cut_after   number of bytes of a body after which it drops the connection
    hold_after  number of bytes of a body after which it waits until close()
    """

    def __init__(self, files, ranges=True, most=None, cut_after=None, hold_after=None):
        self.files, self.ranges, self.most = files, ranges, most
        self.cut_after, self.hold_after = cut_after, hold_after
        self.requests = []  # (path, Range header or None, status)
        self.asked, self.holding, self.closed = threading.Event(), threading.Event(), threading.Event()
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                owner.answer(self)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/sets"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def close(self):
        self.closed.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def answer(self, handler):
        content = self.files.get(handler.path.removeprefix("/sets/"))
        asked = handler.headers["Range"]
        span = re.fullmatch(r"bytes=(\d+)-", asked or "") if self.ranges else None
        first = int(span[1]) if span else 0
        if content is None:
            status, body = 404, b"<p>There is no such file."
        elif span and first >= len(content):
            status, body = 416, b""
        else:
            status, body = (206 if span else 200), content[first:][:self.most if span else None]
        self.requests.append((handler.path, asked, status))
        self.asked.set()
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body)))
        if status == 206:
            handler.send_header("Content-Range", f"bytes {first}-{first + len(body) - 1}/{len(content)}")
        elif status == 416:
            handler.send_header("Content-Range", f"bytes */{len(content)}")
        handler.end_headers()
        self.send(handler, body)

    def send(self, handler, body):
        handler.close_connection = True
        most = min(limit for limit in (len(body), self.cut_after, self.hold_after) if limit is not None)
        try:
            handler.wfile.write(body[:most])
        except ConnectionError:
            return  # the client closed the connection
        if most < len(body) and self.hold_after is not None:
            self.holding.set()
            self.closed.wait()
