"""A site that `bjsim app --export` has written: its files, addresses and policy, and that it needs nothing else."""

import json
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

import numpy
import pytest
from chromium import PROGRAM, Chromium
from click.testing import CliRunner

from bjsim.app import export, known, pages, reports
from bjsim.app.export import RUNTIME, export_site
from bjsim.app.work import ChosenGame
from bjsim.cli.main import cli
from bjsim.errors import InputError

SVG = "http://www.w3.org/2000/svg"  # a name, no address
WHEEL = "numpy-2.0.2-cp312-cp312-pyodide_2024_0_wasm32.whl"


@pytest.fixture(scope="module")
def pyodide(tmp_path_factory):
    """A folder with files named as those of Pyodide."""
    folder = tmp_path_factory.mktemp("pyodide")
    for name in (*RUNTIME, WHEEL, "pandas.whl"):
        (folder / name).write_text(name)
    lock = {"info": {"python": "3.9.1"}, "packages": {"numpy": {"file_name": WHEEL}}}
    (folder / "pyodide-lock.json").write_text(json.dumps(lock))
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory, pyodide):
    folder = tmp_path_factory.mktemp("site") / "a" / "b"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(export, "game_report", lambda game: f"<h1>{game.preset}</h1>")
        assert list(export_site(folder, str(pyodide), [])) == []
    return folder


def names(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_it_has_its_pages_and_of_pyodide_only_what_it_needs(site):
    found = names(site)
    assert found >= {f"{name}.html" for name in pages.PAGES} | {f"static/{name}" for name in pages.assets()}
    assert found >= {"index.html", "site.js", "worker.js", "service-worker.js", "app.zip", "site.json"}
    assert {name for name in found if "pyodide/" in name} == {f"pyodide/{name}" for name in (*RUNTIME, WHEEL)}
    assert "<h1>vegas-s17</h1>" in (site / "first.html").read_text(encoding="utf-8")
    asked = json.loads((site / "site.json").read_text())
    assert asked["reports"].keys() == reports.REPORTS.keys() and asked["presets"] == pages.presets()


def test_every_address_is_relative_and_leads_to_a_file(site):
    """A site may lie below a folder of its host."""
    for path in site.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        for address in re.findall(r'(?:href|src)="([^"]*)"', text):
            assert address in ("data:,", "#main") or (site / address).is_file(), f"{path.name}: {address}"
    for path in [*site.glob("*.js"), *site.glob("static/*")]:
        assert not re.search(
            r"""["'`]/(?!app"|app')\w|https?://|url\(""", path.read_text(encoding="utf-8").replace(SVG, "")
        ), path.name


def test_its_pages_are_those_of_the_app(site):
    """But for the endings of addresses, the policy that no server sends, and what to do if there is no answer."""
    for name in pages.PAGES:
        exported = re.sub(r"<meta http-equiv.*?>\n", "", (site / f"{name}.html").read_text(encoding="utf-8"))
        exported, own = (re.sub(r'(id="stopped".*?>).*?</p>', r"\1", one) for one in (exported, pages.shell(name)))
        assert re.sub(r'(<a href="\w+)\.html', r"\1", exported) == own and 'id="stopped"' in own
        assert "Run <code>bjsim app" not in (site / f"{name}.html").read_text(encoding="utf-8")


def test_its_policy_allows_nothing_inline_and_no_other_server(site):
    index = (site / "index.html").read_text(encoding="utf-8")
    policy = re.findall(r'http-equiv="Content-Security-Policy" content="(.*?)"', index)[0]
    assert "default-src &#39;none&#39;" in policy and "unsafe-inline" not in policy and "http" not in policy
    for path in site.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert text.count("Content-Security-Policy") == 1
        assert not re.search(r"<style|<script>|\son\w+=", text), path.name
        assert " style=" not in text, path.name


def test_what_works_offline_is_all_of_it(site):
    script = (site / "service-worker.js").read_text(encoding="utf-8")
    kept = json.loads(re.findall(r"FILES = (\[.*?\])", script)[0])
    assert {*kept} - {"./"} == {name for name in names(site) if "pyodide/" not in name} - {"service-worker.js"}
    assert json.loads(re.findall(r"RUNTIME = (\[.*?\])", script)[0]) == [*RUNTIME]


def test_another_pyodide_is_another_version(tmp_path, pyodide, monkeypatch):
    """Else those who have the site would keep the old one."""
    monkeypatch.setattr(export, "game_report", lambda _: "")
    monkeypatch.setattr(export, "_archive", lambda _: b"")
    versions = set()
    for number in (0, 0, 1):
        lock = json.loads((pyodide / "pyodide-lock.json").read_text()) | {"number": number}
        other, site = tmp_path / f"py{len(versions)}{number}", tmp_path / f"{number}{len(versions)}"
        shutil.copytree(pyodide, other, dirs_exist_ok=True)
        (other / "pyodide-lock.json").write_text(json.dumps(lock))
        list(export_site(site, str(other), []))
        versions.add(re.findall(r'HERE \+ "(\w+)"', (site / "service-worker.js").read_text())[0])
    assert len(versions) == 2


class Stripping(SimpleHTTPRequestHandler):
    """A host whose addresses have no .html."""

    def do_GET(self) -> None:
        """Redirect from the name of a page to its address."""
        address, _, query = self.path.partition("?")
        if address.endswith(".html"):
            self.send_response(308)
            self.send_header("Location", f"{address.removesuffix('.html')}?{query}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if Path(self.translate_path(address + ".html")).is_file():
            self.path = address + ".html"
        super().do_GET()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


START = "navigator.serviceWorker.register('service-worker.js').then(() => navigator.serviceWorker.ready)"


@pytest.mark.slow
@pytest.mark.xdist_group("chromium")
@pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium")
def test_a_host_may_redirect_from_html(site):
    """Redirected files are kept too, and shown at the next visit."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Stripping, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    shown = "document.getElementById('page')?.contentDocument?.body?.innerText.includes('vegas-s17')"
    with Chromium(online=True) as browser:
        for visit in range(2):
            browser.open(f"http://127.0.0.1:{server.server_port}/?{visit}")
            browser.run(f"{START}.then(() => {{ window.kept = true; }}); true")
            browser.until(f"window.kept && {shown}")
    server.shutdown()
    server.server_close()


def test_an_address_of_pyodide_may_stand_for_its_files(tmp_path, monkeypatch):
    monkeypatch.setattr(export, "game_report", lambda _: "")
    for number, given in enumerate(["https://example.org/py", ""]):
        folder = tmp_path / str(number)
        assert list(export_site(folder, given, [])) == [] and not (folder / "pyodide").exists()
        address = given + "/" if given else export.PYODIDE
        assert all(f'"{address}"' in (folder / name).read_text() for name in ("worker.js", "service-worker.js"))


FRESH = """
import sys
sys.path[:0] = {paths!r}
from bjsim.app.reports import answer
sys.stdout.buffer.write(repr([answer(*each) for each in {asked!r}]).encode())
assert not {{"click", "rich", "starlette", "numba", "bjsim.cli"}} & {{*sys.modules}}
"""


@pytest.mark.slow
def test_its_archive_needs_nothing_but_numpy(site, tmp_path):
    """In a new interpreter that does not see what is installed here, some reports are those of this one."""
    with zipfile.ZipFile(site / "app.zip") as archive:
        archive.extractall(tmp_path / "app")
    (tmp_path / "numpy").mkdir()
    for path in Path(numpy.__file__).parents[1].glob("numpy*"):
        (tmp_path / "numpy" / path.name).symlink_to(path)
    asked = [("game", "rules=easy"), ("hand", "rules=easy&hand=T,6 v T,7"), ("play", "rules=easy", "10"), ("hand", "")]
    code = FRESH.format(paths=[str(tmp_path / "app"), str(tmp_path / "numpy")], asked=asked)
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode() == repr([reports.answer(*each) for each in asked])


def test_its_archive_is_compiled_for_its_own_python_alone(site, tmp_path):
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    with zipfile.ZipFile(site / "app.zip") as archive:
        assert "bjsim/app/work.py" in archive.namelist() and "bjsim/app/work.pyc" not in archive.namelist()
    with zipfile.ZipFile(BytesIO(export._archive(version))) as archive:
        assert "bjsim/app/work.pyc" in archive.namelist() and "bjsim/app/work.py" not in archive.namelist()
        assert "bjsim/app/templates/game.html" in archive.namelist()
        archive.extractall(tmp_path)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from bjsim.errors import one_line; print(one_line('a'))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "a\n"


def test_figures_of_usual_games_are_known_by_their_addresses(monkeypatch):
    games = known.usual_games()
    assert len({known.game_key(game) for game in games}) == len(games) == 8 + 63
    assert ChosenGame("vegas-s17", ("decks=2", "hit_soft_17=true")) in games
    left = iter(["<progress>", "<progress>"])  # of a run, which is known when it is over
    monkeypatch.setattr(
        known,
        "answer",
        lambda name, query: (422 if name == "hand" else 200, next(left, query) if name == "run" else query),
    )
    found = known.known_answers(ChosenGame("easy", ("hit_soft_17=false",)))
    assert found["game?rules=easy&set=hit_soft_17=false"] == "rules=easy&set=hit_soft_17%3Dfalse"
    assert "change?rules=easy&set=hit_soft_17=false&to=surrender=late" in found
    first = known.known_answers(known.FIRST)
    assert first["run?rules=vegas-s17"] == "rules=vegas-s17" and first.keys() >= {"count?rules=vegas-s17"}
    assert "change?rules=vegas-s17&to=resplit_aces=true" in first and not any(key.startswith("hand") for key in first)


@pytest.mark.parametrize("processes", [1, 2])
def test_figures_travel_with_the_site(tmp_path, pyodide, monkeypatch, processes):
    monkeypatch.setattr(export, "game_report", lambda _: "")
    monkeypatch.setattr(export, "known_answers", known.game_key)
    games = [ChosenGame("easy", ()), ChosenGame("neller", ("decks=1",))]
    assert list(export_site(tmp_path, str(pyodide), games, processes)) == [(1, 2), (2, 2)]
    listed = json.loads((tmp_path / "site.json").read_text())["games"]
    assert {key: json.loads((tmp_path / name).read_text()) for key, name in listed.items()} == {
        key: key for key in ("rules=easy", "rules=neller&set=decks=1")
    }


@pytest.mark.parametrize("name", ["pyodide.asm.wasm", WHEEL, "pyodide-lock.json"])
def test_a_missing_file_of_pyodide_is_named(tmp_path, pyodide, name):
    for each in pyodide.iterdir():
        if each.name != name:
            (tmp_path / each.name).write_bytes(each.read_bytes())
    with pytest.raises(InputError, match=f"{re.escape(name)} is missing; --pyodide"):
        next(export_site(tmp_path / "site", str(tmp_path)))
    assert not (tmp_path / "site").exists()


def test_an_export_that_is_stopped_can_be_begun_again(tmp_path, pyodide, monkeypatch):
    def stop(game):
        raise KeyboardInterrupt

    monkeypatch.setattr(export, "known_answers", stop)
    with pytest.raises(KeyboardInterrupt):
        list(export_site(tmp_path / "site", str(pyodide), [ChosenGame("easy", ())]))
    assert not list((tmp_path / "site").iterdir())


@pytest.mark.parametrize("text", ["{}", "no json"])
def test_pyodide_without_numpy_is_refused(tmp_path, text):
    (tmp_path / "pyodide-lock.json").write_text(text)
    with pytest.raises(InputError, match="numpy is missing; --pyodide"):
        next(export_site(tmp_path / "site", str(tmp_path)))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--export", "full"], "the folder is not empty; name a new one"),
        (["--export", "full/file/site"], "file"),  # whatever the system says
        (["--export", "new", "--pyodide", "nowhere"], "pyodide-lock.json is missing; --pyodide nowhere"),
        (["--export", "new", "--contest", "full"], "--export and --contest cannot be combined"),
        (["--pyodide", "full"], "--pyodide needs --export DIR"),
    ],
)
def test_what_cannot_be_exported_is_refused_in_a_line(tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    Path("full").mkdir()
    Path("full/file").touch()
    answer = CliRunner().invoke(cli, ["app", *words])
    assert answer.exit_code and said in str(answer.exception or answer.output) and not Path("new").exists()
