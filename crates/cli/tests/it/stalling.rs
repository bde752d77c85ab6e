//! A plugin that blocks its worker or wants too much memory: it is named and stopped, and the others go on.

use crate::{
    scene::{Said, Scene, finish, interrupt, wait_until},
    server::Server,
};

fn with_functions(toml: &str, code: &str) -> Scene {
    let scene = Scene::configured(toml);
    let functions = scene.data().join("functions");
    std::fs::create_dir(&functions).unwrap();
    std::fs::write(functions.join("mine.py"), code).unwrap();
    scene
}

fn call(scene: &Scene, method: &str) -> Said {
    scene.callgate(&["call", method, "--json"])
}

#[test]
fn who_blocks_the_others_is_named_and_stopped() {
    let code = "import asyncio, time\n\
                async def block():\n    time.sleep(60)\n\
                async def wait():\n    await asyncio.sleep(60)\n\
                async def fine():\n    return 'fine'\n";
    let scene = with_functions("", code);
    let mut serve = scene.command(&["serve", "--listen", "127.0.0.1:0", "--json"]);
    let mut server = Server::spawn(serve.env("CALLGATE_LOG", "warn"));
    wait_until(|| call(&scene, "fine").code == Some(0));
    let begin = |method: &str| scene.command(&["call", method, "--json"]).spawn().unwrap();
    let waiting = begin("wait");
    let blocking = begin("block");
    for said in [finish(blocking), finish(waiting)] {
        assert_eq!(said.code, Some(1));
        let error = said.json()["error"].as_str().unwrap().to_owned();
        assert!(error.contains("blocked it for 5 s"), "{error}");
        assert!(error.contains("mine.py:3 in block"), "{error}");
    }
    assert_eq!(call(&scene, "fine").succeeded().json()["value"], "fine");
    let server = server.child.take().unwrap();
    interrupt(server.id());
    let log = finish(server).stderr;
    let noticed = log.find("blocks the event loop of its worker");
    let ended = log.find("plugin worker unresponsive");
    assert!(noticed.is_some() && noticed < ended, "{log}");
    assert!(log.contains("mine.py:3 in block"), "{log}");
}

#[test]
fn a_worker_has_as_much_memory_as_the_operator_says() {
    let code = "def fill():\n    return len(bytearray(3 << 30))\n";
    let scene = with_functions("", code);
    assert_eq!(
        call(&scene, "fill").succeeded().json()["value"],
        3_u64 << 30
    );
    let scene = with_functions("[plugins]\nmemory_mb = 2048\n", code);
    let said = call(&scene, "fill");
    assert_eq!(said.code, Some(1));
    let error = said.json()["error"].as_str().unwrap().to_owned();
    assert!(error.contains("MemoryError"), "{error}");
}
