//! What can be wrong with a metric's name.

/// Why there is no number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No metric has this name.
    #[error("there is no metric \"{name}\"{}", nearest(.near))]
    UnknownMetric {
        /// What was asked for.
        name: String,
        /// The name most like it.
        near: Option<String>,
    },
    /// A metric names a flow, sender, link or traffic that the outcome does not have.
    #[error("metric \"{metric}\": the scenario has no {kind} \"{name}\", {known}{}", nearest(.near))]
    UnknownSubject {
        /// The metric.
        metric: String,
        /// `flow`, `sender`, `link` or `traffic`.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// What there is: `only "a", "b"`, or `none at all`.
        known: String,
        /// The name most like it.
        near: Option<String>,
    },
}

/// The known name most like this one, if one is like it.
pub fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    known
        .into_iter()
        .map(|k| (strsim::jaro_winkler(name, k), k))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, k)| k.to_owned())
}

fn nearest(near: &Option<String>) -> String {
    near.as_ref().map(|n| format!("; did you mean \"{n}\"?")).unwrap_or_default()
}
