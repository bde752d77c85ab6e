//! Where plugins are tried: a temporary data directory, with environments that are kept for the next
//! time, since filling them takes a minute.

use std::{
    fs,
    path::{Path, PathBuf},
};

use callgate_plugins::environment::Environments;
use tempfile::TempDir;

use callgate_service::{Operation, Settings};

use crate::{
    args::Common,
    connect::{self, Purpose},
    failure::Failure,
    plugins::environments,
};

/// A place to load plugins in. Dropped, a temporary one is gone.
pub struct Workshop {
    pub settings: Settings,
    pub environments: Environments,
    temporary: Option<TempDir>,
}

impl Workshop {
    /// In a temporary directory, unless one was asked for.
    pub fn open(common: &Common) -> Result<Workshop, Failure> {
        if common.data.is_some() {
            let settings = common.settings()?;
            let environments = environments(&settings, settings.data.join("environments"))?;
            return Ok(Workshop {
                settings,
                environments,
                temporary: None,
            });
        }
        let broken = |error: std::io::Error| {
            let hint = "check the space in the folder for temporary files (TMPDIR)";
            Failure::new(format!("cannot make a temporary directory: {error}"), hint)
        };
        let temporary = TempDir::with_prefix("callgate-workshop-").map_err(broken)?;
        let mut common = common.clone();
        common.data = Some(temporary.path().join("data"));
        let mut settings = common.settings()?;
        // Nobody is asked: not on this machine, nor with a key that happens to be around.
        settings.model = Some("demo".to_owned());
        // Nor is there an operator who could answer.
        settings.config.approval.wait_seconds = 0;
        fs::create_dir_all(&settings.data).map_err(broken)?;
        let kept = kept();
        fs::create_dir_all(&kept).map_err(broken)?;
        std::os::unix::fs::symlink(&kept, settings.data.join("environments")).map_err(broken)?;
        let environments = environments(&settings, kept)?;
        Ok(Workshop {
            settings,
            environments,
            temporary: Some(temporary),
        })
    }

    /// A copy of a plugin under another name, so that it cannot change its author's files.
    pub fn copy(&self, plugin: &Path, name: Option<&str>) -> Result<PathBuf, Failure> {
        let broken = |error: std::io::Error| {
            Failure::new(
                format!("cannot copy {}: {error}", plugin.display()),
                "check the path",
            )
        };
        let Some(temporary) = &self.temporary else {
            return Ok(plugin.to_owned());
        };
        let plugin = fs::canonicalize(plugin).map_err(broken)?;
        let own = plugin.file_name().unwrap_or_default();
        let folder = temporary.path().join("plugins");
        fs::create_dir_all(&folder).map_err(broken)?;
        if plugin.is_dir() {
            let to = folder.join(name.map_or(own, AsRef::as_ref));
            callgate_plugins::install::copy(&plugin, &to).map_err(broken)?;
            return Ok(to);
        }
        let to = match name {
            Some(name) => folder.join(format!("{name}.py")),
            None => folder.join(own),
        };
        fs::copy(&plugin, &to).map_err(broken)?;
        Ok(to)
    }
}

/// Environments that are not of a data directory.
fn kept() -> PathBuf {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let cache = variable("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".cache")));
    let cache = cache.unwrap_or_else(std::env::temp_dir);
    cache.join("callgate/environments")
}

/// Asks the process that owns the data directory, if there is one besides us; its response.
pub async fn call_owner<O: Operation>(
    common: &Common,
    operation: O,
) -> Result<Option<O::Response>, Failure> {
    let mut client = connect::open(&common.settings()?, Purpose::Look).await?;
    let response = if client.is_outside() {
        client.call(operation).await.map(Some)
    } else {
        Ok(None)
    };
    client.close().await;
    Ok(response?)
}
