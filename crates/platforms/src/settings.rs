//! [`PlatformSettings`]: a platform of any kind, before it is connected.

use std::sync::Arc;

use crate::{
    Host, Matrix, MatrixSettings, OneBot, OneBotSettings, Platform, PlatformAction, Satori,
    SatoriSettings, Telegram, TelegramSettings,
};

#[derive(Clone)]
pub enum PlatformSettings {
    OneBot(OneBotSettings),
    Telegram(TelegramSettings),
    Matrix(MatrixSettings),
    Satori(SatoriSettings),
}

impl PlatformSettings {
    /// Ready to [`run`](Platform::run).
    pub fn connect(self, host: Arc<dyn Host>) -> Result<Arc<dyn Platform>, String> {
        Ok(match self {
            PlatformSettings::OneBot(settings) => Arc::new(OneBot::new(settings, host)?),
            PlatformSettings::Telegram(settings) => Arc::new(Telegram::new(settings, host)?),
            PlatformSettings::Matrix(settings) => Arc::new(Matrix::new(settings, host)?),
            PlatformSettings::Satori(settings) => Arc::new(Satori::new(settings, host)?),
        })
    }

    /// What may be offered to an AI there.
    pub fn actions(&self) -> &'static [PlatformAction] {
        match self {
            PlatformSettings::OneBot(_) => OneBot::ACTIONS,
            PlatformSettings::Telegram(_) => Telegram::ACTIONS,
            PlatformSettings::Matrix(_) => Matrix::ACTIONS,
            PlatformSettings::Satori(_) => Satori::ACTIONS,
        }
    }
}
