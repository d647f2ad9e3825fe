"""A language model as a player: it asks an OpenAI-compatible endpoint, within limits, and keeps every answer.

It runs in this process, outside any sandbox, because it needs the network; so it is given as a Python player, which a
contest from elsewhere may not name without trust. A question is asked once: its first answer is kept in a file, counts
from then on, and replays the play without the endpoint.
"""

from __future__ import annotations

import json
import os
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

from bjsim.arguments import argument
from bjsim.errors import InputError, RunFailed, file_errors, shorten
from bjsim.sim.game.actions import ATTACK, EXCHANGE, INSURANCE, LETTERS, STAND, Action, View
from bjsim.sim.game.game_text import game_text
from bjsim.strategies.learning.prompts import parse_answer, write_prompt

MOST_BYTES = 1 << 20  # of a response
CHUNK = 1 << 12
TRIES = 2  # of a request that fails otherwise than by its time limit
SYSTEM = "You play blackjack for the highest expected profit. The game: {game}. End with: Action: WORD"


class ModelFault(RunFailed):
    """A model gave no action: what went wrong with the request, the answer or a limit."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The key goes to the endpoint alone."""

    def redirect_request(self, *_: object) -> None:
        return None


class ModelPlayer:
    """A language model as a player.

    Args:
        model: The name of the model, also the player's.
        url: The endpoint, such as `http://127.0.0.1:8000/v1`; None replays the answers in the file only.
        answers: The file of answers, one JSON object a line. Processes may share it.
        key_variable: The environment variable with the key, or "" for none. The key is kept nowhere.
        seconds: Time limit of a request.
        tokens: Limit of an answer.
        budget: What all answers in the file may cost together, at these prices.
        prices: Prices of a million tokens, of the prompt and of the answer.
        requests: Most questions that are asked, over all answers in the file.
        system: The instructions before each question; `{game}` is the game in words.
        options: More fields of the request, such as `{"temperature": 0}`.
        strict: Whether a fault is an error, which a contest counts as a strike; otherwise the player stands.

    Attributes:
        faults: Faults by kind: `timeout`, `endpoint`, `answer`, `budget` or `unknown` (not in the file).
        cost: What all answers in the file have cost.

    Raises:
        InputError: An argument is not accepted, or the file cannot be read.
    """

    def __init__(
        self,
        model: str,
        url: str | None,
        answers: str | os.PathLike[str],
        *,
        key_variable: str = "",
        seconds: float = 30.0,
        tokens: int = 512,
        budget: float = 1.0,
        prices: tuple[float, float] = (0.0, 0.0),
        requests: int = 1000,
        system: str = SYSTEM,
        options: dict[str, Any] | None = None,
        strict: bool = False,
    ) -> None:
        if url is not None and urllib.parse.urlsplit(url).scheme not in ("http", "https"):
            raise InputError(f"{argument('url', url)} is not accepted; use http://HOST:PORT/v1 or https://HOST/v1")
        for name, value in (("seconds", seconds), ("tokens", tokens), ("budget", budget), ("requests", requests)):
            if not value > 0:
                raise InputError(f"{argument(name, value)} is not accepted; use a number above 0")
        self.name, self.url, self.path = model, url, Path(answers)
        self.key_variable, self.seconds, self.tokens = key_variable, seconds, tokens
        self.budget, self.prices, self.requests = budget, prices, requests
        self.system, self.options, self.strict = system, options or {}, strict
        self.faults = Counter[str]()
        self.cost = 0.0
        self._known: dict[tuple[str, str], dict[str, Any]] = {}
        self._read_to = 0
        self._lock = threading.Lock()
        self._read()

    def __deepcopy__(self, memo: object) -> ModelPlayer:
        return self  # tables copy a player for its memory; the answers are common

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= {**state, "_lock": threading.Lock()}

    def decide(self, view: View) -> Action:
        """The action that the model names.

        Args:
            view: What the player sees.

        Returns:
            The action; a stand after a fault.

        Raises:
            RunFailed: There was a fault, and the player is strict.
        """
        choices = view.legal.replace("B", "")  # a prompt has words for neither amounts, attacks nor exchanges
        if choices in ("S", "", ATTACK, EXCHANGE):
            return STAND
        view = view if choices == view.legal else view._replace(legal=choices)
        try:
            answer = self._answer(self.system.replace("{game}", game_text(view.rules)), write_prompt(view))
            try:
                return Action((LETTERS + INSURANCE[0])[parse_answer(answer, view)])
            except InputError as error:
                raise ModelFault("answer", str(error)) from None
        except ModelFault as fault:
            self.faults[fault.kind] += 1
            if self.strict:
                raise
            return STAND

    def _answer(self, system: str, prompt: str) -> str:
        """The answer in the file, or a new one. Raises: ModelFault."""
        with self._lock:
            if (system, prompt) not in self._known:
                self._read()  # another process may have asked
            if (system, prompt) not in self._known:
                self._ask(system, prompt)
            kept = self._known[system, prompt]
        if kept["fault"]:
            raise ModelFault(kept["fault"], kept["detail"])
        return str(kept["answer"])

    def _ask(self, system: str, prompt: str) -> None:
        """Ask a new question and keep what comes of it. Raises: ModelFault where it may not be asked."""
        if self.url is None:
            raise ModelFault("unknown", f"{self.path} has no answer to {shorten(prompt)!r}")
        if self.cost >= self.budget or len(self._known) >= self.requests:
            limit = argument("budget", self.budget) if self.cost >= self.budget else argument("requests", self.requests)
            raise ModelFault("budget", f"{limit} is used up")
        kept: dict[str, Any] = {"model": self.name, "system": system, "prompt": prompt, "answer": "", "fault": ""}
        began = time.monotonic()
        try:
            kept["answer"], used = self._request(system, prompt)
            kept["tokens"] = [int(used.get(key) or 0) for key in ("prompt_tokens", "completion_tokens")]
        except ModelFault as fault:
            kept |= {"fault": fault.kind, "detail": str(fault), "tokens": [0, 0]}
        kept["seconds"] = round(time.monotonic() - began, 3)
        kept["cost"] = sum(number * price / 1e6 for number, price in zip(kept["tokens"], self.prices, strict=True))
        with file_errors(self.path), self.path.open("ab") as file:
            file.write(json.dumps(kept).encode() + b"\n")
        self._read()

    def _request(self, system: str, prompt: str) -> tuple[str, dict[str, Any]]:
        """Returns: the answer, and the tokens used. Raises: ModelFault."""
        messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
        body = {"model": self.name, "messages": messages, "max_tokens": self.tokens, **self.options}
        headers = {"Content-Type": "application/json"}
        if self.key_variable:
            if not (key := os.environ.get(self.key_variable)):
                raise ModelFault("endpoint", f"the environment has no {self.key_variable}")
            headers["Authorization"] = f"Bearer {key}"
        address = f"{str(self.url).rstrip('/')}/chat/completions"
        request = urllib.request.Request(address, json.dumps(body).encode(), headers)
        end, failure = time.monotonic() + self.seconds, ""
        for _ in range(TRIES):
            try:
                data = json.loads(self._receive(request, end))
                return str(data["choices"][0]["message"]["content"] or ""), dict(data.get("usage") or {})
            except TimeoutError:
                break
            except urllib.error.HTTPError as error:
                failure = f"HTTP status {error.code}"
            except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
                failure = f"{type(error).__name__}: {' '.join(str(getattr(error, 'reason', error)).split())}"
                if isinstance(getattr(error, "reason", None), TimeoutError):
                    break
        else:
            raise ModelFault("endpoint", shorten(failure))
        raise ModelFault("timeout", f"no answer in {self.seconds:g} s")

    def _receive(self, request: urllib.request.Request, end: float) -> bytes:
        """A whole response, until a deadline. Raises: OSError, ValueError."""
        opener = urllib.request.build_opener(_NoRedirect)
        content = b""
        with opener.open(request, timeout=max(0.001, end - time.monotonic())) as response:
            while part := response.read1(CHUNK):
                content += part
                if time.monotonic() > end:
                    raise TimeoutError
                if len(content) > MOST_BYTES:
                    raise ValueError(f"a response of more than {MOST_BYTES >> 20} MiB")
        return content

    def _read(self) -> None:
        """Read what was added to the file; of two answers to a question the first counts. Raises: InputError."""
        if not self.path.exists():
            return
        with file_errors(self.path), self.path.open("rb") as file:
            file.seek(self._read_to)
            lines = file.read().splitlines(keepends=True)
        for line in lines:
            if not line.endswith(b"\n"):  # another process is writing it
                return
            try:
                kept = json.loads(line)
                self._known.setdefault((kept["system"], kept["prompt"]), kept)
                self.cost += float(kept["cost"])
                _ = kept["answer"], kept["fault"]
            except (ValueError, LookupError, TypeError):
                raise InputError(f"{self.path} is not a file of a model's answers, or is damaged") from None
            self._read_to += len(line)
