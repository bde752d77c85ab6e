//! The one table of what each way in needs, put together from where each is served: routes, events, verbs,
//! requests and commands. `docs/keys.md` shows it, and a test calls all of it.

use callgate_service::{Capability, Entry, Surface, entries};

use crate::{
    Site, docs,
    http::{self, router},
    mcp, openai, page, plugin_web, remote,
};

pub fn table(site: &Site) -> Vec<Entry> {
    let one = |(name, needs): (String, Capability)| (name, vec![needs]);
    let fixed = [
        docs::NEEDS,
        http::NEEDS,
        mcp::NEEDS,
        plugin_web::NEEDS,
        remote::NEEDS,
    ]
    .concat();
    let fixed = fixed
        .into_iter()
        .map(|(name, needs)| (name.to_owned(), needs));
    let page = page::paths().map(|path| (format!("GET {path}"), Capability::Anyone));
    let routes = site
        .api
        .needs()
        .into_iter()
        .chain(fixed)
        .chain(page)
        .map(one);
    let v1 = openai::NEEDS.iter();
    let v1 = v1.map(|(name, needs)| ((*name).to_owned(), needs.to_vec()));
    let verbs = mcp::VERBS.iter();
    let verbs = verbs.map(|(name, needs)| one(((*name).to_owned(), *needs)));
    let entry = |surface| {
        move |(name, needs)| Entry {
            surface,
            name,
            needs,
        }
    };
    let served = routes.chain(v1).map(entry(Surface::Http));
    let spoken = verbs.map(entry(Surface::Mcp));
    served.chain(spoken).chain(entries()).collect()
}

/// As `METHOD path`, what is really served, for a test that holds the table against it. Of a router
/// nothing but its debug text tells.
pub fn served_routes(site: Site) -> String {
    format!("{:?}", router(site))
}
