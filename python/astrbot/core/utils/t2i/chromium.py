"""Pictures of pages by a Chromium of this machine, started for each picture with a profile of its own."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import shutil
import tempfile

_PLACES = (
    # Behind the distributions' scripts, which read files that a worker may not.
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "chromium",
    "google-chrome",
)
_WIDTH, _HEIGHT, _HIGHEST = 1280, 720, 16_000
_SECONDS = 40.0
_MEASURE = (
    "<script>addEventListener('load',()=>document.documentElement.setAttribute('data-size',"
    "Math.ceil(document.documentElement.scrollWidth)+'x'+Math.ceil(document.documentElement.scrollHeight)))</script>"
)


async def draw(page: str, path: str, options: dict) -> bool:
    """False where no browser can run. Of the options, `full_page` and `viewport` sizes count."""
    browser = next(filter(None, map(shutil.which, _PLACES)), None)
    # A browser reserves far more addresses than a bounded worker has.
    if browser is None or resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        return False
    with tempfile.TemporaryDirectory(prefix="render-") as folder:
        file = os.path.join(folder, "page.html")
        with open(file, "w", encoding="utf-8") as written:
            written.write(page + _MEASURE)
        width, height = _viewport(options)
        if options.get("full_page", True):
            shown = await _run(browser, folder, file, width, height, "--dump-dom")
            if found := re.search(rb'data-size="(\d+)x(\d+)"', shown):
                height = min(max(int(found[2]), 1), _HIGHEST)
        await _run(browser, folder, file, width, height, f"--screenshot={path}")
    if not os.path.exists(path):
        raise RuntimeError("the browser wrote no picture")
    return True


def _viewport(options: dict) -> tuple[int, int]:
    given = options.get("viewport") or options
    return int(given.get("width") or given.get("viewport_width") or _WIDTH), int(
        given.get("height") or _HEIGHT
    )


async def _run(browser: str, folder: str, file: str, width: int, height: int, what: str) -> bytes:
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    process = await asyncio.create_subprocess_exec(
        browser,
        "--headless",
        *sandbox,
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        "--virtual-time-budget=5000",
        f"--user-data-dir={folder}/profile",
        f"--window-size={width},{height}",
        what,
        f"file://{file}",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        shown, _ = await asyncio.wait_for(process.communicate(), _SECONDS)
    except asyncio.TimeoutError:
        process.kill()
        raise RuntimeError(f"the browser took longer than {_SECONDS:.0f} s") from None
    return shown
