import queue
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed

with ThreadPoolExecutor(max_workers=4) as pool:
    print(list(pool.map(lambda n: n**3, range(8))))
    futures = {pool.submit(pow, 2, n): n for n in range(5)}
    print(sorted(future.result() for future in as_completed(futures)))

counter, lock = 0, threading.Lock()


def count():
    global counter
    for _ in range(1000):
        with lock:
            counter += 1


threads = [threading.Thread(target=count) for _ in range(5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(counter)
jobs = queue.Queue()
threading.Thread(target=lambda: [jobs.put(n) for n in (1, 2, None)]).start()
print(list(iter(jobs.get, None)))
