"""The code's side of the peer: each call is one POST of a pickle. Reads orders "SIZE COUNT", writes
the nanoseconds of each call as one line of JSON."""

import json
import pickle
import sys
import time

import requests

address = sys.argv[1]


def call(name, *arguments, **options):
    response = requests.post(f"{address}/call/{name}", data=pickle.dumps((arguments, options)))
    response.raise_for_status()
    return pickle.loads(response.content)


for order in sys.stdin:
    size, count = map(int, order.split())
    value = "x" * size
    times = []
    for _ in range(count):
        began = time.perf_counter_ns()
        answer = call("echo", value)
        times.append(time.perf_counter_ns() - began)
        assert answer == value
    print(json.dumps(times), flush=True)
