//! Many runs of all sorts at once.
use anyhow::bail;
#[derive(clap::Args)]
pub(crate) struct Soak {
    #[arg(long, default_value_t = 10_050)]
    runs: usize,
    #[arg(long, default_value_t = 8)]
    at_once: usize,
}
pub(crate) fn soak(_runtime: &tokio::runtime::Runtime, order: &Soak) -> anyhow::Result<()> {
    bail!("{} {}", order.runs, order.at_once)
}
