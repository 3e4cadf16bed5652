//! A result as JSON, read in passing: what is not there is empty.

use serde_json::Value;

/// A string in the JSON; empty where there is none.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The entry of a list that has this name.
pub(super) fn entry<'a>(list: &'a Value, name: &str) -> &'a Value {
    list.as_array().and_then(|l| l.iter().find(|e| e["name"] == name)).unwrap_or(&Value::Null)
}

/// The entries of a list; none where there is no list.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
