"""Reports an MCP server's work to the impatient-hop sidecar. Standard library only; copy this file beside your server.

    from impatient_hop_probe import track_work

    with track_work(traceparent, request_id):            # or `async with`
        ...                                              # an exception is reported and goes on
    work = track_work(traceparent, request_id).start(); ...; work.end("ok")

    with track_work_of(ctx):                             # ctx: the Context of FastMCP or of the MCP Python SDK
        ...
    mcp.add_middleware(WorkMiddleware())                 # FastMCP 2.9 and later: every tools/call

Reports are POSTed by one background thread to IMPATIENT_HOP_WORK_URL, else http://127.0.0.1:4318/work; "off" sends
nothing. A sidecar that is absent or slow changes nothing for the server: nothing here raises, waits or blocks exit for
more than a second. Both frameworks' servers read their trace context from `_meta` alone: run the sidecar with
`--inject meta` or `both`.
"""

import asyncio
import atexit
import collections
import http.client
import json
import os
import threading
import time
import urllib.parse

__all__ = ["Probe", "Work", "WorkMiddleware", "flush", "track_work", "track_work_of"]

DEFAULT_URL = "http://127.0.0.1:4318/work"
QUEUE_MAX = 1000
OLD_S = 60.0
TIMEOUT_S = 5.0
RETRY_FIRST_S, RETRY_MAX_S = 0.1, 10.0


class Probe:
    """A bounded queue and the thread that empties it."""

    def __init__(self, url=None):
        self._address = _address_of(url or os.environ.get("IMPATIENT_HOP_WORK_URL") or DEFAULT_URL)
        self._queue = collections.deque()
        self._changed = threading.Condition()
        self._sending = False
        self._thread = None
        self._pid = None
        self.sent = 0
        self.dropped = 0
        self.refused = 0

    def send(self, message):
        """Queues one message; the oldest is dropped where the queue is full."""
        if self._address is None:
            return
        try:
            body = json.dumps(message).encode()
        except (TypeError, ValueError):
            return
        with self._changed:
            if len(self._queue) >= QUEUE_MAX:
                self._queue.popleft()
                self.dropped += 1
            self._queue.append((time.monotonic(), body))
            # A forked child has the queue, but not the thread.
            if self._thread is None or self._pid != os.getpid():
                self._pid = os.getpid()
                self._thread = threading.Thread(target=self._run, name="impatient-hop-probe", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def flush(self, limit_s=1.0):
        """Waits until all is sent; False: it was not within the limit."""
        until = time.monotonic() + limit_s
        with self._changed:
            while self._queue or self._sending:
                left = until - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(left)
            return True

    def _run(self):
        connection = None
        retry_s = RETRY_FIRST_S
        while True:
            with self._changed:
                self._sending = False
                self._changed.notify_all()
                while not self._queue:
                    self._changed.wait()
                queued_at, body = self._queue.popleft()
                self._sending = True
            if time.monotonic() - queued_at > OLD_S:
                self.dropped += 1
                continue
            try:
                connection = connection or http.client.HTTPConnection(*self._address[:2], timeout=TIMEOUT_S)
                connection.request("POST", self._address[2], body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                answer.read()
                if answer.status < 300:
                    self.sent += 1
                else:
                    self.refused += 1
                retry_s = RETRY_FIRST_S
            except Exception:  # absent, restarted, or no HTTP at all: try again later
                if connection is not None:
                    connection.close()
                connection = None
                with self._changed:
                    if len(self._queue) < QUEUE_MAX:
                        self._queue.appendleft((queued_at, body))
                    else:
                        self.dropped += 1
                time.sleep(retry_s)
                retry_s = min(retry_s * 2, RETRY_MAX_S)


class Work:
    """One piece of work: a context manager, plain or async. What comes after its first end is ignored."""

    def __init__(self, probe, traceparent, request_id):
        self._probe = probe
        self._message = {"traceparent": traceparent, "requestId": request_id}
        self._is_over = not isinstance(traceparent, str)
        self._is_started = False

    def start(self):
        if not self._is_over and not self._is_started:
            self._is_started = True
            self._report("start", None)
        return self

    def end(self, outcome="ok"):
        """`aborted` where it stopped because it was told to."""
        if not self._is_over:
            self._is_over = True
            self._report("abort" if outcome == "aborted" else "end", outcome)

    def _report(self, event, outcome):
        message = {"event": event, **self._message, "at": time.time() * 1000}
        self._probe.send(message if outcome is None else {**message, "outcome": outcome})

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, error, trace):
        if kind is None:
            self.end("ok")
        else:
            stopped = (asyncio.CancelledError, GeneratorExit, KeyboardInterrupt)
            self.end("aborted" if issubclass(kind, stopped) else "error")
        return False

    async def __aenter__(self):
        return self.__enter__()

    async def __aexit__(self, kind, error, trace):
        return self.__exit__(kind, error, trace)


_shared = None
_shared_lock = threading.Lock()


def _the_probe():
    global _shared
    with _shared_lock:
        if _shared is None:
            _shared = Probe()
            atexit.register(flush)
        return _shared


def flush(limit_s=1.0):
    """Waits until all is sent; False: it was not within the limit."""
    return True if _shared is None else _shared.flush(limit_s)


def track_work(traceparent, request_id=None, probe=None):
    """The work for the request that came with this traceparent. Without one nothing is reported."""
    return Work(probe or _the_probe(), traceparent, request_id)


def track_work_of(ctx, probe=None):
    """The work of a tool, from the Context that FastMCP or the MCP Python SDK hands it."""
    request = None
    try:
        request = ctx.request_context
    except Exception:  # no request: a Context outside of a call raises
        pass
    return track_work(_traceparent_of(request), getattr(request, "request_id", None), probe)


def _traceparent_of(request):
    """The header before `_meta`: it is the one that the sidecar set, unless it was told to set the other."""
    try:
        found = request.request.headers.get("traceparent")
        if found:
            return found
    except Exception:
        pass
    meta = getattr(request, "meta", None)
    if isinstance(meta, dict):
        return meta.get("traceparent")
    found = getattr(meta, "traceparent", None)
    return found if isinstance(found, str) else None


class WorkMiddleware:
    """FastMCP middleware: reports every tools/call.

    NOT RUN by impatient-hop's own tests against FastMCP itself, only against a stand-in of its documented shape:
    an awaitable called with (context, call_next), where context has `method` and `fastmcp_context`.
    """

    def __init__(self, probe=None):
        self._probe = probe

    async def __call__(self, context, call_next):
        if getattr(context, "method", None) != "tools/call":
            return await call_next(context)
        async with track_work_of(getattr(context, "fastmcp_context", None), self._probe) as work:
            result = await call_next(context)
            if getattr(result, "is_error", False) is True or getattr(result, "isError", False) is True:
                work.end("error")
            return result


def _address_of(url):
    """Host, port and path; None: off, or no address."""
    try:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "ws") or not parts.hostname:
            return None
        path = parts.path if parts.path not in ("", "/") else "/work"
        return parts.hostname, parts.port or 80, path
    except ValueError:
        return None
