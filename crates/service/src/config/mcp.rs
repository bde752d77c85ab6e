//! `[[mcp]]`: servers of the Model Context Protocol whose tools become methods. Secrets are named by
//! the variable that holds them, or stand in the file; neither is ever shown.

use std::{collections::BTreeMap, num::NonZero, time::Duration};

use callgate_plugins::mcp::{McpSettings, Reach};
use serde::{Deserialize, Serialize};

use super::count;
use crate::ServiceError;

/// How long methods stay while their server is away.
const GRACE: Duration = Duration::from_secs(30);
/// How long it may take to say hello, and which tools it has.
const HANDSHAKE: Duration = Duration::from_secs(30);

#[derive(Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Mcp {
    pub name: String,
    pub command: Option<String>,
    #[serde(default)]
    pub args: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    #[serde(default)]
    pub pass: Vec<String>,
    pub url: Option<String>,
    pub bearer_env: Option<String>,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    #[serde(default)]
    pub headers_env: BTreeMap<String, String>,
    #[serde(default = "minute")]
    pub seconds: NonZero<u32>,
    #[serde(default)]
    pub remote: bool,
    #[serde(default)]
    pub images: Vec<String>,
}

/// The rest may be a key.
impl std::fmt::Debug for Mcp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Mcp").field(&self.name).finish()
    }
}

fn minute() -> NonZero<u32> {
    count(60)
}

/// All of them, with their variables read.
pub fn settings(servers: &[Mcp]) -> Result<Vec<McpSettings>, ServiceError> {
    let variable = |name: &str| std::env::var(name).ok();
    let mut all: Vec<McpSettings> = Vec::new();
    for server in servers {
        let wrong = |reason: String| {
            let hint = "docs/mcp.md shows how servers are written down";
            ServiceError::refused(format!("[[mcp]] '{}': {reason}", server.name), hint)
        };
        let read = server.read(variable).map_err(wrong)?;
        if all.iter().any(|known| known.name == read.name) {
            return Err(wrong("there are two of this name".to_owned()));
        }
        all.push(read);
    }
    Ok(all)
}

impl Mcp {
    fn read(&self, variable: impl Fn(&str) -> Option<String>) -> Result<McpSettings, String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if self.name.is_empty() || self.name.len() > 32 || !self.name.chars().all(plain) {
            return Err("a name has up to 32 letters, digits, - and _".to_owned());
        }
        let found =
            |name: &String| variable(name).ok_or_else(|| format!("the variable {name} is not set"));
        let reach = match (&self.command, &self.url) {
            (Some(program), None) => {
                if self.bearer_env.is_some()
                    || !self.headers.is_empty()
                    || !self.headers_env.is_empty()
                {
                    return Err("bearer_env and headers go with url".to_owned());
                }
                let mut environment = self.env.clone();
                for name in &self.pass {
                    environment.insert(name.clone(), found(name)?);
                }
                Reach::Command {
                    program: program.clone(),
                    arguments: self.args.clone(),
                    environment,
                }
            }
            (None, Some(url)) => {
                if !self.args.is_empty() || !self.env.is_empty() || !self.pass.is_empty() {
                    return Err("args, env and pass go with command".to_owned());
                }
                if !url.starts_with("https://") && !url.starts_with("http://") {
                    return Err("url begins with https:// or http://".to_owned());
                }
                let mut headers = self.headers.clone();
                for (header, name) in &self.headers_env {
                    headers.insert(header.clone(), found(name)?);
                }
                Reach::Url {
                    url: url.clone(),
                    bearer: self.bearer_env.as_ref().map(found).transpose()?,
                    headers,
                }
            }
            _ => return Err("give it either command or url".to_owned()),
        };
        Ok(McpSettings {
            name: self.name.clone(),
            reach,
            deadline: Duration::from_secs(self.seconds.get().into()),
            remote: self.remote,
            shown: self.images.clone(),
            grace: GRACE,
            handshake: HANDSHAKE,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<McpSettings, String> {
        let server: Mcp = toml::from_str(text).map_err(|error| error.to_string())?;
        server.read(|name| (name == "TOKEN").then(|| "secret".to_owned()))
    }

    #[test]
    fn a_server_is_a_command_or_a_url() {
        let stdio =
            read("name = 'f'\ncommand = 'npx'\nargs = ['-y', 'x']\npass = ['TOKEN']").unwrap();
        let Reach::Command { environment, .. } = &stdio.reach else {
            panic!("{stdio:?}");
        };
        assert_eq!(environment["TOKEN"], "secret");
        let web = read("name = 'w'\nurl = 'https://h/mcp'\nbearer_env = 'TOKEN'").unwrap();
        assert!(!format!("{web:?} {stdio:?}").contains("secret"));
        assert_eq!(web.deadline, Duration::from_secs(60));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, expected) in [
            ("name = 'a'", "either command or url"),
            (
                "name = 'a'\ncommand = 'x'\nurl = 'http://h'",
                "either command or url",
            ),
            ("name = 'a b'\ncommand = 'x'", "up to 32 letters"),
            ("name = 'a'\nurl = 'ftp://h'", "begins with https"),
            (
                "name = 'a'\nurl = 'http://h'\nargs = ['x']",
                "go with command",
            ),
            (
                "name = 'a'\ncommand = 'x'\nbearer_env = 'TOKEN'",
                "go with url",
            ),
            (
                "name = 'a'\nurl = 'http://h'\nbearer_env = 'NONE'",
                "NONE is not set",
            ),
            ("name = 'a'\ncommand = 'x'\ntypo = 1", "typo"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
