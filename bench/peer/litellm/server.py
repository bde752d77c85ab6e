"""LiteLLM's proxy over its mock model, on a free port: says where it listens once it answers."""

import json
import os
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

KEY = "sk-bench"
CONFIG = f"""
model_list:
  - model_name: model/bench
    litellm_params:
      model: openai/bench
      api_key: none
      mock_response: Done and said, in a few words.
general_settings:
  master_key: {KEY}
litellm_settings:
  telemetry: false
"""


def main() -> None:
    # It greets at length; what reads us wants one line.
    said = os.dup(1)
    os.dup2(2, 1)
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    config = Path(tempfile.mkdtemp(prefix="callgate-bench-")) / "config.yaml"
    config.write_text(CONFIG)

    def tell() -> None:
        while True:
            try:
                urlopen(f"http://127.0.0.1:{port}/health/liveliness", timeout=1).close()
                break
            except (URLError, OSError):
                time.sleep(0.2)
        os.write(said, (json.dumps({"address": f"127.0.0.1:{port}", "key": KEY}) + "\n").encode())

    threading.Thread(target=tell, daemon=True).start()
    from litellm import run_server  # pyright: ignore[reportAttributeAccessIssue] # not this folder
    from uvicorn.config import LOGGING_CONFIG

    # A line for each request would be measured as well.
    LOGGING_CONFIG["loggers"]["uvicorn.access"]["level"] = "WARNING"

    sys.argv = ["litellm", "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
    run_server()


main()
