//! The cache among processes that run, stop and are killed. Threads stand for those: locks are on open files.

use std::{fs, path::Path, thread};

use tempfile::TempDir;

use super::{About, Cache, CacheLimits, Draft, Entry};
use crate::Digest;

const LIMITS: CacheLimits = CacheLimits { entries: 2, bytes: 100 };

fn digest(name: &str) -> Digest {
    Digest::of(name.as_bytes())
}

fn draft(cache: &Cache, content: &str) -> Draft {
    let draft = cache.begin().unwrap();
    fs::write(draft.layer(), "layer").unwrap();
    fs::write(draft.files().join("file"), content).unwrap();
    draft
}

fn add(cache: &Cache, name: &str, bytes: u64) -> Result<Entry, String> {
    let about = About { image: digest("image").to_string(), bytes };
    cache.publish(draft(cache, name), &digest(name), &about).map_err(|error| error.to_string())
}

fn is_here(cache: &Cache, name: &str) -> bool {
    cache.find(&digest(name)).unwrap().is_some()
}

fn names(root: &Path) -> usize {
    fs::read_dir(root).unwrap().count()
}

#[test]
fn what_was_added_is_found_by_other_processes() {
    let root = TempDir::new().unwrap();
    let cache = Cache::open(root.path().join("a/b"), LIMITS).unwrap();
    assert!(!is_here(&cache, "one"));
    drop(add(&cache, "one", 10).unwrap());
    let other = Cache::open(root.path().join("a/b"), LIMITS).unwrap();
    let entry = other.find(&digest("one")).unwrap().unwrap();
    assert_eq!(fs::read_to_string(entry.files().join("file")).unwrap(), "one");
    assert_eq!(entry.image_digest(), digest("image"));
    assert_eq!(fs::read_dir(entry.files().parent().unwrap()).unwrap().count(), 3);
}

#[test]
fn a_draft_that_is_dropped_or_whose_process_was_killed_goes() {
    let root = TempDir::new().unwrap();
    let cache = Cache::open(root.path().into(), LIMITS).unwrap();
    drop(draft(&cache, "dropped"));
    assert_eq!(names(root.path()), 1);
    let alive = draft(&cache, "alive");
    fs::create_dir_all(root.path().join("draft-7-0/files")).unwrap();
    fs::write(root.path().join("draft-7-0/lock"), "").unwrap();
    fs::create_dir(root.path().join("draft-8-0")).unwrap();
    assert_eq!(names(root.path()), 4);
    Cache::open(root.path().into(), LIMITS).unwrap();
    assert_eq!(names(root.path()), 2);
    assert!(alive.layer().exists());
}

#[test]
fn half_an_entry_is_none_and_is_replaced() {
    let root = TempDir::new().unwrap();
    let cache = Cache::open(root.path().into(), LIMITS).unwrap();
    for about in [None, Some(""), Some("{\"image\":\"\",\"bytes\":1}"), Some("{\"image\":\"sha")] {
        let folder = root.path().join(digest("one").tag(""));
        fs::create_dir_all(folder.join("files")).unwrap();
        if let Some(about) = about {
            fs::write(folder.join("about.json"), about).unwrap();
        }
        assert!(!is_here(&cache, "one"), "{about:?}");
        let entry = add(&cache, "one", 1).unwrap();
        assert_eq!(fs::read_to_string(entry.files().join("file")).unwrap(), "one");
        fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn the_longest_unused_makes_room_by_number_and_by_size() {
    let root = TempDir::new().unwrap();
    let cache = Cache::open(root.path().into(), LIMITS).unwrap();
    drop(add(&cache, "one", 10));
    drop(add(&cache, "two", 10));
    assert!(is_here(&cache, "one"));
    drop(add(&cache, "three", 10));
    assert_eq!(["one", "two", "three"].map(|name| is_here(&cache, name)), [true, false, true]);
    drop(add(&cache, "four", 95));
    assert_eq!(["one", "three", "four"].map(|name| is_here(&cache, name)), [false, false, true]);
    assert_eq!(names(root.path()), 2);
}

#[test]
fn what_is_read_stays() {
    let root = TempDir::new().unwrap();
    let cache = Cache::open(root.path().into(), LIMITS).unwrap();
    let one = add(&cache, "one", 10).unwrap();
    let two = add(&cache, "two", 10).unwrap();
    let message = add(&cache, "three", 10).unwrap_err();
    assert!(message.contains("finds no room beside those in use"), "{message}");
    assert_eq!(names(root.path()), 3);
    drop(one);
    drop(add(&cache, "three", 10).unwrap());
    assert!(two.files().join("file").exists());
    assert!(!is_here(&cache, "one"));
    assert!(add(&cache, "large", 101).is_err());
}

#[test]
fn two_that_add_the_same_share_it() {
    let root = TempDir::new().unwrap();
    let cache = Cache::open(root.path().into(), LIMITS).unwrap();
    let about = About { image: digest("image").to_string(), bytes: 1 };
    let (slow, fast) = (draft(&cache, "same"), draft(&cache, "same"));
    let first = cache.publish(fast, &digest("same"), &about).unwrap();
    let second = cache.publish(slow, &digest("same"), &about).unwrap();
    assert_eq!(first.files(), second.files());
    assert_eq!(names(root.path()), 2);
}

#[test]
fn many_at_once_harm_nobody() {
    let root = TempDir::new().unwrap();
    thread::scope(|scope| {
        for worker in 0..8 {
            let root = root.path();
            scope.spawn(move || {
                let limits = CacheLimits { entries: 9, bytes: 100 };
                let cache = Cache::open(root.into(), limits).unwrap();
                for round in 0..20 {
                    let name = format!("{}", (worker + round) % 12);
                    let entry = match cache.find(&digest(&name)).unwrap() {
                        Some(entry) => entry,
                        None => add(&cache, &name, 1).unwrap(),
                    };
                    assert_eq!(fs::read_to_string(entry.files().join("file")).unwrap(), name);
                }
            });
        }
    });
    Cache::open(root.path().into(), LIMITS).unwrap();
    assert!(names(root.path()) <= 10, "{}", names(root.path()));
}

#[test]
fn a_folder_that_cannot_be_written_to_is_named() {
    let message = Cache::open("/proc/flux".into(), LIMITS).unwrap_err().to_string();
    assert_eq!(message, "failed to create /proc/flux, in the cache of artifacts");
}
