//! Static resources: files of remote clients that are served by HTTP, under addresses that clients
//! declare. They are shown as what a stranger made: in a sandbox of the browser, never as a page
//! of ours.

use std::{
    fs::{File, Metadata},
    os::unix::fs::MetadataExt,
    sync::Arc,
};

use callgate_store::{
    MAX_RESOURCES, Resource, Store, StoreError,
    files::{EntryKind, FileError},
};
use parking_lot::RwLock;
use serde_json::{Value as Json, json};

use super::{functions::GUEST, paths::Paths};
use crate::scope::OPERATOR;

/// First parts of addresses that are ours.
const RESERVED: [&str; 17] = [
    "api",
    "v1",
    "mcp",
    "metrics",
    "healthz",
    "livez",
    "socket.io",
    "login",
    "assets",
    "plugins",
    "webhook",
    "webhooks",
    "callgate.js",
    "style.css",
    "index.html",
    "favicon.ico",
    "docs",
];
/// Bytes of an address.
const MAX_URL: usize = 256;

/// A file that a client has declared, to be sent.
pub struct StaticFile {
    pub file: File,
    pub facts: Metadata,
    /// Whose ending says what it is.
    pub name: String,
}

/// Clones share the table.
#[derive(Clone)]
pub struct Statics(Arc<StaticsInner>);

struct StaticsInner {
    store: Store,
    paths: Arc<Paths>,
    /// Read by every request that nothing else answers; written when a client declares.
    table: RwLock<Vec<Resource>>,
}

impl Statics {
    pub(super) fn new(store: Store, paths: Arc<Paths>) -> Self {
        Statics(Arc::new(StaticsInner {
            store,
            paths,
            table: RwLock::default(),
        }))
    }

    /// What was declared before the last restart.
    pub(super) async fn load(&self) {
        match self.0.store.resources().list().await {
            Ok(known) => self.write(|table| *table = known),
            Err(error) => tracing::warn!(%error, "could not read static resources"),
        }
    }

    /// Declares `{url: path, ...}`; each is answered for by itself.
    pub(super) async fn add(&self, user: &str, resources: Json) -> Json {
        let Json::Object(resources) = resources else {
            return json!({
                "success": false,
                "results": [],
                "message": "resources is an object: paths of URLs, each with a file or folder",
            });
        };
        if user.starts_with(GUEST) || resources.len() > MAX_RESOURCES {
            return json!({ "success": false, "results": [], "message": "not allowed" });
        }
        let mut results = Vec::new();
        for (url, path) in resources {
            results.push(match self.declare(user, &url, &path).await {
                Ok(()) => json!({ "urlPath": url, "status": "success" }),
                Err(message) => json!({ "urlPath": url, "status": "error", "message": message }),
            });
        }
        let success = results.iter().all(|result| result["status"] == "success");
        json!({ "success": success, "results": results })
    }

    async fn declare(&self, user: &str, url: &str, path: &Json) -> Result<(), String> {
        let url = canonical_url(url)?;
        if let Some(other) = self.owner_above(user, &url) {
            return Err(format!(
                "{other} belongs to another client: choose another address"
            ));
        }
        let name = self
            .0
            .paths
            .resolve(path)
            .map_err(|error| error.to_string())?;
        let folder = self.0.store.files().remote();
        let entry = folder.metadata(&name).map_err(|error| error.to_string())?;
        let servable = match entry.kind {
            EntryKind::Folder => true,
            EntryKind::File => folder
                .open_read(&name)
                .is_ok_and(|file| has_one_name(&file)),
            EntryKind::Other => false,
        };
        if !servable {
            return Err(format!("'{name}' is neither a plain file nor a folder"));
        }
        let resource = Resource {
            url,
            path: name,
            client: user.to_owned(),
        };
        let kept = self.0.store.resources().put(&resource).await;
        kept.map_err(|error| match error {
            error @ (StoreError::AddressTaken(_) | StoreError::TooMany { .. }) => error.to_string(),
            error => {
                tracing::warn!(%error, "could not store a static resource");
                "the server cannot keep it".to_owned()
            }
        })?;
        self.write(|table| {
            table.retain(|known| known.url != resource.url);
            table.push(resource);
        });
        Ok(())
    }

    /// An address that is another's and has this one below it, or is this one.
    fn owner_above(&self, user: &str, url: &str) -> Option<String> {
        let table = self.0.table.read();
        let covers = |known: &&Resource| {
            let rest = url.strip_prefix(known.url.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let others = table.iter().filter(|known| known.client != user);
        let mut above = others.filter(covers).filter(|_| user != OPERATOR);
        above.next().map(|known| known.url.clone())
    }

    /// `None` if nothing is declared for this address, or what is declared cannot be served: which of
    /// the two is nobody's business.
    pub(super) fn file(&self, path: &str) -> Option<StaticFile> {
        let path = percent_decoded(path)?;
        // What is declared is a folder, and there is no way out of it.
        if path.split('/').any(|part| part == "." || part == "..") {
            return None;
        }
        let (name, whole) = self.find(&path)?;
        self.open(&name, whole).ok()
    }

    /// The file's name, and whether the address was declared for it alone. The longest declared
    /// address wins.
    fn find(&self, path: &str) -> Option<(String, bool)> {
        let table = self.0.table.read();
        let beneath = |url: &str| {
            let rest = path.strip_prefix(url)?;
            (rest.is_empty() || rest.starts_with('/')).then_some(rest.to_owned())
        };
        let found = table.iter().filter_map(|resource| {
            let rest = beneath(&resource.url)?;
            Some((
                resource.url.len(),
                format!("{}{rest}", resource.path),
                rest.is_empty(),
            ))
        });
        let (_, name, whole) = found.max_by_key(|(length, ..)| *length)?;
        Some((name, whole))
    }

    fn open(&self, name: &str, whole: bool) -> Result<StaticFile, FileError> {
        let refused = || FileError::NotFound(name.to_owned());
        let wants_folder = name.ends_with('/');
        let name = self.0.paths.resolve(&name.into()).map_err(|_| refused())?;
        let hidden = |part: &str| part.starts_with('.');
        if !whole && name.split('/').any(hidden) {
            return Err(refused());
        }
        let folder = self.0.store.files().remote();
        let name = match folder.metadata(&name)?.kind {
            EntryKind::Folder => format!("{name}/index.html"),
            _ if wants_folder => return Err(refused()),
            _ => name,
        };
        if self.0.paths.is_restricted(&name) {
            return Err(refused());
        }
        let file = folder.open_read(&name)?;
        if !has_one_name(&file) {
            return Err(refused());
        }
        let facts = file.metadata().map_err(|_| refused())?;
        Ok(StaticFile { file, facts, name })
    }

    fn write(&self, change: impl FnOnce(&mut Vec<Resource>)) {
        change(&mut self.0.table.write());
    }
}

/// A second name of a file would escape what is restricted by name.
pub(super) fn has_one_name(file: &File) -> bool {
    file.metadata().is_ok_and(|facts| facts.nlink() == 1)
}

/// The address as the table holds it, or why it cannot be one.
fn canonical_url(url: &str) -> Result<String, String> {
    let Some(rest) = url.strip_prefix('/') else {
        return Err("the path of a URL begins with /".to_owned());
    };
    let rest = rest.trim_end_matches('/');
    let plain = |c: char| c.is_alphanumeric() || "-_.~+@".contains(c);
    let fits = |part: &str| !part.is_empty() && !part.starts_with('.') && part.chars().all(plain);
    if rest.len() > MAX_URL || !rest.split('/').all(fits) {
        return Err("the path of a URL is made of names, and not empty".to_owned());
    }
    let first = rest.split('/').next().unwrap_or_default().to_lowercase();
    if RESERVED.contains(&first.as_str()) {
        Err(format!("/{first} is reserved"))
    } else {
        Ok(format!("/{rest}"))
    }
}

/// `None` for what is no text; what it decodes to is checked as any path is.
fn percent_decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        let decoded = match byte {
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let (high, low) = (digit(rest.next())?, digit(rest.next())?);
                u8::try_from(high * 16 + low).ok()?
            }
            byte => byte,
        };
        bytes.push(decoded);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_ours_are_reserved() {
        for url in [
            "/api",
            "/API/x",
            "/socket.io/x",
            "/v1/models",
            "/mcp",
            "/healthz",
            "/login/",
            "",
            "x",
            "/",
            "//x",
            "/x//y",
            "/../x",
            "/x/..",
            "/.well-known",
            "/x?y",
            "/x%2fy",
            "/x y",
            "/\u{202e}x",
        ] {
            assert!(canonical_url(url).is_err(), "{url}");
        }
        assert_eq!(canonical_url("/x/").as_deref(), Ok("/x"));
        assert_eq!(canonical_url("/页面/a-b.v1").as_deref(), Ok("/页面/a-b.v1"));
    }

    #[test]
    fn addresses_are_decoded_once() {
        assert_eq!(
            percent_decoded("/a%20b/%E4%BD%A0").as_deref(),
            Some("/a b/你")
        );
        assert_eq!(percent_decoded("/%252e").as_deref(), Some("/%2e"));
        for bad in ["/%", "/%2", "/%zz", "/%ff"] {
            assert_eq!(percent_decoded(bad), None, "{bad}");
        }
    }
}
