//! Twenty AstrBot plugins: a message through all their filters to its answer, and a step of a tool
//! loop with a tool of theirs, here and in AstrBot itself from PyPI. Both have a model that answers at
//! once and keep what they keep in earnest.

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use callgate_agent::{Agent, AgentSettings, Arrived, Override, Sessions, Watch, Wiring};
use callgate_contract::{Mode, Models, NamedModel, Part};
use callgate_plugins::{PluginOptions, Plugins, Source, environment::Environments, library};
use callgate_store::{Incoming, Sender};

use crate::{
    goals::{ASTRBOT_MESSAGE_RATIO, ASTRBOT_STEP, ASTRBOT_STEP_RATIO, Goal, NATIVE_STEP_RATIO},
    scene::Scene,
    stats::Samples,
    table::Table,
    turns::{Caller, NullOutbox, agent, steps},
};

const PLUGINS: usize = 20;
/// Tool calls of the long turn.
const STEPS: usize = 100;

/// A command, a listener and a tool; the same file for both.
fn source(number: usize) -> String {
    let tool = match number {
        0 => "echo_value".to_owned(),
        number => format!("tool_{number}"),
    };
    format!(
        "from astrbot.api.event import AstrMessageEvent, filter\n\
         from astrbot.api.star import Context, Star, register\n\n\
         @register('bench_{number}', 'bench', 'Bench', '1.0.0')\n\
         class Bench{number}(Star):\n    \
             @filter.command('bench{number}')\n    \
             async def command(self, event: AstrMessageEvent):\n        \
                 yield event.plain_result('ok')\n\n    \
             @filter.event_message_type(filter.EventMessageType.ALL)\n    \
             async def hear(self, event: AstrMessageEvent):\n        \
                 event.set_extra('heard_{number}', True)\n\n    \
             @filter.llm_tool(name='{tool}')\n    \
             async def tool(self, event: AstrMessageEvent, value: str):\n        \
                 '''Gives it back.\n\n        \
                 Args:\n            value(string): anything\n        '''\n        \
                 return value\n"
    )
}

fn write(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    for number in 0..PLUGINS {
        let plugin = folder.join(format!("bench_{number}"));
        std::fs::create_dir_all(&plugin)?;
        std::fs::write(plugin.join("main.py"), source(number))?;
        let about = format!("name: bench_{number}\ndesc: Bench\nversion: 1.0.0\nauthor: bench\n");
        std::fs::write(plugin.join("metadata.yaml"), about)?;
        written.push(plugin);
    }
    Ok(written)
}

#[derive(Default)]
struct Side {
    messages: Samples,
    steps: Samples,
}

impl Side {
    fn report(&self, who: &'static str, goals: &'static [Goal], table: &mut Table) {
        let what = "message past 20 AstrBot plugins, answered";
        table.times(what, who, self.messages.clone(), &[]);
        let what = "tool loop, a step of 100 with an AstrBot tool";
        table.times(what, who, self.steps.clone(), goals);
    }
}

pub(crate) async fn measure(quick: bool, table: &mut Table) -> anyhow::Result<()> {
    let (rounds, messages, turns) = if quick { (1, 10, 1) } else { (4, 100, 3) };
    let ours = Ours::start().await?;
    let mut theirs = AstrBot::start();
    if let Err(error) = &theirs {
        table.note(format!("AstrBot was skipped: {error:#}"));
    }
    let mut sides = [Side::default(), Side::default()];
    // The same loop with a method of ours, which waits for no worker.
    let bare = Scene::new().await?;
    let bare = (agent(bare.coder.clone(), Arc::new(Caller("pure"))), bare);
    let mut native = Samples::default();
    for round in 1..=rounds {
        eprintln!("AstrBot's plugins, round {round} of {rounds}");
        for (calls, count) in [(0, messages), (STEPS, turns)] {
            let taken = ours.messages(calls, count).await?;
            sides[0].add(calls, &taken);
            if let Ok(theirs) = &mut theirs {
                sides[1].add(calls, &theirs.messages(calls, count)?);
            }
        }
        for turn in 0..turns {
            let session = format!("bench:FriendMessage:native-{round}-{turn}");
            native.push(steps(&bare.0, &session, STEPS).await?);
        }
    }
    ours.plugins.shutdown().await;
    let [ours, others] = &sides;
    ours.report("callgate, journaled", ASTRBOT_STEP, table);
    if theirs.is_ok() {
        others.report("AstrBot 4.27", &[], table);
        for (what, one, other, goals) in [
            (
                "message, AstrBot / callgate",
                &ours.messages,
                &others.messages,
                ASTRBOT_MESSAGE_RATIO,
            ),
            (
                "step, AstrBot / callgate",
                &ours.steps,
                &others.steps,
                ASTRBOT_STEP_RATIO,
            ),
            (
                "step with a native method, AstrBot / callgate",
                &native,
                &others.steps,
                NATIVE_STEP_RATIO,
            ),
        ] {
            let median = |samples: &Samples| samples.percentile(50.0).unwrap_or(f64::NAN);
            let ratio = median(other) / median(one).max(1e-9);
            table.number(what, "ratio of p50", (ratio, "x"), goals);
        }
    }
    Ok(())
}

impl Side {
    fn add(&mut self, calls: usize, nanoseconds: &[u64]) {
        match calls {
            0 => self.messages.extend_nanoseconds(nanoseconds),
            calls => {
                let calls = calls as u64;
                let steps: Vec<u64> = nanoseconds.iter().map(|turn| turn / calls).collect();
                self.steps.extend_nanoseconds(&steps);
            }
        }
    }
}

struct Ours {
    agent: Agent,
    plugins: Plugins,
    _folder: tempfile::TempDir,
    _scene: Scene,
}

impl Ours {
    async fn start() -> anyhow::Result<Ours> {
        let scene = Scene::new().await?;
        let folder = tempfile::TempDir::with_prefix("callgate-bench-astrbot-")?;
        let options = PluginOptions::new(scene._home.path());
        let environments = scene._home.path().join("environments");
        std::os::unix::fs::symlink(environment()?, environments)?;
        let (gate, store) = (scene.coder.gate.clone(), scene.coder.store.clone());
        let plugins = Plugins::open(gate, store, options)?;
        let sources = write(folder.path())?;
        let sources = sources.iter().filter_map(|path| Source::at(path));
        for (source, result) in plugins.load(sources.collect()).await {
            result.with_context(|| source.path.display().to_string())?;
        }
        let (id, model) = ("bench".into(), Arc::new(Caller("echo_value")));
        let agent = Agent::new(Wiring {
            coder: scene.coder.clone(),
            models: Models::new(NamedModel { id, model }, Vec::new(), None, None),
            settings: AgentSettings {
                rounds: 2_000,
                debounce: Duration::ZERO,
                ..AgentSettings::default()
            },
            listeners: vec![plugins.listener()],
            outbox: Arc::new(NullOutbox),
            packages: Vec::new(),
            sessions: Sessions::default(),
        });
        agent.register_host()?;
        Ok(Ours {
            agent,
            plugins,
            _folder: folder,
            _scene: scene,
        })
    }

    async fn messages(&self, calls: usize, count: usize) -> anyhow::Result<Vec<u64>> {
        let mut taken = Vec::new();
        for _ in 0..count {
            let incoming = Incoming {
                session: format!("bench:FriendMessage:{}", rand()).parse()?,
                sender: Sender {
                    id: "user".to_owned(),
                    name: "User".to_owned(),
                },
                parts: vec![Part::text(calls.to_string())],
                message_id: None,
                hidden: false,
                mentioned: true,
                sent_at: None,
            };
            let how = Override {
                mode: Some(Mode::Tools),
                debounce: Some(Duration::ZERO),
                ..Override::default()
            };
            let begun = Instant::now();
            let arrived = self.agent.arrive(incoming, how, Watch::default()).await?;
            taken.push(u64::try_from(begun.elapsed().as_nanos())?);
            ensure!(
                matches!(arrived, Arrived::Taken),
                "the plugins did not answer"
            );
        }
        Ok(taken)
    }
}

/// A session that was not there before, as AstrBot's are.
fn rand() -> u128 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| now.as_nanos())
}

/// The flavour's packages, installed on first use where `plugin check` keeps them.
fn environment() -> anyhow::Result<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = cache
        .or(home)
        .context("neither XDG_CACHE_HOME nor HOME is set")?;
    let root = cache.join("callgate/environments");
    std::fs::create_dir_all(&root)?;
    let scripts = library(&cache.join("callgate"))?;
    let environments = Environments::new(root.clone(), "python3".into(), scripts);
    environments.prepare("astrbot", "bench", &[], &|line| eprintln!("{line}"))?;
    Ok(root)
}

struct AstrBot {
    process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    _root: tempfile::TempDir,
}

impl AstrBot {
    fn start() -> anyhow::Result<AstrBot> {
        let environment = std::env::current_exe()?.with_file_name("callgate-bench-astrbot");
        let peer = Path::new(env!("CARGO_MANIFEST_DIR")).join("peer/astrbot");
        let made = Command::new(peer.join("prepare"))
            .arg(&environment)
            .status();
        let made = made.context("bench/peer/astrbot/prepare")?;
        ensure!(
            made.success(),
            "it could not be installed; see the messages above"
        );
        let root = tempfile::TempDir::with_prefix("callgate-bench-astrbot-")?;
        write(&root.path().join("data/plugins"))?;
        let mut process = Command::new(environment.join("bin/python"))
            .arg(peer.join("driver.py"))
            .arg(root.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let orders = process.stdin.take().context("no stdin")?;
        let answers = BufReader::new(process.stdout.take().context("no stdout")?);
        let mut peer = AstrBot {
            process,
            orders,
            answers,
            _root: root,
        };
        peer.messages(1, 3).context("it does not answer")?;
        Ok(peer)
    }

    fn messages(&mut self, calls: usize, count: usize) -> anyhow::Result<Vec<u64>> {
        writeln!(self.orders, "{calls} {count}")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        serde_json::from_str(&line).context("its answer")
    }
}

impl Drop for AstrBot {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
