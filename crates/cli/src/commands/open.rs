//! `callgate open`: the page of the running server, logged in.

use std::process::{Command, ExitCode, Stdio};

use callgate_service::{OPERATOR, operations::CreateKey};
use serde_json::json;

use crate::{
    args::{Common, Open},
    connect::Purpose,
    failure::Failure,
    running, show,
};

/// As long as the page stays logged in.
const LASTS: &str = "30d";

pub async fn perform(common: &Common, open: Open) -> Result<ExitCode, Failure> {
    let page = running::page(&common.data()).ok_or_else(|| {
        let hint = "start one with `callgate serve`; it prints a link at its first start";
        Failure::new("no server of yours runs on this data directory", hint)
    })?;
    let create = CreateKey {
        scopes: vec![OPERATOR.to_owned()],
        client: None,
        name: Some("callgate open".to_owned()),
        expires: Some(LASTS.to_owned()),
    };
    let created = super::call(common, Purpose::Look, create).await?;
    // After the `#` nothing is sent to a server, so that it enters no log.
    let link = format!("{page}/login#{}", created.key);
    if common.json {
        show::json(&json!({ "url": link }));
    } else if open.print || !browse(&link) {
        show::line(&link);
    } else {
        show::note(&format!("opened {page}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Lets the desktop open it, where there is one.
#[allow(
    clippy::disallowed_methods,
    reason = "the desktop's own way to a browser, for whoever typed it"
)]
fn browse(link: &str) -> bool {
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some());
    let opened = has_screen.then(|| {
        let mut opener = Command::new("xdg-open");
        opener.arg(link).stdin(Stdio::null());
        opener.stdout(Stdio::null()).stderr(Stdio::null()).status()
    });
    opened.is_some_and(|status| status.is_ok_and(|status| status.success()))
}
