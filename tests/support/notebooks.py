"""Runs the cells of a notebook in this process, without Jupyter, and gives their outputs as a notebook stores them."""

from __future__ import annotations

import ast
import base64
import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any


def execute(path: Path) -> list[list[dict[str, Any]]]:
    """Run all cells of code in one namespace. Returns: the outputs of each."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [_run("".join(cell["source"]), names) for cell in cells if cell["cell_type"] == "code"]


def stored(path: Path) -> list[list[dict[str, Any]]]:
    """The outputs of the cells of code in the file."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]


def store(path: Path, outputs: list[list[dict[str, Any]]]) -> None:
    """Write outputs to the file."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, (cell, output) in enumerate(zip(cells, outputs, strict=True), 1):
        cell["execution_count"], cell["outputs"] = number, output
        for one in output:
            if one["output_type"] == "execute_result":
                one["execution_count"] = number
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def texts(outputs: list[list[dict[str, Any]]]) -> list[str]:
    """What each cell printed."""
    return ["".join("".join(one["text"]) for one in cell if one["output_type"] == "stream") for cell in outputs]


def _run(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value, printed = None, io.StringIO()
    with redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)  # type: ignore[attr-defined]
    outputs: list[dict[str, Any]] = []
    if text := printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)})
    if value is not None:
        outputs.append({"output_type": "execute_result", "metadata": {}, "data": _data(value)})
    return outputs


def _data(value: Any) -> dict[str, Any]:
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    if html := getattr(value, "_repr_html_", lambda: None)():
        data["text/html"] = html.splitlines(keepends=True)
    if hasattr(value, "savefig"):
        picture = io.BytesIO()
        value.savefig(picture, format="png", dpi=100, metadata={"Software": None})
        data["image/png"] = base64.b64encode(picture.getvalue()).decode()  # type: ignore[assignment]
    return data
