"""Processes that compute for the pages, one job at a time."""

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from bjsim.app.work import answered

SECONDS = 60  # that a job may take
LATER_SECONDS = 180  # that one in the background may take: index plays of six decks need 18 on an idle machine
LONG_SECONDS = 600  # that the first moment of long work may take, which makes tables
WAITING = 8  # pages that one process serves at once
NICE = 10  # of a process whose work can wait


def _start(niceness: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the server, which ends its workers
    if niceness and hasattr(os, "nice"):
        os.nice(niceness)


class JobProcess:
    """A worker process with a bounded queue. One that is killed, or takes too long, is replaced."""

    def __init__(self, niceness: int = 0, seconds: float = SECONDS) -> None:
        self.niceness, self.seconds = niceness, seconds
        self._newest: dict[object, object] = {}  # request by the page that waits for it
        self._turn = asyncio.Lock()
        self._ends = False
        self._pool = self._new()

    def _new(self) -> ProcessPoolExecutor:
        context = get_context("spawn")
        return ProcessPoolExecutor(1, mp_context=context, initializer=_start, initargs=(self.niceness,))

    def warm(self, job: Callable[..., str], *arguments: object) -> None:
        """Start the process by running a job; its answer is discarded."""
        self._pool.submit(answered, job, arguments)

    async def run(self, page: str, job: Callable[..., str], *arguments: object) -> tuple[int, str]:
        """Run a job, a function of a module, and return the status and the text of the answer.

        `page` is who asks, if known. A newer request of the same page replaces one that has not begun.
        """
        mine = object()
        asker: object = page or mine
        if asker not in self._newest and len(self._newest) >= WAITING:
            return 503, "too many requests at once; try again in a moment"
        self._newest[asker] = mine
        try:
            async with self._turn:
                if self._newest.get(asker) is not mine:
                    return 409, "the page has asked for something newer"
                return await self._run(job, arguments)
        finally:
            if self._newest.get(asker) is mine:
                del self._newest[asker]

    async def _run(self, job: Callable[..., str], arguments: Sequence[object]) -> tuple[int, str]:
        pool = self._pool
        if self._ends:
            return 503, "the server is stopping"
        try:
            return await asyncio.wait_for(asyncio.wrap_future(pool.submit(answered, job, arguments)), self.seconds)
        except TimeoutError:
            self._replace(pool)
            return 503, f"stopped: it took more than {self.seconds:g} s"
        except BrokenProcessPool:
            self._replace(pool)
            return 503, "the worker process died and has been restarted; try again"

    def _replace(self, pool: ProcessPoolExecutor) -> None:
        if pool is self._pool:
            self.close()
            self._pool = self._new()

    def end(self) -> None:
        """Kill the process and start no other: what waits for it is answered at once. For a handler of signals."""
        self._ends = True
        self._kill()

    def _kill(self) -> None:
        for process in list((self._pool._processes or {}).values()):
            process.kill()

    def close(self) -> None:
        self._kill()
        self._pool.shutdown(cancel_futures=True)  # joins the thread that closes the pipe; see `own_pool`
