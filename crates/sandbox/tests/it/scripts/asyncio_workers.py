import asyncio


async def worker(name, queue, results):
    while True:
        job = await queue.get()
        await asyncio.sleep(job / 1000)
        results.append((job, job * job))
        queue.task_done()


async def main():
    queue, results = asyncio.Queue(), []
    for job in (5, 1, 3, 2, 4):
        queue.put_nowait(job)
    tasks = [asyncio.create_task(worker(f"w{n}", queue, results)) for n in range(2)]
    await queue.join()
    for task in tasks:
        task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    print(sorted(results), [type(outcome).__name__ for outcome in outcomes])
    try:
        await asyncio.wait_for(asyncio.sleep(10), 0.01)
    except asyncio.TimeoutError:
        print("timed out")
    lock, order = asyncio.Lock(), []

    async def step(n):
        async with lock:
            order.append(n)

    await asyncio.gather(*(step(n) for n in range(4)))
    print(order)


asyncio.run(main())
