//! The two ends of a flow or of cross traffic, and the route between them where one is written.

use super::diagnostics::Diagnostics;
use super::link::Wiring;
use crate::document::tree::Value;
use crate::model::NodeId;
use std::borrow::Cow;

/// A node's name for copy number `copy`, which stands for every `*` in it.
pub(super) fn numbered(name: &str, copy: Option<u64>) -> Cow<'_, str> {
    match copy {
        Some(copy) if name.contains('*') => Cow::Owned(name.replace('*', &copy.to_string())),
        _ => Cow::Borrowed(name),
    }
}

impl Wiring<'_> {
    /// The nodes that `from` and `to` name.
    pub fn pair(
        &self,
        diag: &Diagnostics<'_>,
        from: &Value,
        to: &Value,
        copy: Option<u64>,
    ) -> Option<(NodeId, NodeId)> {
        let node = |value: &Value| {
            let name = diag.text(value, "the name of a node")?;
            self.node(diag, value, &numbered(name, copy))
        };
        let (from, to_node) = (node(from), node(to));
        let (from, to_node) = (from?, to_node?);
        if from == to_node {
            diag.report(
                &to.place,
                "\"from\" and \"to\" are the same node".into(),
                Some("two nodes".into()),
                None,
            );
            return None;
        }
        Some((from, to_node))
    }

    /// The nodes of a written route, which must begin and end at the given ones and pass no node twice. Whether links
    /// join them is seen once the links are read.
    pub fn route(
        &self,
        diag: &Diagnostics<'_>,
        value: &Value,
        (from, to): (NodeId, NodeId),
        copy: Option<u64>,
    ) -> Option<Vec<NodeId>> {
        let items = diag.list(value, "a list of nodes such as [\"server\", \"router\", \"phone\"]")?;
        let mut route = Vec::new();
        for item in items {
            let name = diag.text(item, "the name of a node")?;
            let node = self.node(diag, item, &numbered(name, copy))?;
            if route.contains(&node) {
                diag.report(
                    &item.place,
                    format!("the route passes \"{name}\" twice"),
                    Some("each node once".into()),
                    None,
                );
                return None;
            }
            route.push(node);
        }
        if (route.first(), route.last()) != (Some(&from), Some(&to)) {
            let ends = [from, to].map(|node| self.nodes[node].as_str());
            let expected = format!("a list of nodes from \"{}\" to \"{}\"", ends[0], ends[1]);
            diag.report(
                &value.place,
                "the route does not lead from one end to the other".into(),
                Some(expected),
                None,
            );
            return None;
        }
        Some(route)
    }
}
