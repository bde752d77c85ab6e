//! [`Rendered`]: what is made of a list of methods, made once for as long as the list is the same. Made anew
//! for every message, a prompt for five hundred methods takes longer than all the rest.

use std::{
    ptr::addr_eq,
    sync::{Arc, Weak},
};

use callgate_contract::{Method, Mode, Shared, ToolSpec};
use parking_lot::Mutex;

/// Sessions differ in what they may use, and personas in what they say.
const KEPT: usize = 32;

#[derive(Default)]
pub(crate) struct RenderedCatalogues {
    /// By the persona's words.
    pub(crate) prompts: Rendered<(Mode, String), String>,
    /// By what the model has looked up.
    pub(crate) tools: Rendered<Vec<String>, Shared<ToolSpec>>,
}

/// The last used come first. A mutex held for a look.
pub(crate) struct Rendered<K, V>(Mutex<Vec<Entry<K, V>>>);

struct Entry<K, V> {
    /// Weak, so that a method is gone when the gate lets go of it. Its address is nobody else's meanwhile.
    methods: Vec<Weak<dyn Method>>,
    key: K,
    value: V,
}

impl<K, V> Default for Rendered<K, V> {
    fn default() -> Self {
        Rendered(Mutex::default())
    }
}

impl<K: PartialEq, V: Clone> Rendered<K, V> {
    /// What was made of these methods under this key, or is now.
    pub(crate) fn get(&self, methods: &[Arc<dyn Method>], key: K, make: impl FnOnce(&K) -> V) -> V {
        if let Some(value) = self.find(methods, &key) {
            return value;
        }
        let value = make(&key);
        let mut entries = self.0.lock();
        entries.truncate(KEPT - 1);
        entries.insert(
            0,
            Entry {
                methods: methods.iter().map(Arc::downgrade).collect(),
                key,
                value: value.clone(),
            },
        );
        value
    }

    fn find(&self, methods: &[Arc<dyn Method>], key: &K) -> Option<V> {
        let mut entries = self.0.lock();
        let place = entries
            .iter()
            .position(|entry| entry.is_of(methods) && entry.key == *key)?;
        entries.get_mut(..=place)?.rotate_right(1);
        Some(entries.first()?.value.clone())
    }
}

impl<K, V> Entry<K, V> {
    fn is_of(&self, methods: &[Arc<dyn Method>]) -> bool {
        let same = |(one, other): (&Weak<dyn Method>, &Arc<dyn Method>)| {
            addr_eq(one.as_ptr(), Arc::as_ptr(other))
        };
        self.methods.len() == methods.len() && self.methods.iter().zip(methods).all(same)
    }
}
