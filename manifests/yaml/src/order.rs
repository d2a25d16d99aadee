//! The order in which `goyaml.v2` prints keys: numbers within them by value, letters last.

mod unicode;

use std::cmp::Ordering;

use unicode::{is_digit, is_letter};

/// Sorts keys in place.
///
/// The order is not transitive: `x10` comes before `x1y`, `x1y` before `x9`, and `x9` before `x10`. Go's result is
/// random then. Here it is always the same, because the keys are brought into the order of their characters
/// first; and a plain merge sort is used, because the sort of the standard library may panic on such an order.
pub(crate) fn sort_keys<T>(entries: &mut Vec<T>, key: impl Fn(&T) -> &str + Copy) {
    entries.sort_by(|left, right| key(left).cmp(key(right)));
    let keyed = entries.drain(..).map(|entry| (key(&entry).chars().collect::<Vec<_>>(), entry)).collect();
    entries.extend(merge_sort(keyed).into_iter().map(|(_, entry)| entry));
}

fn merge_sort<T>(mut left: Vec<(Vec<char>, T)>) -> Vec<(Vec<char>, T)> {
    if left.len() < 2 {
        return left;
    }
    let right = merge_sort(left.split_off(left.len() / 2));
    let left = merge_sort(left);
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some((first, _)), Some((second, _))) = (left.peek(), right.peek()) {
        let next = if compare(second, first) == Ordering::Less { right.next() } else { left.next() };
        merged.extend(next);
    }
    merged.extend(left);
    merged.extend(right);
    merged
}

/// Compares from the first difference on. Two letters compare as characters; a letter comes after anything
/// else; what remains compares as numbers, where no digit is zero.
fn compare(left: &[char], right: &[char]) -> Ordering {
    let differs = left.iter().zip(right).position(|(left, right)| left != right);
    let Some(position) = differs else { return left.len().cmp(&right.len()) };
    let (Some((before, [first, ..])), Some((_, [second, ..]))) =
        (left.split_at_checked(position), right.split_at_checked(position))
    else {
        return Ordering::Equal;
    };
    match (is_letter(*first), is_letter(*second)) {
        (true, true) => return first.cmp(second),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // A zero within a number counts, one in front of it does not.
    let is_within = (*first == '0' || *second == '0')
        && before
            .iter()
            .rev()
            .take_while(|character| is_digit(**character))
            .any(|character| *character != '0');
    let number = |text: &[char]| {
        let digits = text.iter().skip(position).take_while(|character| is_digit(**character));
        digits.fold((i64::from(is_within), 0), |(value, count), digit| {
            (
                value.wrapping_mul(10).wrapping_add(i64::from(u32::from(*digit)) - i64::from(u32::from('0'))),
                count + 1,
            )
        })
    };
    number(left).cmp(&number(right)).then(first.cmp(second))
}
