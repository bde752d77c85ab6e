//! The text of Prometheus in the making, and times in its buckets.

use std::{
    collections::BTreeMap,
    fmt::{Display, Write},
    time::Duration,
};

/// Upper bounds, in seconds.
const BUCKETS: [f64; 10] = [0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0];

/// How often something took how long.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    /// Not yet summed up.
    buckets: [u64; BUCKETS.len()],
    count: u64,
    sum: Duration,
}

impl Times {
    pub(super) fn add(&mut self, elapsed: Duration) {
        self.count += 1;
        self.sum += elapsed;
        let bucket = BUCKETS.iter().position(|end| elapsed.as_secs_f64() <= *end);
        if let Some(count) = bucket.and_then(|bucket| self.buckets.get_mut(bucket)) {
            *count += 1;
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn sum(&self) -> Duration {
        self.sum
    }
}

#[derive(Default)]
pub(super) struct Page {
    pub(super) text: String,
    name: &'static str,
}

impl Page {
    pub(super) fn metric(&mut self, name: &'static str, kind: &str, help: &str) {
        self.name = name;
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    pub(super) fn number(&mut self, value: u64) {
        self.line("", &[], &[], value);
    }

    pub(super) fn sample(&mut self, names: &[&str], labels: &[String], value: u64) {
        self.line("", names, labels, value);
    }

    pub(super) fn by(&mut self, name: &str, counts: &BTreeMap<String, u64>) {
        for (label, count) in counts {
            self.line("", &[name], std::slice::from_ref(label), *count);
        }
    }

    pub(super) fn seconds(&mut self, names: &[&str], labels: &[String], value: Duration) {
        self.line("", names, labels, value.as_secs_f64());
    }

    /// Of millionths, in whole units.
    pub(super) fn amount(&mut self, name: &str, label: &str, millionths: u64) {
        let amount = millionths as f64 / 1e6;
        self.line("", &[name], &[label.to_owned()], amount);
    }

    pub(super) fn times(&mut self, names: &[&str], all: &BTreeMap<Vec<String>, Times>) {
        let with_bound: Vec<&str> = names.iter().copied().chain(["le"]).collect();
        for (labels, times) in all {
            let mut below = 0;
            let ends = BUCKETS.iter().map(ToString::to_string);
            for (end, count) in ends.zip(times.buckets) {
                below += count;
                let labels = [labels.as_slice(), &[end]].concat();
                self.line("_bucket", &with_bound, &labels, below);
            }
            let whole = [labels.as_slice(), &["+Inf".to_owned()]].concat();
            self.line("_bucket", &with_bound, &whole, times.count);
            self.line("_sum", names, labels, times.sum.as_secs_f64());
            self.line("_count", names, labels, times.count);
        }
    }

    fn line(&mut self, suffix: &str, names: &[&str], labels: &[String], value: impl Display) {
        let pairs = names.iter().zip(labels);
        let pairs: Vec<String> = pairs
            .map(|(name, label)| format!("{name}=\"{}\"", escaped(label)))
            .collect();
        let labels = if pairs.is_empty() {
            String::new()
        } else {
            format!("{{{}}}", pairs.join(","))
        };
        let _ = writeln!(self.text, "{}{suffix}{labels} {value}", self.name);
    }
}

fn escaped(label: &str) -> String {
    let label = label.replace('\\', "\\\\").replace('"', "\\\"");
    label.replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_summed_up_and_labels_escaped() {
        let mut times = Times::default();
        for millis in [5, 60, 60, 200_000] {
            times.add(Duration::from_millis(millis));
        }
        let mut page = Page::default();
        page.metric("x", "histogram", "Help.");
        page.times(
            &["model"],
            &BTreeMap::from([(vec!["a\"b\\".to_owned()], times)]),
        );
        for line in [
            "x_bucket{model=\"a\\\"b\\\\\",le=\"0.01\"} 1\n",
            "x_bucket{model=\"a\\\"b\\\\\",le=\"0.1\"} 3\n",
            "x_bucket{model=\"a\\\"b\\\\\",le=\"120\"} 3\n",
            "x_bucket{model=\"a\\\"b\\\\\",le=\"+Inf\"} 4\n",
            "x_count{model=\"a\\\"b\\\\\"} 4\n",
            "x_sum{model=\"a\\\"b\\\\\"} 200.125\n",
        ] {
            assert!(page.text.contains(line), "{line} in {}", page.text);
        }
    }
}
