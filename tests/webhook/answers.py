"""What a stand-in for an API server on loopback sends back."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from typing import Any


class Answering(BaseHTTPRequestHandler):
    """Answers a GET with the code and the object that `said` gives, and keeps no log."""

    def said(self) -> tuple[int, dict[str, Any]]:
        raise AssertionError("nobody says what is answered")

    def do_GET(self) -> None:
        code, said = self.said()
        sent = json.dumps(said).encode()
        self.send_response(code)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: object) -> None:
        pass
