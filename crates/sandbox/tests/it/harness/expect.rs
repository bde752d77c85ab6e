//! What tests say about an [`Outcome`]. Each shows the whole report when it does not hold.

use callgate_contract::Stop;

use super::Outcome;

impl Outcome {
    /// The report, with no more of the output than a reader wants to see.
    fn shown(&self) -> String {
        let mut report = self.report.clone();
        if report.stdout.chars().count() > 2_000 {
            let head: String = report.stdout.chars().take(1_000).collect();
            report.stdout = format!("{head}...");
        }
        format!("{report:#?}")
    }

    #[track_caller]
    pub fn stops(&self, stop: Stop) -> &Self {
        assert_eq!(self.report.stop, stop, "{}", self.shown());
        self
    }

    #[track_caller]
    pub fn prints(&self, stdout: &str) -> &Self {
        assert_eq!(self.report.stdout, stdout, "{}", self.shown());
        self
    }

    #[track_caller]
    pub fn error_has(&self, text: &str) -> &Self {
        let error = self.report.error.as_deref().unwrap_or_default();
        assert!(error.contains(text), "no {text:?} in {}", self.shown());
        self
    }

    /// The code printed one line per probe, each ending in this error and in this order.
    #[track_caller]
    pub fn refuses(&self, error: &str, probes: &str) -> &Self {
        let lines = probes
            .split_whitespace()
            .map(|probe| format!("{probe} {error}\n"));
        self.prints(&lines.collect::<String>())
            .stops(Stop::Finished)
    }

    /// The methods that reached the host, in order.
    #[track_caller]
    pub fn called(&self, methods: &[&str]) -> &Self {
        let called: Vec<_> = self.calls.iter().map(|call| call.method.as_str()).collect();
        assert_eq!(called, methods, "{}", self.shown());
        self
    }
}
