//! Attack, mostly by accident: a method's error disappears in a task, a thread or a bare `except`.
//! The run ends as an error all the same, unless the code caught it by name.

use callgate_contract::Stop;

use crate::harness::attack;

#[test]
fn a_swallowed_error_still_ends_the_run() {
    let ways = [
        "try:\n    fail('it broke')\nexcept:\n    pass",
        "try:\n    fail('it broke')\nexcept BaseException:\n    pass",
        "import contextlib\nwith contextlib.suppress(BaseException):\n    fail('it broke')",
        "import threading\nthread = threading.Thread(target=fail, args=('it broke',))\nthread.start()\nthread.join()",
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n    pool.submit(fail, 'it broke')",
        "def f():\n    try:\n        fail('it broke')\n    finally:\n        return 1\nf()",
        "
import asyncio
async def one(): fail('it broke')
async def main(): await asyncio.gather(one(), one(), return_exceptions=True)
try:
    asyncio.run(main())
except BaseException:
    pass",
        "
import asyncio
async def main():
    await asyncio.gather(asyncio.to_thread(fail, 'it broke'), return_exceptions=True)
asyncio.run(main())",
        "
class A:
    def __del__(self): fail('it broke')
A()",
    ];
    for code in ways {
        attack(code).run().stops(Stop::Error).error_has("it broke");
    }
}

#[test]
fn an_error_caught_by_name_does_not() {
    let ways = [
        "try:\n    fail('it broke')\nexcept MethodError as error:\n    print(error)",
        "try:\n    fail('it broke')\nexcept (ValueError, MethodError) as error:\n    print(error)",
        "import contextlib\nwith contextlib.suppress(MethodError):\n    fail('it broke')\nprint('it broke')",
        "
def careful():
    try:
        return risky()
    except MethodError as error:
        return error
def risky(): return fail('it broke')
print(careful())",
        "
import asyncio
async def one():
    try:
        fail('it broke')
    except MethodError as error:
        return error
async def main(): return await asyncio.gather(one())
print(*asyncio.run(main()))",
    ];
    for code in ways {
        attack(code)
            .run()
            .stops(Stop::Finished)
            .prints("it broke\n");
    }
}

#[test]
fn except_exception_does_not_catch_it() {
    let code = "try:\n    fail('it broke')\nexcept Exception:\n    print('ALLOWED')";
    attack(code)
        .run()
        .stops(Stop::Error)
        .error_has("MethodError: it broke")
        .prints("");
}
