"""Attacks on a real server: each is refused in a line, and the pages go on. More are in test_server.py."""

import http.client
import re
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from app.served import Served

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
    pytest.mark.xdist_group("served"),
    pytest.mark.slow,
]
MEGABYTES = 1 << 20


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    made = Served(home=tmp_path_factory.mktemp("home"))
    assert alive(made)
    yield made
    made.stop()
    assert made.process.returncode == 0


def cookie(served):
    return {f"bjsim-{served.port}": served.token}


def alive(served):
    return httpx.get(f"{served.base}/alive", cookies=cookie(served), timeout=20).text == "here"


def send(served, data, seconds=15):
    """What the server answers to bytes."""
    with socket.create_connection(("127.0.0.1", served.port), seconds) as line:
        line.sendall(data)
        answer = b""
        try:
            while part := line.recv(65536):
                answer += part
                if b"\r\n\r\n" in answer:
                    break
        except (TimeoutError, ConnectionError):
            pass
        return answer


def head(served, line, *more):
    lines = [line, f"Host: 127.0.0.1:{served.port}", f"Cookie: bjsim-{served.port}={served.token}", *more]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


@pytest.mark.parametrize(
    ("line", "more", "status"),
    [
        ("GET /../../../../etc/passwd HTTP/1.1", [], 404),
        ("GET /static/..%2f..%2f..%2fetc%2fpasswd HTTP/1.1", [], 404),
        ("GET //etc/passwd HTTP/1.1", [], 404),
        ("GET /static/%00 HTTP/1.1", [], 404),
        ("GET /contest/../../etc/passwd HTTP/1.1", [], 404),
        ("GET http://evil.example/game HTTP/1.1", [], None),
        ("CONNECT evil.example:443 HTTP/1.1", [], None),
        ("TRACE /game HTTP/1.1", [], 405),
        ("DELETE /game HTTP/1.1", [], 405),
        ("PUT /report/chart HTTP/1.1", [], 405),
        ("OPTIONS /report/game HTTP/1.1", ["Origin: http://evil.example"], 403),
        ("GET /report/game HTTP/1.1", ["Origin: http://evil.example"], 403),
        ("GET /report/game HTTP/1.1", ["Sec-Fetch-Site: cross-site"], 403),
        ("GET /game HTTP/1.1", ["Host: evil.example"], 400),
        ("GET /alive HTTP/1.1", ["Upgrade: websocket", "Connection: Upgrade"], 200),
        ("GET /report/hand?hand=" + "A" * 8000 + " HTTP/1.1", [], 414),
        ("GET /game HTTP/1.1", ["X-Long: " + "x" * 600_000], 400),
        ("GET /game HTTP/x", [], 400),
        ("POST /report/chart HTTP/1.1", ["Content-Length: -1"], 400),
        ("POST /report/chart HTTP/1.1", ["Content-Length: 5", "Transfer-Encoding: chunked"], None),
        ("POST /report/run HTTP/1.1", ["Content-Length: 0", "Content-Type: application/x-www-form-urlencoded"], 403),
        ("POST /report/play HTTP/1.1", ["Content-Length: 0", "Origin: null"], 403),
    ],
)
def test_a_strange_request_is_refused_in_a_line(served, line, more, status):
    answer = send(served, head(served, line, *more))
    found = int(re.match(rb"HTTP/1.1 (\d+)", answer)[1]) if answer.startswith(b"HTTP") else None
    assert found == status if status else found in (None, 400, 403, 404, 405, 421)
    assert b"root:" not in answer and alive(served)


@pytest.mark.parametrize("data", [b"\0" * 5000, b"\x16\x03\x01\x02\x00\x01\x00", b"GET /game\r\n\r\n", b"\r\n" * 9000])
def test_what_is_no_request_is_refused(served, data):
    answer = send(served, data + b"\r\n\r\n", 3)
    assert b" 200 " not in answer and alive(served)


def test_an_endless_upload_is_cut_off(served):
    before = served.memory()
    start = head(served, "POST /report/chart HTTP/1.1", f"Origin: {served.base}", "Transfer-Encoding: chunked")
    refused = False
    with socket.create_connection(("127.0.0.1", served.port), 10) as line:
        line.sendall(start)
        try:
            for _ in range(400):
                line.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        except OSError:
            refused = True
        line.settimeout(5)
        try:
            answer = line.recv(1000)
        except OSError:
            answer = b""
    assert refused or b" 413 " in answer
    assert served.memory() - before < 20 * MEGABYTES and alive(served)


def test_thousands_of_jobs_at_once_are_bounded(served):
    before = served.memory()

    def ask(first):
        line, found = http.client.HTTPConnection("127.0.0.1", served.port, timeout=100), []
        for number in range(first, first + 70):
            sent = {"Cookie": f"bjsim-{served.port}={served.token}", "bjsim-page": str(number)}
            line.request("GET", "/report/hand?rules=easy&hand=x", headers=sent)
            answer = line.getresponse()
            answer.read()
            found.append(answer.status)
        return found

    with ThreadPoolExecutor(30) as pool:
        found = [status for statuses in pool.map(ask, range(0, 2100, 70)) for status in statuses]
    assert set(found) == {422, 503}
    assert served.memory() - before < 40 * MEGABYTES and alive(served)


def test_hundreds_of_tables_and_runs_are_bounded(served):
    origin = {"Origin": served.base}
    with httpx.Client(cookies=cookie(served), headers=origin, timeout=60) as client:
        for seed in range(60):
            answer = client.post(f"{served.base}/report/play?rules=easy&seed={seed}", content="10")
            assert answer.status_code == 200
        for seed in range(20):
            assert client.post(f"{served.base}/report/run?rules=easy&hands=1000&seed={seed}").status_code == 200
    pages = (Path(f"/proc/{worker}/statm").read_text().split()[1] for worker in served.workers())
    assert all(int(each) * 4096 < 900 * MEGABYTES for each in pages)


def test_slow_clients_keep_out_nobody(served):
    """60 connections that never end their request; the server takes 64 at a time."""

    def dawdle(number):
        with socket.create_connection(("127.0.0.1", served.port), 40) as line:
            began = time.monotonic()
            line.sendall(b"GET /game HTTP/1.1\r\n" if number % 2 else b"")
            try:
                while line.recv(1000):
                    pass
            except OSError:
                pass
            return time.monotonic() - began

    with ThreadPoolExecutor(60) as pool:
        waiting = [pool.submit(dawdle, number) for number in range(60)]
        time.sleep(0.5)
        assert alive(served)
        assert max(each.result(40) for each in waiting) < 20
    assert alive(served)


def test_a_slow_upload_is_given_up(served):
    start = head(served, "POST /report/chart HTTP/1.1", f"Origin: {served.base}", "Content-Length: 1000")
    assert b" 408 " in send(served, start + b"x", 20)
    assert alive(served)
