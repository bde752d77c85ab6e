//! What plugins cost: a call from code in the sandbox to a plugin's method and back, a message that
//! twenty plugins hear, their start, and the memory of the process that hosts them.

use std::time::Instant;

use anyhow::{Context, bail, ensure};
use callgate_agent::Task;
use callgate_contract::{ArrivalFacts, Part, Role, Stop};
use callgate_plugins::{PluginOptions, Plugins, Source};

use crate::{
    calls::code,
    goals::{PLUGIN_EFFECTFUL, PLUGIN_PURE},
    scene::Scene,
    stats::Samples,
    table::Table,
};

const PLUGINS: usize = 20;

/// One plugin of the native flavour, with a method of each effect and a hook.
fn source(number: usize) -> String {
    format!(
        "from callgate import method, on_message, Message\n\
         @method(effect='pure')\n\
         async def plugin_pure_{number}(value: str) -> str:\n    \
             '''Gives it back.'''\n    return value\n\
         @method\n\
         async def plugin_effectful_{number}(value: str) -> str:\n    \
             '''Gives it back.'''\n    return value\n\
         @on_message\n\
         async def hear(message: Message) -> None:\n    pass\n"
    )
}

pub(crate) async fn measure(scene: &Scene, quick: bool, table: &mut Table) -> anyhow::Result<()> {
    let folder = tempfile::TempDir::with_prefix("callgate-bench-plugins-")?;
    let mut sources = Vec::new();
    for number in 0..PLUGINS {
        let plugin = folder.path().join(format!("bench_{number}"));
        std::fs::create_dir(&plugin)?;
        std::fs::write(plugin.join("__init__.py"), source(number))?;
        sources.push(Source::at(&plugin).context("the plugin's flavour is not seen")?);
    }
    let (gate, store) = (scene.coder.gate.clone(), scene.coder.store.clone());
    let options = PluginOptions::new(scene._home.path());
    let plugins = Plugins::open(gate, store, options)?;
    let start = Instant::now();
    for (source, result) in plugins.load(sources).await {
        result.with_context(|| source.path.display().to_string())?;
    }
    let mut started = Samples::default();
    started.push(start.elapsed());

    let (rounds, count) = if quick { (1, 50) } else { (5, 300) };
    let [mut pure, mut effectful, mut heard] = [(); 3].map(|()| Samples::default());
    for _ in 0..rounds {
        for (method, samples) in [
            ("plugin_pure_0", &mut pure),
            ("plugin_effectful_0", &mut effectful),
        ] {
            let task = Task::new(code(method, 0, count));
            let report = scene.coder.run(scene.caller(), task).await?;
            ensure!(report.stop == Stop::Finished, "{:?}", report.error);
            let times: Vec<u64> =
                serde_json::from_str(&report.stdout).context("the code's times")?;
            samples.extend_nanoseconds(&times);
        }
        hear(&plugins, scene, count, &mut heard).await;
    }
    let what = "call of a plugin's method, empty value";
    table.times(what, "callgate, gate, pure", pure, PLUGIN_PURE);
    table.times(
        what,
        "callgate, gate, effectful",
        effectful,
        PLUGIN_EFFECTFUL,
    );
    table.times("a message heard", "20 plugins with hooks", heard, &[]);
    table.times("start", "20 plugins, one worker", started, &[]);
    let worker = plugins.workers().into_iter().next().context("no worker")?;
    let Some(pid) = worker.pid() else {
        bail!("the worker has ended");
    };
    table.number(
        "memory of the worker",
        "20 plugins",
        (private_memory(pid)?, "MB"),
        &[],
    );
    plugins.shutdown().await;
    Ok(())
}

async fn hear(plugins: &Plugins, scene: &Scene, count: usize, samples: &mut Samples) {
    let listener = plugins.listener();
    let message = ArrivalFacts {
        row: 1,
        session: scene.caller().session,
        user: "bench".to_owned(),
        name: "Bench".to_owned(),
        principal: scene.caller().principal,
        role: Role::Member,
        parts: vec![Part::text("hello")],
        message_id: None,
        at: 0,
        mentioned: true,
        obeyed: false,
        platform: None,
        prefix: None,
        wanted: true,
    };
    for _ in 0..count {
        let start = Instant::now();
        listener.arrived(&message).await;
        samples.push(start.elapsed());
    }
}

/// Megabytes that the process does not share with others.
fn private_memory(pid: u32) -> anyhow::Result<f64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kilobytes = line.and_then(|line| line.trim().split(' ').next());
    let kilobytes: f64 = kilobytes.context("no Pss in smaps_rollup")?.parse()?;
    Ok(kilobytes / 1024.0)
}
