//! The methods that ship with the product, one file each. Every one acts inside the caller's own
//! session and nowhere else; that is why all surfaces may call them.

mod forget;
mod now;
mod read_file;
mod read_json;
mod recall;
mod remember;
mod save_json;
mod send_file;
mod send_message;
mod session;
mod view_image;

use std::sync::Arc;

use callgate_contract::{Exposure, Method};
use callgate_store::Store;

/// All of them, to be registered with the gate.
pub fn all(store: Store) -> Vec<Arc<dyn Method>> {
    [
        forget::method(store.clone()),
        now::method(),
        read_file::method(store.clone()),
        read_json::method(store.clone()),
        recall::method(store.clone()),
        remember::method(),
        save_json::method(store.clone()),
        send_file::method(store.clone()),
        send_message::method(),
        view_image::method(store),
    ]
    .into_iter()
    .map(|method| Arc::new(method.exposure(Exposure::EVERYONE)) as Arc<dyn Method>)
    .collect()
}
