//! Random choices that can be made again.

use std::env;
use std::sync::Mutex;

const VARIABLE: &str = "E2E_SEED";
const DEFAULT: u64 = 20_260_101;

/// A sequence of numbers that a seed begins: SplitMix64.
#[derive(Debug)]
pub(crate) struct Seeded(Mutex<u64>);

impl Seeded {
    /// The sequence that `E2E_SEED` begins. It is printed, so that a failure can be had again.
    pub(crate) fn new(what: &str) -> Self {
        let seed = match env::var(VARIABLE) {
            Ok(text) => text.parse().unwrap_or_else(|_| panic!("{VARIABLE} is no number: {text}")),
            Err(_) => DEFAULT,
        };
        println!("{what}: {VARIABLE}={seed}");
        Self(Mutex::new(seed))
    }

    /// A number below a bound.
    pub(crate) fn below(&self, bound: usize) -> usize {
        let mut state = self.0.lock().unwrap();
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % u64::try_from(bound).unwrap()).unwrap()
    }

    /// So many of the items, in random order.
    pub(crate) fn sample<T>(&self, mut items: Vec<T>, size: usize) -> Vec<T> {
        let mut taken = Vec::new();
        while taken.len() < size && !items.is_empty() {
            taken.push(items.swap_remove(self.below(items.len())));
        }
        taken
    }
}
