//! Which of a plugin's methods the gate has.

use std::sync::Arc;

use callgate_contract::{Method, MethodSpec, Origin};

use super::{Inner, Plugin};
use crate::{Worker, manifest::Manifest, method::PluginMethod};

impl Inner {
    /// Puts the plugin's methods into the gate, or takes them out.
    pub(super) fn offer(&self, worker: &Arc<Worker>, plugin: &Plugin) {
        let origin = Origin::Plugin(plugin.loaded.id.clone());
        if !plugin.enabled {
            // Whoever keeps something for the plugin, such as a key, hears that it has gone.
            self.gate.unregister_origin(&origin);
            return;
        }
        let manifest = Manifest::of(&plugin.source);
        let methods = plugin.loaded.methods.iter().map(|spec| {
            let mut info = spec.clone().of(origin.clone());
            info.trust = manifest.trust(&info.name);
            Arc::new(PluginMethod {
                info,
                plugin: plugin.loaded.id.clone(),
                worker: worker.clone(),
                contexts: self.contexts.clone(),
                switches: self.switches.clone(),
            }) as Arc<dyn Method>
        });
        for error in self.gate.replace_origin(&origin, methods) {
            tracing::warn!(plugin = plugin.loaded.id, %error, "could not register a plugin method");
        }
    }

    /// A plugin of this worker has other methods than when it was loaded; false if it is not there.
    pub(crate) fn offer_anew(&self, worker: &str, plugin: &str, methods: Vec<MethodSpec>) -> bool {
        let known = {
            let mut plugins = self.plugins.lock();
            let known = plugins.get_mut(plugin);
            known.filter(|it| it.source.worker == worker).map(|known| {
                Arc::make_mut(&mut known.loaded).methods = methods;
                known.clone()
            })
        };
        let worker = self.workers.lock().get(worker).cloned();
        match (known, worker) {
            (Some(plugin), Some(worker)) => {
                self.offer(&worker, &plugin);
                true
            }
            _ => false,
        }
    }
}
