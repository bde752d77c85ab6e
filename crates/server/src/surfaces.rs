//! [`Surfaces`]: a service with those of its surfaces that hold a state of their own, put together once
//! for whatever a process serves.

use std::sync::Arc;

use callgate_service::Service;

use crate::{Mcp, OpenAi};

/// Clones share everything.
#[derive(Clone)]
pub struct Surfaces {
    pub service: Service,
    pub openai: OpenAi,
    pub mcp: Mcp,
}

impl Surfaces {
    pub fn new(service: Service) -> Self {
        let (fetcher, host) = (service.clone(), service.clone());
        let openai = OpenAi::new(
            service.store().clone(),
            Arc::new(move |url| {
                let service = fetcher.clone();
                Box::pin(async move { service.fetch_bytes(&url).await })
            }),
            service.remote().attempts().clone(),
            Arc::new(move |address| {
                let service = host.clone();
                Box::pin(async move { service.let_plugins_reach(address).await })
            }),
        );
        let attached = openai.clone();
        // Plugins may ask for a model's address as soon as there is one, whether a server runs or not.
        service.when_agent_is_made(move |agent| {
            attached.attach(agent.clone());
            if let Err(error) = agent.gate().register(Arc::new(attached.gateway())) {
                tracing::error!(%error, "could not register model_gateway; plugins get no model endpoint");
            }
        });
        Surfaces {
            mcp: Mcp::new(service.remote().clone()),
            openai,
            service,
        }
    }
}
