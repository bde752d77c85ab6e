//! [`Samples`]: durations, and what is said about them.

use std::time::Duration;

#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    pub(crate) fn push(&mut self, duration: Duration) {
        self.0.push(duration.as_secs_f64() * 1e6);
    }

    pub(crate) fn extend_nanoseconds(&mut self, nanoseconds: &[u64]) {
        self.0.extend(nanoseconds.iter().map(|n| *n as f64 / 1e3));
    }

    pub(crate) fn append(&mut self, other: Samples) {
        self.0.extend(other.0);
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Microseconds, by nearest rank; `None` of nothing.
    pub(crate) fn percentile(&self, percent: f64) -> Option<f64> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.saturating_sub(1)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_by_nearest_rank() {
        let mut samples = Samples::default();
        assert_eq!(samples.percentile(50.0), None);
        for micros in (1..=100).rev() {
            samples.push(Duration::from_micros(micros));
        }
        let percentiles = [0.0, 50.0, 99.0, 100.0].map(|p| samples.percentile(p).map(f64::round));
        assert_eq!(percentiles, [1.0, 50.0, 99.0, 100.0].map(Some));
    }
}
