"""One picture of one page, in a process of its own: takes `{"html", "options"}` as JSON on standard input and
writes the picture to standard output. Its working directory is its own and thrown away afterwards.

The page is untrusted: users' words are in it. The host starts this behind a wall of its own, so that the
browser has no network, a profile that is thrown away, and no file but the system's own.
"""

import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
from typing import Any, BinaryIO

PLACES = (
    # Behind the distributions' scripts, which want to read and write more than they need.
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/opt/chromium/chrome",
    "chromium",
    "chromium-browser",
    "google-chrome",
)
NO_BROWSER = 3
_FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=127.0.0.1:9",
)
_LARGEST_SIDE = 16_000
_SCALES = {"normal": 1.0, "high": 1.3, "ultra": 1.8}
# Every picture and font is there, or will never be.
_SETTLED = """new Promise(done => {
  const drawn = () => document.fonts.ready.then(() => requestAnimationFrame(() => requestAnimationFrame(() => {
    const page = document.documentElement
    done([page.scrollWidth, page.scrollHeight])
  })))
  document.readyState === 'complete' ? drawn() : addEventListener('load', drawn)
})"""


class Page:
    """A page of a browser that speaks its debugging protocol over a pipe."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader = reader
        self._writer = writer
        self._asked = 0
        self._session: str | None = None

    def open(self) -> None:
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._asked += 1
        message: dict[str, Any] = {"id": self._asked, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        try:
            self._writer.write(json.dumps(message).encode() + b"\0")
            self._writer.flush()
        except BrokenPipeError:
            raise EOFError("the browser ended") from None
        while True:
            answer = json.loads(self._next())
            if answer.get("id") != self._asked:
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error'].get('message')}")
            return answer["result"]

    def _next(self) -> bytes:
        """Messages end with a zero byte."""
        message = bytearray()
        while not message.endswith(b"\0"):
            piece = self._reader.peek(1)  # type: ignore[attr-defined]
            if not piece:
                raise EOFError("the browser ended")
            end = piece.find(b"\0")
            message += self._reader.read(end + 1 if end >= 0 else len(piece))
        return bytes(message[:-1])

    def evaluate(self, expression: str) -> Any:
        answer = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        return answer["result"].get("value")


def picture(page: Page, html: str, options: dict[str, Any]) -> bytes:
    viewport = options.get("viewport") or {}
    width = _side(viewport.get("width") or options.get("viewport_width") or 1280)
    height = _side(viewport.get("height") or options.get("viewport_height") or 720)
    scale = _SCALES.get(str(options.get("device_scale_factor_level")), 1.0)
    metrics = {"deviceScaleFactor": scale, "mobile": False}
    page.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, **metrics)
    if options.get("omit_background"):
        page.ask("Emulation.setDefaultBackgroundColorOverride", color={"r": 0, "g": 0, "b": 0, "a": 0})
    page.evaluate(f"document.open(); document.write({json.dumps(html)}); document.close()")
    size = page.evaluate(_SETTLED) or [width, height]
    shown = {"x": 0, "y": 0, "width": width, "height": height}
    if isinstance(clip := options.get("clip"), dict):
        shown |= {name: float(clip[name]) for name in shown if name in clip}
    elif options.get("full_page", True):
        shown |= {"width": max(width, _side(size[0])), "height": _side(size[1])}
    asked: dict[str, Any] = {"format": "jpeg" if options.get("type") in ("jpeg", "jpg") else "png"}
    if asked["format"] == "jpeg":
        asked["quality"] = min(max(int(options.get("quality") or 80), 1), 100)
    taken = page.ask(
        "Page.captureScreenshot", clip={**shown, "scale": 1}, captureBeyondViewport=True, **asked
    )
    return base64.b64decode(taken["data"])


def _side(length: Any) -> int:
    return min(max(int(length), 1), _LARGEST_SIDE)


def start(browser: str, folder: str, flags: list[str]) -> tuple[subprocess.Popen, BinaryIO, BinaryIO]:
    """The browser finds its pipe at the descriptors 3 and 4, which are kept free for it."""
    (theirs_in, ours_out), (ours_in, theirs_out) = _pipe(), _pipe()
    os.dup2(theirs_in, 3)
    os.dup2(theirs_out, 4)
    process = subprocess.Popen(
        [browser, *_FLAGS, *flags, f"--user-data-dir={folder}/profile"],
        pass_fds=(3, 4),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"HOME": folder, "TMPDIR": folder, "PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8"},
        cwd=folder,
    )
    for descriptor in (3, 4, theirs_in, theirs_out):
        os.close(descriptor)
    return process, os.fdopen(ours_in, "rb"), os.fdopen(ours_out, "wb")


def _pipe() -> tuple[int, int]:
    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return high[0], high[1]


def main() -> int:
    asked = json.load(sys.stdin)
    browser = next(filter(None, map(shutil.which, PLACES)), None)
    if browser is None:
        return NO_BROWSER
    folder = os.getcwd()
    # Root's browser has no sandbox of its own, nor has one in some containers: ours stands.
    for flags in ([["--no-sandbox"]] if os.geteuid() == 0 else [[], ["--no-sandbox"]]):
        process, reader, writer = start(browser, folder, flags)
        try:
            page = Page(reader, writer)
            page.open()
            sys.stdout.buffer.write(picture(page, asked["html"], asked.get("options") or {}))
            return 0
        except EOFError:
            continue
        finally:
            process.kill()
            process.wait()
    print("the browser ended before it had drawn anything", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
