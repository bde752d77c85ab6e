//! `[remote]` and `[serve]`: where clients reach us, and what they find.

use std::{
    net::{Ipv4Addr, SocketAddr},
    num::NonZero,
    path::PathBuf,
    time::Duration,
};

use crate::remote::RemoteSettings;
use serde::{Deserialize, Serialize};

use super::count;

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Remote {
    pub listen: Option<SocketAddr>,
    pub origins: Vec<String>,
    pub methods: Vec<String>,
    pub restricted_files: Vec<String>,
    pub call_seconds: NonZero<u32>,
    pub calls_per_minute: NonZero<u32>,
    pub megabytes_per_hour: NonZero<u32>,
}

impl Default for Remote {
    fn default() -> Self {
        Remote {
            listen: None,
            origins: Vec::new(),
            methods: Vec::new(),
            restricted_files: Vec::new(),
            call_seconds: count(5),
            calls_per_minute: count(600_000),
            megabytes_per_hour: count(4_096),
        }
    }
}

impl Remote {
    pub fn settings(&self) -> RemoteSettings {
        RemoteSettings {
            call_within: Duration::from_secs(self.call_seconds.get().into()),
            origins: self.origins.clone(),
            restricted_files: self.restricted_files.clone(),
            calls_per_minute: self.calls_per_minute.get(),
            megabytes_per_hour: self.megabytes_per_hour.get(),
            ..RemoteSettings::default()
        }
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Serve {
    pub listen: SocketAddr,
    pub hosts: Vec<String>,
    pub insecure: bool,
    pub tls_cert: Option<PathBuf>,
    pub tls_key: Option<PathBuf>,
    pub local_metrics: bool,
    pub drain_seconds: u32,
}

impl Default for Serve {
    fn default() -> Self {
        Serve {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8420)),
            hosts: Vec::new(),
            insecure: false,
            tls_cert: None,
            tls_key: None,
            local_metrics: false,
            drain_seconds: 10,
        }
    }
}
