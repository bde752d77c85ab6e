//! [`InFlightCalls`]: calls that are to be made once and are being made. Who asks again meanwhile, perhaps
//! over a new connection, waits for the same answer; of calls that have ended, `record` knows the answer.

use std::collections::HashMap;

use callgate_contract::BoxFuture;
use futures_util::{
    FutureExt,
    future::{Shared, WeakShared},
};
use parking_lot::Mutex;
use serde_json::Value as Json;

/// By asker, request id and call. Weak: a call is held by those who wait for it.
#[derive(Default)]
pub(super) struct InFlightCalls(Mutex<HashMap<String, WeakShared<BoxFuture<'static, Json>>>>);

impl InFlightCalls {
    /// The answer of `call`: of `make`, or as it is being made.
    pub(super) fn join(
        &self,
        call: String,
        make: BoxFuture<'static, Json>,
    ) -> Shared<BoxFuture<'static, Json>> {
        let mut calls = self.0.lock();
        calls.retain(|_, making| making.upgrade().is_some());
        if let Some(making) = calls.get(&call).and_then(WeakShared::upgrade) {
            return making;
        }
        let making = make.shared();
        calls.extend(making.downgrade().map(|weak| (call, weak)));
        making
    }
}
