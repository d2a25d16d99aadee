//! Archives, good and hostile: what each of them tries, and what is said of it.

mod archive;

use std::{fs, path::Path};

use rstest::rstest;
use tempfile::TempDir;

use super::{UnpackError, UnpackLimits, unpack};
use archive::{Archive, Raw, file};

const SMALL: UnpackLimits = UnpackLimits { bytes: 64 * 1024, file_bytes: 4096, entries: 8, depth: 3 };

fn unpacked(archive: &[u8], limits: &UnpackLimits) -> (TempDir, Result<u64, UnpackError>) {
    let target = TempDir::new().unwrap();
    let result = unpack(archive, target.path(), limits);
    (target, result)
}

fn refusal(archive: &[u8]) -> String {
    unpacked(archive, &SMALL).1.unwrap_err().to_string()
}

fn tree(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            found.push(path.strip_prefix(root).unwrap().display().to_string());
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn files_and_folders_are_unpacked_whoever_packed_them() {
    let long = format!("./{}/{}.yaml", "a".repeat(100), "b".repeat(100));
    let archive = Archive::default()
        .with(&Raw { kind: b'5', ..file(b"./", b"") })
        .with(&Raw { kind: b'g', ..file(b"pax_global_header", b"19 comment=a commit\n") })
        .with(&Raw { kind: b'5', ..file(b"./flux/", b"") })
        .with(&Raw { kind: 0, ..file(b"./flux/v2.yaml", b"a: 1") })
        .with(&Raw { kind: b'5', ..file(b"./flux", b"") })
        .with(&Raw { kind: b'L', ..file(b"././@LongLink", format!("{long}\0").as_bytes()) })
        .with(&file(b"cut", b"b: 2"))
        .with(&Raw { kind: b'x', ..file(b"PaxHeaders/x", "29 path=flux/\u{e4}/pax.yaml.yml\n".as_bytes()) })
        .with(&Raw { mode: 0o755, ..file(b"flux/x", b"") })
        .gzip();
    let (target, result) = unpacked(&archive, &UnpackLimits { entries: 9, ..SMALL });
    assert_eq!(result.unwrap(), 8);
    let long = long.trim_start_matches("./");
    let expected =
        [&"a".repeat(100), long, "flux", "flux/v2.yaml", "flux/\u{e4}", "flux/\u{e4}/pax.yaml.yml"];
    assert_eq!(tree(target.path()), expected);
    assert_eq!(fs::read_to_string(target.path().join("flux/v2.yaml")).unwrap(), "a: 1");
}

#[rstest]
#[case(file(b"../out", b""), "\"../out\" in the archive is not allowed: it leads out of the archive")]
#[case(file(b"a/../../out", b""), "it leads out of the archive")]
#[case(file(b"a/..", b""), "it leads out of the archive")]
#[case(file(b"/etc/passwd", b""), "\"/etc/passwd\" in the archive is not allowed: its path is absolute")]
#[case(file(b"a\\..\\b", b""), "backslash")]
#[case(file(b"a\nb", b""), "\"a b\" in the archive is not allowed: its name is")]
#[case(file(b"a\xff", b""), "not UTF-8")]
#[case(file(b"", b""), "its name is empty")]
#[case(file(b".", b""), "its name is empty")]
#[case(file(b"a/b/c/d/e", b""), "it is in more than 3 folders")]
#[case(Raw { kind: b'5', ..file(b"a/b/c/d/e", b"") }, "it is in more than 3 folders")]
#[case(Raw { kind: b'1', ..file(b"a", b"") }, "\"a\" in the archive is not allowed: it is a link")]
#[case(Raw { kind: b'2', ..file(b"a", b"") }, "it is a link")]
#[case(Raw { kind: b'3', ..file(b"a", b"") }, "it is of kind '3'")]
#[case(Raw { kind: b'4', ..file(b"a", b"") }, "it is of kind '4'")]
#[case(Raw { kind: b'6', ..file(b"a", b"") }, "it is of kind '6'")]
#[case(Raw { kind: b'S', ..file(b"a", b"") }, "it is of kind 'S'")]
#[case(Raw { mode: 0o4755, ..file(b"a", b"") }, "its mode 4755")]
#[case(Raw { mode: 0o2755, ..file(b"a", b"") }, "its mode 2755")]
#[case(Raw { mode: 0o1777, kind: b'5', ..file(b"a", b"") }, "its mode 1777")]
#[case(file(b"a", &[0; 4097]), "it has 4097 bytes, and 4096 are allowed")]
#[case(Raw { kind: b'L', ..file(b"a", b"x") }, "the archive ends in the middle of an entry")]
fn an_entry_that_is_not_allowed_is_named(#[case] raw: Raw<'_>, #[case] expected: &str) {
    let message = refusal(&Archive::default().with(&file(b"first", b"")).with(&raw).gzip());
    assert!(message.contains(expected), "{message}");
}

#[rstest]
#[case(b"a/b", b"a/b", "\"a/b\" in the archive is not allowed: it is there twice")]
#[case(b"a/b", b"./a//b", "it is there twice")]
#[case(b"a/b", b"a/B", "it differs from \"a/b\" in upper and lower case alone")]
#[case(b"a/b", b"A/c", "it differs from \"a\" in upper and lower case alone")]
#[case(b"a", b"a/b", "it is a file and a folder")]
#[case(b"a/b", b"a", "it is a file and a folder")]
fn a_name_that_is_there_twice_is_refused(
    #[case] first: &'static [u8],
    #[case] second: &'static [u8],
    #[case] expected: &str,
) {
    let message = refusal(&Archive::default().with(&file(first, b"1")).with(&file(second, b"2")).gzip());
    assert!(message.contains(expected), "{message}");
}

#[test]
fn a_hostile_name_in_an_extension_is_seen_too() {
    let by_gnu = Archive::default()
        .with(&Raw { kind: b'L', ..file(b"././@LongLink", b"../../out\0") })
        .with(&file(b"good", b""));
    let by_pax = Archive::default()
        .with(&Raw { kind: b'x', ..file(b"x", b"15 path=../out\n") })
        .with(&file(b"good", b""));
    let with_size =
        Archive::default().with(&Raw { kind: b'x', ..file(b"x", b"10 size=0\n") }).with(&file(b"a", b"123"));
    let content = vec![b'a'; 64 * 1024 + 1];
    let large = Archive::default().with(&Raw { kind: b'x', ..file(b"x", &content) });
    assert!(refusal(&by_gnu.gzip()).contains("\"../../out\" in the archive is not allowed"));
    assert!(refusal(&by_pax.gzip()).contains("it leads out of the archive"));
    assert!(refusal(&with_size.gzip()).contains("two sizes are given"));
    let limits = UnpackLimits { bytes: 1024 * 1024, ..SMALL };
    let message = unpacked(&large.gzip(), &limits).1.unwrap_err().to_string();
    assert!(message.contains("extends its header has 65537 bytes"), "{message}");
}

#[test]
fn entries_and_bytes_are_counted_however_they_are_packed() {
    let many = (0..9)
        .fold(Archive::default(), |archive, index| archive.with(&file(format!("{index}").as_bytes(), b"")));
    assert_eq!(refusal(&many.gzip()), "the archive has more than 8 entries");
    let large = (0..8).fold(Archive::default(), |archive, index| {
        archive.with(&file(format!("{index}").as_bytes(), &[0; 4096])).with_padding(4608)
    });
    let message = refusal(&large.gzip());
    assert!(message.contains("more than 65536 bytes when it is unpacked"), "{message}");
}

#[test]
fn a_bomb_behind_the_last_entry_is_found() {
    let archive = Archive::default().with(&file(b"a", b"1")).with_end().with_padding(1024 * 1024).gzip();
    assert!(archive.len() < 16 * 1024, "{}", archive.len());
    assert_eq!(refusal(&archive), "the archive has more than 65536 bytes when it is unpacked");
}

#[test]
fn a_bomb_of_a_gigabyte_is_stopped_at_the_ceiling() {
    let mut archive = Archive::default().with_header(&file(b"bomb", b""), 1 << 30).gzip();
    let zeros = Archive::default().with_padding(1 << 20).gzip();
    (0..1024).for_each(|_| archive.extend_from_slice(&zeros));
    let target = TempDir::new().unwrap();
    let limits = UnpackLimits { file_bytes: u64::MAX, bytes: 1024 * 1024, ..UnpackLimits::default() };
    let message = unpack(archive.as_slice(), target.path(), &limits).unwrap_err().to_string();
    assert!(message.contains("\"bomb\" in the archive is not allowed"), "{message}");
    assert!(message.contains("more than 1048576 bytes when it is unpacked"), "{message}");
}

#[test]
fn what_is_damaged_or_something_else_is_refused() {
    let archive = Archive::default().with(&file(b"a", &[7; 2000])).gzip();
    for end in [0, 1, 10, archive.len() / 2, archive.len() - 1] {
        let message = refusal(&archive[..end]);
        assert!(message.contains("damaged") || message.contains("ends in the middle"), "{end}: {message}");
    }
    let mut flipped = archive.clone();
    *flipped.iter_mut().rev().nth(5).unwrap() ^= 1;
    assert!(refusal(&flipped).contains("damaged"), "{}", refusal(&flipped));
    assert!(refusal(b"<html><body>Not found</body></html>").contains("not by tar and gzip"));
    let text = Archive::default().with_padding(100).with_bytes(&[b'a'; 600]).gzip();
    assert!(refusal(&text).contains("not by tar and gzip"), "{}", refusal(&text));
    let cut = Archive::default().with_header(&file(b"a", b""), 1000).with_bytes(b"only this").gzip();
    assert!(refusal(&cut).contains("the archive ends in the middle"), "{}", refusal(&cut));
}

proptest::proptest! {
    #[test]
    fn no_archive_writes_outside(
        names in proptest::collection::vec("[./a\\\\]{0,12}", 1..4),
        kinds in proptest::collection::vec(proptest::sample::select(b"0512L".to_vec()), 4),
    ) {
        let root = TempDir::new().unwrap();
        let target = root.path().join("x/y/target");
        fs::create_dir_all(&target).unwrap();
        let archive = names.iter().zip(kinds).fold(Archive::default(), |archive, (name, kind)| {
            archive.with(&Raw { kind, ..file(name.as_bytes(), b"1") })
        });
        let _ = unpack(archive.gzip().as_slice(), &target, &SMALL);
        let outside: Vec<_> = tree(root.path()).into_iter().filter(|path| !path.starts_with("x/y/target")).collect();
        proptest::prop_assert_eq!(outside, vec!["x".to_owned(), "x/y".to_owned()]);
    }
}
