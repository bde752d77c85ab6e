//! Coroutines and threads may call methods; the calls reach the host one at a time.

use callgate_contract::Stop;

use crate::harness::trial;

#[test]
fn stubs_work_inside_coroutines() {
    let code = r#"
import asyncio

async def double(n):
    await asyncio.sleep(0.01)
    return add(n, n)

async def main():
    print(await asyncio.gather(*[double(n) for n in range(5)]))
    print(await asyncio.to_thread(add, 20, 1))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(double(50))
    print(task.result())
    async with asyncio.timeout(5):
        print(await asyncio.get_running_loop().run_in_executor(None, echo, "executor"))

asyncio.run(main())
"#;
    let outcome = trial(code).run();
    outcome
        .stops(Stop::Finished)
        .prints("[0, 2, 4, 6, 8]\n21\n100\nexecutor\n");
    assert_eq!(outcome.calls.len(), 8);
}

#[test]
fn threads_call_in_one_gapless_order() {
    let code = r#"
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool:
    print(sum(pool.map(lambda n: add(n, 1), range(200))))
"#;
    let outcome = trial(code).run();
    outcome.stops(Stop::Finished).prints("20100\n");
    let sequences: Vec<_> = outcome.calls.iter().map(|call| call.sequence).collect();
    assert_eq!(sequences, (1..=200).collect::<Vec<_>>());
    assert!(
        outcome.report.threaded,
        "its order of calls cannot be repeated"
    );
}

#[test]
fn a_slow_call_in_a_thread_does_not_stop_the_others() {
    let code = r#"
import threading, time
thread = threading.Thread(target=slow, args=(0.3,))
thread.start()
count = 0
while thread.is_alive():
    count += 1
    time.sleep(0.001)
print(count > 5)
"#;
    trial(code).run().stops(Stop::Finished).prints("True\n");
}

#[test]
fn an_error_in_a_task_ends_the_run() {
    let code = r#"
import asyncio
async def main():
    await asyncio.gather(asyncio.sleep(0), asyncio.to_thread(fail, "no luck"))
asyncio.run(main())
"#;
    trial(code)
        .run()
        .stops(Stop::Error)
        .error_has("MethodError: no luck");
}

#[test]
fn an_agent_call_in_a_coroutine_or_thread_ends_the_run() {
    let code =
        "import asyncio\nasync def main(): stop_agent('x')\nasyncio.run(main())\nprint('after')";
    trial(code).run().stops(Stop::Agent).prints("");
    let code = "import threading\nt = threading.Thread(target=stop_agent, args=('x',))\nt.start(); t.join()";
    trial(code).run().stops(Stop::Agent);
}
