"""Sends notifications: this file, run as a program, reads a URL, then one JSON text a line, and POSTs each.

It is a process of its own, so that a slow or dead server holds up nothing, and no worker is forked beside a thread.
"""

from __future__ import annotations

import sys
from typing import Any
from urllib.error import URLError
from urllib.request import HTTPErrorProcessor, HTTPHandler, HTTPSHandler, OpenerDirector, Request

TIMEOUT_S = 5.0


class SuccessOnly(HTTPErrorProcessor):
    """Raises an error for any answer but success; redirects are not followed."""

    def http_response(self, request: Request, response: Any) -> Any:
        if not 200 <= response.status < 300:
            response.close()
            raise URLError(f"the server answered {response.status}")
        return response

    https_response = http_response


def post(url: str, body: bytes) -> None:
    """POST a JSON text. Raises: OSError and others, if it does not arrive."""
    opener = OpenerDirector()  # only http and https, without redirects and proxies
    for handler in (HTTPHandler(), HTTPSHandler(), SuccessOnly()):
        opener.add_handler(handler)
    headers = {"Content-Type": "application/json", "User-Agent": "bjsim"}
    opener.open(Request(url, body, headers, method="POST"), timeout=TIMEOUT_S).close()


def main() -> None:
    """Send all notifications; report the first failure, without the URL, which may be secret."""
    url = sys.stdin.readline().strip()
    warned = False
    for line in sys.stdin:
        try:
            post(url, line.strip().encode())
        except Exception as error:  # whatever the server does, the next one is tried
            if not warned:
                warned = True
                reason = str(error.reason if isinstance(error, URLError) else error).replace(url, "the URL")
                print(f"a notification was not sent ({reason!r}); later failures are not reported", file=sys.stderr)


if __name__ == "__main__":
    main()
