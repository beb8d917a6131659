//! The difference between the present records and the wanted ones.

use std::collections::HashMap;
use std::hash::Hash;

/// The records of one kind that differ.
pub struct RecordDifference<'a, T> {
    /// The new or changed records, each with the record that it replaces, if there is one.
    pub put: Vec<(&'a T, Option<&'a T>)>,
    pub removed: Vec<&'a T>,
}

impl<'a, T> RecordDifference<'a, T> {
    /// Compares the present records with the wanted ones. Two records are about the same thing if their `name` is the
    /// same.
    pub fn between<K: Eq + Hash>(now: &'a [T], wanted: &'a [T], name: impl Fn(&'a T) -> K) -> Self
    where
        T: PartialEq,
    {
        let mut before = now.iter().map(|it| (name(it), it)).collect::<HashMap<_, _>>();
        let mut put = Vec::new();
        for it in wanted {
            match before.remove(&name(it)) {
                Some(same) if same == it => {}
                other => put.push((it, other)),
            }
        }
        // The removed records keep their order.
        let removed = now.iter().filter(|it| before.contains_key(&name(it))).collect();
        Self { put, removed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_is_left_alone() {
        let now = [("a", 1), ("b", 1), ("c", 1)];
        let wanted = [("d", 1), ("b", 2), ("a", 1)];
        let differs = RecordDifference::between(&now, &wanted, |it| it.0);
        assert_eq!(differs.put, [(&("d", 1), None), (&("b", 2), Some(&("b", 1)))]);
        assert_eq!(differs.removed, [&("c", 1)]);
    }
}
