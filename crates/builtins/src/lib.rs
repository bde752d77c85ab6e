//! The methods that ship with the product, one file each. Every one acts inside the caller's own
//! session and nowhere else, which is why all surfaces may call them; only `fetch_page` reaches
//! outside, where the operator lets it, and remote clients have no use for that.

mod ask_user;
mod cancel_timer;
pub mod fetch;
mod fetch_page;
mod file_fetch;
mod forget;
mod html;
mod list_timers;
mod moment;
mod now;
mod pages;
mod read_file;
mod read_json;
mod recall;
mod remember;
mod save_json;
mod send_file;
mod send_message;
mod session;
mod set_timer;
mod view_image;

use std::sync::Arc;

use callgate_contract::{Exposure, Method};
use callgate_store::Store;

use crate::fetch::{FetchPolicy, Fetcher};

/// What the operator decides about them.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// From where `fetch_page` may get pages; nowhere by default.
    pub fetch: FetchPolicy,
}

/// All of them as nothing is configured, to be registered with the gate.
pub fn all(store: Store) -> Vec<Arc<dyn Method>> {
    with(store, Options::default())
}

/// All of them, to be registered with the gate.
pub fn with(store: Store, options: Options) -> Vec<Arc<dyn Method>> {
    let inside = [
        ask_user::method(),
        cancel_timer::method(store.clone()),
        forget::method(store.clone()),
        list_timers::method(store.clone()),
        now::method(),
        read_file::method(store.clone()),
        read_json::method(store.clone()),
        recall::method(store.clone()),
        remember::method(),
        save_json::method(store.clone()),
        send_file::method(store.clone()),
        send_message::method(),
        set_timer::method(store.clone()),
        view_image::method(store),
    ]
    .map(|method| method.exposure(Exposure::EVERYONE));
    let for_plugins = file_fetch::method(&options.fetch);
    let outside = fetch_page::method(Fetcher::new(options.fetch));
    inside
        .into_iter()
        .chain([outside, for_plugins])
        .map(|method| Arc::new(method) as Arc<dyn Method>)
        .collect()
}
