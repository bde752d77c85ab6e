"""The host's side of the peer: a FastAPI route that unpickles arguments, calls, pickles the result."""

import pickle
import socket

import fastapi
import uvicorn

app = fastapi.FastAPI()


def echo(value):
    return value


METHODS = {"echo": echo}


@app.post("/call/{name}")
async def call(name: str, request: fastapi.Request):
    arguments, options = pickle.loads(await request.body())
    result = METHODS[name](*arguments, **options)
    return fastapi.Response(pickle.dumps(result), media_type="application/octet-stream")


listener = socket.create_server(("127.0.0.1", 0))
print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False)).run([listener])
