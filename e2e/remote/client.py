"""The python-socketio client against a running server: connects by every transport, calls, is
called. Owns nothing but its exit code; prints what went wrong."""

import sys
import threading

import socketio


def call(client: socketio.Client, name: str, arguments: list, target: str = "server") -> dict:
    data = {"requestId": name, "functionName": name, "args": arguments, "target": target}
    return client.call("FUNCTION_CALL", data, namespace="/function_call", timeout=20)


def visit(url: str, key: str, transports: list[str]) -> None:
    client = socketio.Client(reconnection=False)
    name = f"python-{'-'.join(transports)}"
    auth = {"clientType": "python", "clientId": name, "key": key}
    client.on("FUNCTION_CALL", answer, namespace="/function_call")
    client.connect(url, auth=auth, namespaces=["/function_call"], transports=transports)
    try:
        expected = {"requestId": "add", "success": True, "result": 3}
        assert call(client, "add", [1, 2]) == expected
        refused = call(client, "nothing", [])
        assert refused["error"] == {"message": 'Function "nothing" not found.'}, refused
        other = socketio.Client(reconnection=False)
        caller = {**auth, "clientId": f"{name}-caller"}
        other.connect(url, auth=caller, namespaces=["/function_call"], transports=transports)
        try:
            forwarded = call(other, "double", [21], target=name)
            assert forwarded["result"] == 42, forwarded
            # Bytes stay bytes, to the server, to another client and back.
            echoed = call(client, "echo", [b"\x00\xff"])
            assert echoed["result"][0] == b"\x00\xff", echoed
            forwarded = call(other, "double", [b"ab"], target=name)
            assert forwarded["result"] == b"abab", forwarded
        finally:
            other.disconnect()
    finally:
        client.disconnect()


def answer(data: dict) -> dict:
    return {"requestId": data["requestId"], "success": True, "result": data["args"][0] * 2}


def refused(url: str) -> None:
    client = socketio.Client(reconnection=False)
    heard: list = []
    said = threading.Event()

    @client.on("connect_error", namespace="/llm")
    def _(data: object = None) -> None:
        heard.append(data)
        said.set()

    auth = {"clientType": "monitor", "clientId": "nobody", "key": "wrong"}
    try:
        client.connect(url, auth=auth, namespaces=["/llm"], wait_timeout=5)
    except socketio.exceptions.ConnectionError:
        pass
    finally:
        client.disconnect()
    assert said.wait(5) and heard[0]["message"] == "Invalid key.", heard


def main() -> None:
    url, key = sys.argv[1:]
    for transports in (["polling"], ["websocket"], ["polling", "websocket"]):
        visit(url, key, transports)
    refused(url)
    print("fine")


main()
