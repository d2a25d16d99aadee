//! Which lists of which kinds merge by key.

use serde_json::{Map, Value};

use crate::id::text;
use crate::schema_table::{KINDS, NODES};

/// One place of a schema. Places without a merged list at or below them have no node.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) fields: &'static [(&'static str, u16)],
    pub(crate) any: Option<u16>,
    pub(crate) items: Option<u16>,
    pub(crate) merge: Option<&'static [&'static str]>,
}

impl Node {
    /// The node of a field.
    pub(crate) fn field(&self, name: &str) -> Option<&'static Node> {
        let named = self.fields.iter().find(|(field, _)| *field == name).map(|(_, number)| *number);
        node(named.or(self.any)?)
    }

    /// The node of the elements of a list.
    pub(crate) fn elements(&self) -> Option<&'static Node> {
        node(self.items?)
    }

    /// The merge keys of a list: none for lists of plain values. `None` for a list that is replaced as a whole.
    pub(crate) fn merge_keys(&self) -> Option<&'static [&'static str]> {
        self.merge
    }
}

/// The node of an object of a built-in kind.
pub(crate) fn of_object(object: &Value) -> Option<&'static Node> {
    of_fields(object.as_object()?)
}

/// The node of an object of a built-in kind, given its fields.
pub(crate) fn of_fields(fields: &Map<String, Value>) -> Option<&'static Node> {
    let wanted = (text(fields.get("apiVersion")), text(fields.get("kind")));
    let found = KINDS.binary_search_by(|(kind, _)| (*kind).cmp(&wanted)).ok()?;
    node(KINDS.get(found)?.1)
}

fn node(number: u16) -> Option<&'static Node> {
    NODES.get(usize::from(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_sorted_for_the_search() {
        assert!(KINDS.is_sorted_by(|(a, _), (b, _)| a < b));
    }

    #[test]
    fn every_number_in_the_table_is_a_node() {
        let of_nodes = NODES
            .iter()
            .flat_map(|node| node.fields.iter().map(|(_, number)| *number).chain(node.any).chain(node.items));
        for number in of_nodes.chain(KINDS.iter().map(|(_, number)| *number)) {
            assert!(node(number).is_some(), "{number}");
        }
    }
}
