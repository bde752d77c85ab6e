//! Workers start with the first need of them: a plugin that has not changed is offered from what is
//! known of it.

use std::fs;

use callgate_gate::{Gate, GatePolicy};
use callgate_plugins::{PluginOptions, Plugins};

use crate::scene::Scene;

const FRAIL: &str = "\
from pathlib import Path
if Path('broken').exists():
    raise ImportError('the well is dry')
async def draw():
    return 'water'
";

/// The same data directory, as the next process finds it.
fn again(scene: &mut Scene) {
    let data = scene.folder.path().join("data");
    let mut options = PluginOptions::new(&data);
    let tests = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/tests");
    options.paths.push(tests.canonicalize().unwrap());
    scene.gate = Gate::new(scene.store.clone(), GatePolicy::default());
    scene.plugins = Plugins::open(scene.gate.clone(), scene.store.clone(), options).unwrap();
}

#[tokio::test]
async fn a_known_plugin_is_offered_at_once_and_loaded_when_it_is_called() {
    let mut scene = Scene::new().await;
    let other = "async def rest():\n    return 1\n";
    scene.load("well", FRAIL).await.unwrap();
    let well = scene.source("well", FRAIL);
    let mut bench = scene.source("bench", other);
    bench.worker = "elsewhere".to_owned();
    scene.plugins.load(vec![well.clone(), bench.clone()]).await;
    scene.plugins.shutdown().await;

    again(&mut scene);
    let adopted = scene.plugins.adopt(vec![well.clone(), bench.clone()]).await;
    assert!(adopted.iter().all(|(_, result)| result.is_ok()));
    assert!(scene.gate.find("draw").is_some() && scene.gate.find("rest").is_some());
    let running = |scene: &Scene| {
        let workers = scene.plugins.workers().into_iter();
        let running = workers.filter(|worker| worker.is_running());
        running.map(|it| it.name().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(running(&scene), Vec::<String>::new());
    assert_eq!(scene.value("draw", Vec::new()).await, "water".into());
    assert_eq!(running(&scene), ["probe"]);
    scene.plugins.start().await;
    assert_eq!(running(&scene), ["elsewhere", "probe"]);
    // Where a process runs already, what is known is loaded into it at once.
    assert!(scene.plugins.unload("well").await);
    scene.plugins.adopt(vec![well.clone()]).await;
    assert_eq!(scene.value("draw", Vec::new()).await, "water".into());
    scene.plugins.shutdown().await;

    // It changed: what was known of it counts for nothing.
    again(&mut scene);
    fs::write(&well.path, "async def pump():\n    return 'more water'\n").unwrap();
    scene.plugins.adopt(vec![well]).await;
    assert!(scene.gate.find("draw").is_none() && scene.gate.find("pump").is_some());
}

#[tokio::test]
async fn a_known_plugin_that_no_longer_loads_says_why_and_is_offered_no_more() {
    let mut scene = Scene::new().await;
    scene.load("well", FRAIL).await.unwrap();
    let well = scene.source("well", FRAIL);
    scene.plugins.load(vec![well.clone()]).await;
    scene.plugins.shutdown().await;

    again(&mut scene);
    scene.plugins.adopt(vec![well.clone()]).await;
    let home = scene.plugins.home_of("well").unwrap();
    fs::write(home.join("broken"), "").unwrap();
    let refused = scene.refusal("draw").await;
    assert!(
        refused.contains("ImportError: the well is dry"),
        "{refused}"
    );
    assert!(scene.gate.find("draw").is_none());
}
