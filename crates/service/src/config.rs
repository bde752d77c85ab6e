//! [`Config`]: what the operator decided, from `callgate.toml` and the environment. A key that
//! does not exist or a value that makes no sense is an error that names it, never ignored.

mod agent;
mod database;
mod edit;
mod keep;
pub mod keys;
mod limits;
pub mod mcp;
mod models;
mod platforms;
mod plugins;
mod remote;
mod rules;

use std::{
    num::NonZero,
    path::{Path, PathBuf},
    time::Duration,
};

use callgate_agent::{AnswerWhen, Pace};
use callgate_builtins::fetch::{FetchPolicy, HostPattern};
use callgate_contract::{Limit, Limits, Rule};
use callgate_gate::GatePolicy;
use callgate_plugins::NearAddresses;
use callgate_sandbox::{JailOptions, find_python};
use callgate_store::StoreOptions;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use self::{
    agent::{Agent, Budget},
    keep::Keep,
    keys::{KEYS, Key, Shape},
    mcp::Mcp,
    models::Models,
    plugins::Plugins,
    remote::{Remote, Serve},
};
use crate::ServiceError;

pub use self::{
    database::Database,
    edit::Edit,
    models::{Entry, NewEntry},
    platforms::{Invites, PlatformEntry, PlatformKind},
};

pub(crate) use self::platforms::place_of;

const FILE: &str = "callgate.toml";
/// The sections that are lists.
const MCP: &str = "mcp";
const RULE: &str = "rule";
const LIMIT: &str = "limit";
const PLATFORM: &str = "platform";

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    pub database: Database,
    pub sandbox: Sandbox,
    pub approval: Approval,
    pub journal: Journal,
    pub keep: Keep,
    pub models: Models,
    pub agent: Agent,
    pub answer: AnswerWhen,
    pub pace: Pace,
    pub budget: Budget,
    pub fetch: Fetch,
    pub plugins: Plugins,
    pub serve: Serve,
    pub remote: Remote,
    pub mcp: Vec<Mcp>,
    pub rule: Vec<Rule>,
    pub limit: Vec<Limit>,
    pub platform: Vec<PlatformEntry>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sandbox {
    pub python: Option<PathBuf>,
    pub concurrent: Option<NonZero<usize>>,
    pub pool: Option<NonZero<usize>>,
    pub preload: Vec<String>,
    pub wall_seconds: NonZero<u32>,
    pub cpu_seconds: NonZero<u32>,
    pub memory_mb: NonZero<u32>,
    pub threads: NonZero<u32>,
    pub output_mb: NonZero<u32>,
    pub disk_mb: NonZero<u32>,
    pub calls: NonZero<u32>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Approval {
    pub ask: Vec<String>,
    pub wait_seconds: u32,
    pub known_values: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Journal {
    pub keep: u32,
    pub keep_days: u32,
    pub keep_megabytes: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fetch {
    pub allow: Vec<String>,
}

const fn count(number: u32) -> NonZero<u32> {
    match NonZero::new(number) {
        Some(number) => number,
        None => NonZero::<u32>::MIN,
    }
}

impl Default for Sandbox {
    fn default() -> Self {
        Sandbox {
            python: None,
            concurrent: None,
            pool: None,
            preload: Vec::new(),
            wall_seconds: count(120),
            cpu_seconds: count(60),
            memory_mb: count(512),
            threads: count(64),
            output_mb: count(16),
            disk_mb: count(256),
            calls: count(10_000),
        }
    }
}

impl Default for Approval {
    fn default() -> Self {
        Approval {
            ask: Vec::new(),
            wait_seconds: 60,
            known_values: Vec::new(),
        }
    }
}

impl Default for Journal {
    fn default() -> Self {
        Journal {
            keep: 10_000,
            keep_days: 0,
            keep_megabytes: 4_096,
        }
    }
}

impl Config {
    /// Where a change of the configuration is written.
    pub fn file(data: &Path, file: Option<&Path>) -> PathBuf {
        file.map_or_else(|| data.join(FILE), Path::to_owned)
    }

    /// The file that `--config` names, else `callgate.toml` in `data` if there is one; then the
    /// environment, which wins.
    pub fn load(data: &Path, file: Option<&Path>) -> Result<Config, ServiceError> {
        let mut table = match file {
            Some(file) => read_file(file)?,
            None => match data.join(FILE) {
                file if file.exists() => read_file(&file)?,
                _ => Table::new(),
            },
        };
        overlay(&mut table, std::env::vars())?;
        let whole: Result<Config, _> = Value::Table(table).try_into();
        whole.map_err(|error| ServiceError::refused(error.message(), keys::HINT))
    }

    pub fn store(&self, data: &Path) -> StoreOptions {
        self.database.options(data)
    }

    pub fn policy(&self) -> GatePolicy {
        GatePolicy {
            ask: self.approval.ask.clone(),
            rules: self.rule.clone(),
            approval_wait: Duration::from_secs(self.approval.wait_seconds.into()),
            remote: self.remote.methods.clone(),
        }
    }

    pub fn limits(&self) -> Limits {
        const MB: u64 = 1 << 20;
        let seconds = |count: NonZero<u32>| Duration::from_secs(count.get().into());
        let megabytes = |count: NonZero<u32>| u64::from(count.get()) * MB;
        Limits {
            wall: seconds(self.sandbox.wall_seconds),
            cpu: seconds(self.sandbox.cpu_seconds),
            memory: megabytes(self.sandbox.memory_mb),
            threads: self.sandbox.threads.get(),
            output: megabytes(self.sandbox.output_mb),
            disk: megabytes(self.sandbox.disk_mb),
            calls: self.sandbox.calls.get().into(),
            ..Limits::default()
        }
    }

    /// What the built-in methods may do.
    pub fn methods(&self) -> Result<callgate_builtins::Options, ServiceError> {
        let hosts = self.fetch.allow.iter().map(|host| host.parse());
        let hosts: Result<Vec<HostPattern>, _> = hosts.collect();
        let hosts = hosts.map_err(|error| {
            let hint = "for example fetch.allow = [\"example.com\", \"*.example.org\"]";
            ServiceError::refused(format!("fetch.allow: {error}"), hint)
        })?;
        Ok(callgate_builtins::Options {
            fetch: FetchPolicy::new(hosts),
        })
    }

    /// What plugins may reach of this machine and its link.
    pub fn near(&self) -> Result<NearAddresses, ServiceError> {
        NearAddresses::parse(&self.plugins.local_addresses).map_err(|word| {
            let hint =
                "for example plugins.local_addresses = [\"127.0.0.1:6333\", \"localhost:8080\"]";
            let error = format!("plugins.local_addresses: {word:?} is not an address");
            ServiceError::refused(error, hint)
        })
    }

    /// The interpreter the sandbox uses.
    pub fn python(&self) -> Result<PathBuf, ServiceError> {
        let found = self.sandbox.python.clone().or_else(find_python);
        found.ok_or_else(|| {
            ServiceError::refused(
                "no python3 of version 3.11 or newer was found",
                "install one (Debian: apt install python3), or set sandbox.python to its path",
            )
        })
    }

    /// Where no interpreter is found, the first run will say so: other commands need none.
    pub fn jail(&self, sessions: &Path, packages: Option<PathBuf>) -> JailOptions {
        let python = self.python().unwrap_or_else(|_| "/usr/bin/python3".into());
        let mut options = JailOptions::new(python, sessions);
        options.packages = packages;
        options.preload = self.sandbox.preload.clone();
        if let Some(concurrent) = self.sandbox.concurrent {
            options.concurrent = concurrent.get();
        }
        if let Some(pool) = self.sandbox.pool {
            options.pool = pool.get();
        }
        options
    }
}

fn read_file(file: &Path) -> Result<Table, ServiceError> {
    let name = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| {
        let hint = "give --config a file that exists, or leave it out";
        ServiceError::refused(format!("cannot read {name}: {error}"), hint)
    })?;
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.map_or(1, |before| before.matches('\n').count() + 1);
        let reason = error.message();
        ServiceError::refused(format!("{name}, line {line}: {reason}"), keys::HINT)
    })?;
    for (section, content) in &table {
        if section == MCP {
            let servers: Result<Vec<Mcp>, _> = content.clone().try_into();
            servers.map_err(|error| {
                // What is given may hold keys: only what is wrong with it is repeated.
                let hint = "docs/mcp.md shows how servers are written down";
                ServiceError::refused(format!("[[mcp]] in {name}: {}", error.message()), hint)
            })?;
            continue;
        }
        if section == LIMIT {
            limits::check(content, &name.to_string())?;
            continue;
        }
        if section == PLATFORM {
            platforms::check(content, &name.to_string())?;
            continue;
        }
        if section == RULE {
            rules::check(content, &name.to_string())?;
            continue;
        }
        let Value::Table(content) = content else {
            return Err(unknown(section, &name.to_string()));
        };
        for (key, value) in content {
            let full = format!("{section}.{key}");
            let key = KEYS.iter().find(|known| known.name == full);
            let key = key.ok_or_else(|| unknown(&full, &name.to_string()))?;
            check(key, value.clone(), &format!("{full} in {name}"))?;
        }
        if !KEYS.iter().any(|key| key.section() == section) {
            return Err(unknown(section, &name.to_string()));
        }
    }
    Ok(table)
}

fn overlay(
    table: &mut Table,
    variables: impl Iterator<Item = (String, String)>,
) -> Result<(), ServiceError> {
    for (variable, text) in variables.filter(|(_, text)| !text.is_empty()) {
        let ours = |key: &&Key| variable.starts_with(&key.variable_prefix());
        if !KEYS.iter().any(|key| ours(&key)) {
            continue;
        }
        let Some(key) = KEYS.iter().find(|key| key.variable() == variable) else {
            return Err(unknown(&variable, "the environment"));
        };
        let value = key.shape.read(&text);
        check(
            key,
            value.clone(),
            &format!("{variable} in the environment"),
        )?;
        let section = table
            .entry(key.section())
            .or_insert_with(|| Table::new().into());
        if let Value::Table(section) = section {
            section.insert(key.field().to_owned(), value);
        }
    }
    Ok(())
}

/// One key alone, so that the error can say which.
pub fn check(key: &Key, value: Value, place: &str) -> Result<(), ServiceError> {
    let given = serde_json::to_string(&value).unwrap_or_default();
    let names = value.as_array();
    let is_list_of_text = names.is_some_and(|names| names.iter().all(Value::is_str));
    let alone = Table::from_iter([(
        key.section().to_owned(),
        Value::Table(Table::from_iter([(key.field().to_owned(), value)])),
    )]);
    let read: Result<Config, _> = Value::Table(alone).try_into();
    read.map(drop).map_err(|error| {
        if let Shape::Models = key.shape {
            // What is given may hold keys: only what is wrong with it is repeated.
            return ServiceError::refused(format!("{place}: {}", error.message()), keys::HINT);
        }
        let (shape, default) = (key.shape.words(), key.default);
        let hint = format!("{} Default: {default}", key.meaning);
        let what = match (key.shape, is_list_of_text) {
            // A list it is: what one of them lacks is told by whoever read it.
            (Shape::Names, true) => error.message().to_owned(),
            _ => format!("{given} is not {shape}"),
        };
        ServiceError::refused(format!("{place}: {what}"), hint)
    })
}

fn unknown(key: &str, place: &str) -> ServiceError {
    ServiceError::refused(format!("no such key: {key} in {place}"), keys::beside(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Result<Config, ServiceError> {
        let mut table = Table::new();
        let pairs = pairs
            .iter()
            .map(|(name, text)| (name.to_string(), text.to_string()));
        overlay(&mut table, pairs)?;
        Ok(Value::Table(table).try_into().unwrap())
    }

    #[test]
    fn the_environment_sets_every_shape() {
        let config = variables(&[
            ("CALLGATE_DATABASE_URL", "postgres://h/d"),
            ("CALLGATE_SANDBOX_WALL_SECONDS", "7"),
            ("CALLGATE_APPROVAL_ASK", "send_message, builtin/send_file"),
            ("CALLGATE_SANDBOX_POOL", ""),
            ("CALLGATE_LOG", "debug"),
        ])
        .unwrap();
        assert_eq!(config.database.url.as_deref(), Some("postgres://h/d"));
        assert_eq!(config.sandbox.wall_seconds.get(), 7);
        assert_eq!(config.approval.ask, ["send_message", "builtin/send_file"]);
        assert_eq!(config.sandbox.pool, None);
    }

    #[test]
    fn what_the_environment_gets_wrong_is_named() {
        for (variable, text) in [
            ("CALLGATE_SANDBOX_WALLS", "1"),
            ("CALLGATE_SANDBOX_POOL", "0"),
            ("CALLGATE_SANDBOX_POOL", "many"),
            ("CALLGATE_DATABASE_DURABILITY", "for ever"),
        ] {
            let failure = variables(&[(variable, text)]).unwrap_err();
            assert!(failure.message.contains(variable), "{failure:?}");
        }
    }
}
