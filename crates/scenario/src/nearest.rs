//! The nearest valid name to one that was mistyped.

/// Texts longer than this many bytes are no slip of the pen, and would take long to compare.
const LONGEST: usize = 200;

/// The candidate most like `name`, if one is like enough to be what was meant.
pub(crate) fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    if name.len() > LONGEST {
        return None;
    }
    let lower = name.to_lowercase();
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates {
        let wanted = candidate.to_lowercase();
        let alike = if lower == wanted { 1.0 } else { strsim::jaro_winkler(&lower, &wanted) };
        if best.is_none_or(|(most, _)| alike > most) {
            best = Some((alike, candidate));
        }
    }
    // Jaro-Winkler likes short names too much: two edits must be enough for them.
    best.filter(|(alike, candidate)| {
        *alike >= 0.8
            || strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()) <= 2.min(lower.len() / 2)
    })
    .map(|(_, candidate)| candidate)
}

/// The same as a sentence: `did you mean "reno"?`.
pub(crate) fn did_you_mean<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
    nearest(name, candidates).map(|candidate| format!("did you mean \"{candidate}\"?"))
}

/// Names as a list in words, cut if it is long: `"a", "b" or "c"`.
pub(crate) fn one_of<'c>(names: impl IntoIterator<Item = &'c str>) -> String {
    const SHOWN: usize = 16;
    let names: Vec<String> = names.into_iter().map(|name| format!("\"{name}\"")).collect();
    match names.as_slice() {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first @ .., last] if names.len() <= SHOWN => format!("{} or {last}", first.join(", ")),
        _ => format!("{} or {} others", names[..SHOWN].join(", "), names.len() - SHOWN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_a_stranger_finds_none() {
        let names = ["newreno", "tahoe", "vegas", "tibet"];
        assert_eq!(nearest("newrno", names), Some("newreno"));
        assert_eq!(nearest("Vegas", names), Some("vegas"));
        assert_eq!(nearest("quickest", names), None);
    }

    #[test]
    fn a_long_list_is_cut() {
        let names: Vec<String> = (0..20).map(|i| format!("n{i}")).collect();
        let shown = one_of(names.iter().map(String::as_str));
        assert!(shown.ends_with("\"n15\" or 4 others"), "{shown}");
        assert_eq!(one_of(["a", "b"]), "\"a\" or \"b\"");
    }
}
