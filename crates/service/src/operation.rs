//! [`Operation`]: one thing that can be asked of the service. Its type is the request and carries the
//! response, so that every surface, the OpenAPI document and the control socket speak of the same.

use callgate_contract::BoxFuture;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value as Json;

use crate::{Capability, Requester, Service, ServiceError};

/// Not for what goes on while somebody listens: streams are functions of [`Service`].
pub trait Operation: Serialize + DeserializeOwned + JsonSchema + Send + Sized + 'static {
    type Response: Serialize + DeserializeOwned + JsonSchema + Send + 'static;

    /// `noun.verb`, on the control socket.
    const NAME: &'static str;
    const CAPABILITY: Capability;

    /// For a principal who has the capability: ask [`Service::call`].
    fn execute(
        self,
        service: &Service,
        requester: &Requester,
    ) -> impl Future<Output = Result<Self::Response, ServiceError>> + Send;
}

impl Service {
    /// What has begun goes on when whoever asked has left.
    pub async fn call<O: Operation>(
        &self,
        requester: &Requester,
        operation: O,
    ) -> Result<O::Response, ServiceError> {
        requester.require(O::CAPABILITY)?;
        let (service, requester) = (self.clone(), requester.clone());
        let executing = async move { operation.execute(&service, &requester).await };
        self.detached(executing).await
    }
}

/// An operation by its name, for surfaces that read requests as data.
pub struct NamedOperation {
    pub name: &'static str,
    pub capability: Capability,
    call: fn(Service, Requester, Json) -> BoxFuture<'static, Result<Json, ServiceError>>,
}

impl NamedOperation {
    pub(crate) const fn of<O: Operation>() -> Self {
        NamedOperation {
            name: O::NAME,
            capability: O::CAPABILITY,
            call: |service, requester, request| {
                Box::pin(async move {
                    let request: O = read(request)?;
                    let response = service.call(&requester, request).await?;
                    serde_json::to_value(response).map_err(ServiceError::internal)
                })
            },
        }
    }

    pub async fn call(
        &self,
        service: &Service,
        requester: &Requester,
        request: Json,
    ) -> Result<Json, ServiceError> {
        (self.call)(service.clone(), requester.clone(), request).await
    }
}

/// A request as data, or what is wrong with it.
pub fn read<O: Operation>(request: Json) -> Result<O, ServiceError> {
    O::deserialize(request).map_err(|error| {
        let hint = "compare it with the description of the request";
        ServiceError::invalid(error.to_string(), hint)
    })
}
