//! Signatures that were made by released programs, and others that were made to deceive.

use std::path::PathBuf;

use crate::fixture::{Fixture, word};
use rstest::rstest;

#[rstest]
fn every_signature_gets_the_answer_that_belongs_to_it(#[files("tests/signatures/*.json")] path: PathBuf) {
    let fixture = Fixture::read(&path);
    let answer = fixture.answer(&fixture.found());
    match &answer {
        Ok(verified) => println!("{verified}"),
        Err(refusal) => println!("{refusal}"),
    }
    assert_eq!(word(&answer), fixture.expected, "{answer:?}");
}

#[rstest]
fn what_others_refuse_is_refused_and_what_they_accept_is_accepted_or_told_why_not(
    #[files("tests/signatures/*.json")] path: PathBuf,
) {
    let fixture = Fixture::read(&path);
    let Some(others) = &fixture.others else { panic!("no other program was asked") };
    let accepted = fixture.answer(&fixture.found()).is_ok();
    if fixture.stricter.is_some() {
        assert!(others.accepts && !accepted, "stricter, but others say {:?}", others.says);
    } else {
        assert_eq!(accepted, others.accepts, "others say {:?}", others.says);
    }
}
