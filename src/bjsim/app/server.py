"""The server of `bjsim app`: who computes for its pages, and what it refuses."""

import asyncio
import secrets
import socket
from collections import OrderedDict
from types import FrameType
from typing import Any

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from bjsim.app.contest_work import INDEX, contest_assets, contest_page
from bjsim.app.controls import PAGES
from bjsim.app.jobs import LATER_SECONDS, LONG_SECONDS, NICE, JobProcess
from bjsim.app.known import READY
from bjsim.app.pages import POLICY, assets, presets, shell
from bjsim.app.reports import REPORTS, parse_query
from bjsim.app.work import ChosenGame, game_report

LONGEST_BODY = 200_000  # bytes
LONGEST_ADDRESS = 4_000
BODY_SECONDS = REQUEST_SECONDS = 10
READY_AFTER = 5  # seconds, so that the first page of a person comes first
KEPT = 400  # answers
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'",
}
DRAWN = HEADERS | {  # of a contest's pages, whose bars are as long as their style says
    "Content-Security-Policy": f"{HEADERS['Content-Security-Policy']}; style-src-attr 'unsafe-inline'"
}


class Laboratory:
    """What the server knows: its port, its secret, and its workers: for figures now, later, and after long work.

    A fourth makes figures of usual games `ready`; answers that depend on their questions alone are kept.
    contest: the folder of the contest that is shown; empty for none.
    """

    def __init__(self, port: int, contest: str = "") -> None:
        self.port, self.contest = port, contest
        self.token = secrets.token_urlsafe(24)
        self.cookie = f"bjsim-{port}"  # browsers share cookies among ports
        self.now, self.later, self.long = JobProcess(), JobProcess(NICE, LATER_SECONDS), JobProcess(NICE, LONG_SECONDS)
        self.ready = JobProcess(NICE)
        self.workers = self.now, self.later, self.long, self.ready
        self._kept: OrderedDict[tuple[object, ...], str] = OrderedDict()

    @property
    def address(self) -> str:
        """The address of the first page."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    async def answer(self, page: str, name: str, arguments: tuple[object, ...], worker: str = "") -> tuple[int, str]:
        """The status and the text of a report for a page; see `JobProcess.run`."""
        job = REPORTS[name]
        if (name, *arguments) in self._kept:
            self._kept.move_to_end((name, *arguments))
            return 200, self._kept[name, *arguments]
        found: tuple[int, str] = await getattr(self, worker or job.worker).run(page, job.make, *arguments)
        if job.kept and found[0] == 200:
            self._kept[name, *arguments] = found[1]
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return found

    async def prepare(self) -> None:
        """Make the figures of usual games ready, as long as the server runs."""
        await asyncio.sleep(READY_AFTER)
        for game in READY:
            for name in ("game", "deviation"):
                await self.answer("", name, (ChosenGame(game, ()),), "ready")
        self.ready.end()

    def refusal(self, request: Request) -> tuple[int, str] | None:
        """Why a request is refused, with its status; None if it is not."""
        hosts = (f"127.0.0.1:{self.port}", f"localhost:{self.port}")
        if request.headers.getlist("host") not in ([host] for host in hosts):
            return 421, "this server answers to 127.0.0.1 alone"
        if len(str(request.url)) > LONGEST_ADDRESS:
            return 414, "the address is too long"
        origin = request.headers.get("origin", "" if request.method == "POST" else f"http://{hosts[0]}")
        crossing = request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        if crossing or origin not in [f"http://{host}" for host in hosts]:
            return 403, "requests of other pages are refused"
        given = request.cookies.get(self.cookie) or ""
        if not secrets.compare_digest(given.encode(), self.token.encode()) and not self.enters(request):
            return 403, "open the address that bjsim app has printed"
        return None

    def enters(self, request: Request) -> bool:
        """Whether a request is for the first page, with the token in its address."""
        given = request.query_params.get("token", "")
        return request.url.path == "/" and secrets.compare_digest(given.encode(), self.token.encode())


def guarded(app: ASGIApp, laboratory: Laboratory) -> ASGIApp:
    """The app, refusing in one line what does not come from its own pages."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await app(scope, receive, send)
            return
        request = Request(scope)
        refused = laboratory.refusal(request)
        headers = DRAWN if scope["path"].startswith("/contest/") else HEADERS

        async def send_safely(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *((k.encode(), v.encode()) for k, v in headers.items())]
            await send(message)

        answering: ASGIApp = PlainTextResponse(refused[1] + "\n", refused[0]) if refused else app
        await answering(scope, receive, send_safely)

    return answer


def make_app(laboratory: Laboratory) -> ASGIApp:
    files = assets() | contest_assets()

    async def enter(request: Request) -> Response:
        answer = RedirectResponse("/start", 303)
        if laboratory.enters(request):
            answer.set_cookie(laboratory.cookie, laboratory.token, httponly=True, samesite="strict")
        return answer

    async def page(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in PAGES:
            return _unknown()
        if name == "contest" and laboratory.contest:
            return RedirectResponse(f"/contest/{INDEX}", 303)
        return Response(shell(name), media_type="text/html")

    async def contest(request: Request) -> Response:
        if not laboratory.contest:
            return RedirectResponse("/contest", 303) if request.path_params["path"] == INDEX else _unknown()
        found = await laboratory.later.run("", contest_page, laboratory.contest, request.path_params["path"])
        return _answer(*found)

    async def report(request: Request) -> Response:
        job = REPORTS.get(request.path_params["name"])
        if job is None or job.posted != (request.method == "POST"):
            return _unknown()
        try:
            text = (await asyncio.wait_for(_body(request), BODY_SECONDS)).decode() if job.posted else ""
        except TimeoutError:
            return PlainTextResponse("the upload is too slow", 408)
        except OverflowError:
            return PlainTextResponse(f"a text has at most {LONGEST_BODY:,} bytes", 413)
        except UnicodeDecodeError:
            return PlainTextResponse("the text is not in UTF-8", 422)
        # the name that a page gives itself; its newest request replaces those that wait
        page = request.headers.get("bjsim-page", "")[:60]
        given = job.arguments(parse_query(request.url.query), text)
        return _answer(*await laboratory.answer(page, request.path_params["name"], given))

    async def static(request: Request) -> Response:
        found = files.get(request.path_params["name"])
        return Response(found[0], media_type=found[1]) if found else _unknown()

    async def rules(_: Request) -> Response:
        return JSONResponse(presets())

    async def alive(_: Request) -> Response:
        return PlainTextResponse("here")

    routes = [
        Route("/", enter),
        Route("/alive", alive),
        Route("/presets", rules),
        Route("/static/{name}", static),
        Route("/report/{name}", report, methods=["GET", "POST"]),
        Route("/contest/{path:path}", contest),
        Route("/{name}", page),
    ]
    return guarded(Starlette(routes=routes), laboratory)


class HurriedProtocol(H11Protocol):
    """HTTP that times out slow connections, so that they cannot lock other clients out."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self.over: asyncio.TimerHandle | None = None
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take data; what is still missing of a request must follow soon."""
        super().data_received(data)
        self._wait()

    def _wait(self) -> None:
        waits = self.conn.their_state is h11.IDLE
        if waits and self.over is None:
            self.over = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)
        elif not waits and self.over:
            self.over.cancel()
            self.over = None


class EndingServer(uvicorn.Server):
    """A server that ends the work of a laboratory at Ctrl-C, so that no request holds it up."""

    laboratory: Laboratory

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve, and to make figures ready."""
        await super().startup(sockets)
        self.preparing = asyncio.create_task(self.laboratory.prepare())

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End the work, then the server."""
        for worker in self.laboratory.workers:
            worker.end()
        super().handle_exit(sig, frame)


def serve(laboratory: Laboratory, listening: socket.socket) -> None:
    """Serve until Ctrl-C on a listening socket."""
    config = uvicorn.Config(
        make_app(laboratory), http=HurriedProtocol, log_level="error",
        access_log=False, server_header=False, lifespan="off", ws="none",
        limit_concurrency=64, timeout_keep_alive=5, timeout_graceful_shutdown=1, h11_max_incomplete_event_size=16_384,
    )  # fmt: skip
    for worker in (laboratory.now, laboratory.later, laboratory.long):
        worker.warm(game_report, ChosenGame("vegas-s17", ()))
    try:
        server = EndingServer(config)
        server.laboratory = laboratory
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        pass
    finally:
        for worker in laboratory.workers:
            worker.close()


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_BODY:
            raise OverflowError
    return bytes(body)


def _answer(status: int, text: str) -> Response:
    return Response(text, status, media_type="text/html" if status == 200 else "text/plain")


def _unknown() -> Response:
    return PlainTextResponse("there is no such page", 404)
