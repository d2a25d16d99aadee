//! Measures reading and writing: `cargo run --release --example speed -- FILE...` prints milliseconds for all the
//! files together, the best of several rounds.
#![expect(clippy::print_stdout, reason = "the measurement is the output")]

use std::time::{Duration, Instant};

use manifests_yaml::{documents, to_string};

/// Enough for the caches to be warm and the clock to be fast.
const ROUNDS: usize = 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let texts = std::env::args().skip(1).map(std::fs::read_to_string).collect::<Result<Vec<_>, _>>()?;
    let (mut reading, mut writing) = (Duration::MAX, Duration::MAX);
    let mut written = 0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let streams = texts.iter().map(|text| documents(text)).collect::<Result<Vec<_>, _>>()?;
        reading = reading.min(start.elapsed());
        let start = Instant::now();
        written = streams.iter().flatten().map(|document| to_string(&document.value).len()).sum();
        writing = writing.min(start.elapsed());
    }
    let read: usize = texts.iter().map(String::len).sum();
    println!("read {read} bytes in {:.1} ms", reading.as_secs_f64() * 1000.0);
    println!("wrote {written} bytes in {:.1} ms", writing.as_secs_f64() * 1000.0);
    Ok(())
}
