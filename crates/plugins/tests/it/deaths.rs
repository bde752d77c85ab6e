//! Workers that die, hang, exit or run out of memory: what callers see, and that the rest goes on.

use std::time::Duration;

use callgate_contract::Value;
use callgate_plugins::PluginOptions;

use crate::scene::Scene;

const BAD: &str = "\
import asyncio, os, re, sys, time
async def die():
    os._exit(7)
async def killed():
    os.kill(os.getpid(), 9)
async def leave():
    sys.exit('enough')
async def leave_in_task():
    async def inner(): sys.exit(3)
    asyncio.create_task(inner())
async def block():
    time.sleep(60)
async def spin():
    re.match(r'(a+)+$', 'a' * 40 + 'b')
async def fill():
    held = []
    while True: held.append(bytearray(64 << 20))
async def crash():
    import ctypes
    ctypes.string_at(0)
async def crash_the_system():
    raise BaseException('base')
";

const GOOD: &str = "async def fine(): return 'fine'\nasync def wait():\n    import asyncio\n    await asyncio.sleep(60)\n";

async fn scene(change: impl FnOnce(&mut PluginOptions)) -> Scene {
    let scene = Scene::with(change).await;
    scene.load("bad", BAD).await.unwrap();
    scene.load("good", GOOD).await.unwrap();
    scene
}

async fn fine(scene: &Scene) {
    assert_eq!(scene.value("fine", Vec::new()).await, Value::from("fine"));
}

#[tokio::test]
async fn a_worker_that_dies_is_reported_and_started_again() {
    let scene = scene(|_| ()).await;
    assert_eq!(
        scene.refusal("die").await,
        "the plugins' worker 'probe' ended: it exited with code 7 while plugin 'bad' was at work"
    );
    fine(&scene).await;
}

#[tokio::test]
async fn others_that_wait_are_told_at_once() {
    let scene = scene(|_| ()).await;
    let (waiting, killed) = tokio::join!(scene.refusal("wait"), async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        scene.refusal("killed").await
    });
    assert!(killed.contains("signal 9"), "{killed}");
    assert!(waiting.contains("signal 9"), "{waiting}");
    fine(&scene).await;
}

#[tokio::test]
async fn a_plugin_at_work_at_two_deaths_gets_a_worker_of_its_own() {
    let scene = scene(|_| ()).await;
    for _ in 0..2 {
        assert!(scene.refusal("crash").await.contains("signal 11"));
        fine(&scene).await;
    }
    let worker = async || loop {
        let worker = scene.plugins.plugin("bad").unwrap().source.worker;
        match worker.as_str() {
            "probe" => tokio::time::sleep(Duration::from_millis(20)).await,
            _ => return worker,
        }
    };
    let own = tokio::time::timeout(Duration::from_secs(20), worker())
        .await
        .unwrap();
    assert_eq!(scene.plugins.plugin("good").unwrap().source.worker, "probe");
    // Its own deaths no longer concern the others.
    let shared = scene.plugins.worker("probe").unwrap();
    assert!(scene.refusal("die").await.contains(&own));
    assert!(shared.is_running());
    fine(&scene).await;
}

#[tokio::test]
async fn exiting_is_an_error_of_the_call_and_not_the_end_of_the_process() {
    let scene = scene(|_| ()).await;
    assert_eq!(scene.refusal("leave").await, "SystemExit: enough");
    assert_eq!(
        scene.refusal("crash_the_system").await,
        "BaseException: base"
    );
    assert_eq!(scene.value("leave_in_task", Vec::new()).await, Value::Null);
    tokio::time::sleep(Duration::from_millis(100)).await;
    fine(&scene).await;
}

#[tokio::test]
async fn a_blocked_loop_is_shown_by_its_line_and_ended() {
    let patience = |options: &mut PluginOptions| options.patience = Duration::from_millis(700);
    let scene = scene(patience).await;
    for (method, line) in [
        ("block", "bad.py:12 in block"),
        ("spin", "bad.py:14 in spin"),
    ] {
        let refusal = scene.refusal(method).await;
        assert!(
            refusal.contains("plugin 'bad' blocked it for 0.7 s"),
            "{refusal}"
        );
        assert!(refusal.contains(line), "{refusal}");
        fine(&scene).await;
    }
}

#[tokio::test]
async fn a_loop_that_keeps_others_waiting_is_ended_sooner() {
    let scene = scene(|_| ()).await;
    let (blocked, waiting) = tokio::join!(scene.refusal("block"), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        scene.refusal("wait").await
    });
    for refusal in [blocked, waiting] {
        assert!(
            refusal.contains("plugin 'bad' blocked it for 5 s, at ")
                && refusal.contains("bad.py:12 in block"),
            "{refusal}"
        );
    }
    fine(&scene).await;
}

#[tokio::test]
async fn memory_has_an_end_and_the_worker_none() {
    let scene = scene(|options| options.memory = 1 << 30).await;
    assert_eq!(
        scene.refusal("fill").await,
        "MemoryError (without a message)"
    );
    fine(&scene).await;
}

#[tokio::test]
async fn a_plugin_that_does_not_load_is_reported_and_the_rest_work() {
    let scene = scene(|_| ()).await;
    let error = scene
        .load("broken", "import no_such_package\n")
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "ModuleNotFoundError: No module named 'no_such_package'"
    );
    assert!(error.traceback().unwrap().contains("broken.py\", line 1"));
    let error = scene.load("typo", "def f(:\n").await.unwrap_err();
    assert!(error.to_string().starts_with("SyntaxError"), "{error}");
    fine(&scene).await;
}

#[tokio::test]
async fn a_plugin_that_ends_the_process_while_it_loads_is_left_out() {
    let scene = Scene::with(|options| options.load_limit = Duration::from_secs(5)).await;
    let sources = vec![
        scene.source("first", "async def one(): return 1\n"),
        scene.source("fatal", "import os\nos._exit(3)\n"),
        scene.source("stuck", "import time\ntime.sleep(600)\n"),
        scene.source("last", "async def two(): return 2\n"),
    ];
    let results = scene.plugins.load(sources).await;
    let told: Vec<String> = results
        .iter()
        .map(|(source, result)| match result {
            Ok(loaded) => loaded.id.clone(),
            Err(error) => format!("{}: {error}", source.name()),
        })
        .collect();
    assert_eq!((told[0].as_str(), told[3].as_str()), ("first", "last"));
    assert!(told[1].contains("it exited with code 3"), "{}", told[1]);
    assert!(
        told[2].contains("'loading stuck' was not done within 5 s"),
        "{}",
        told[2]
    );
    assert_eq!(scene.value("one", Vec::new()).await, Value::Int(1));
    assert_eq!(scene.value("two", Vec::new()).await, Value::Int(2));
}

#[tokio::test]
async fn what_a_plugin_prints_is_its_log() {
    let scene = Scene::new().await;
    let code = "import logging, sys\n\
                async def speak():\n    \
                    print('to out')\n    print('to err', file=sys.stderr)\n    \
                    logging.getLogger('x').warning('logged')\n";
    scene.load("loud", code).await.unwrap();
    scene.value("speak", Vec::new()).await;
    let path = scene.plugins.log_of("loud");
    let all = async || loop {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if ["to out", "to err", "logged"]
            .iter()
            .all(|line| text.contains(line))
        {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    tokio::time::timeout(Duration::from_secs(20), all())
        .await
        .unwrap();
}
