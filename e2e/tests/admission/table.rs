//! Rows: a change of a good object, and what comes of it.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::cluster::Cluster;
use crate::fields;
use crate::kind::{Kind, Reading};

/// An object, and what both sides must say to it.
pub(crate) struct Row {
    what: String,
    object: Value,
    expected: Expected,
}

enum Expected {
    Accepted,
    /// Refused for this rule of this field.
    Refused {
        field: String,
        rule: Rule,
    },
}

/// A rule that types cannot hold.
#[derive(Clone)]
enum Rule {
    /// A CEL rule, by its message.
    Cel(&'static str),
    /// A keyword of the schema, and what files are told.
    Keyword(&'static str, &'static str),
}

/// A good object, before it is changed.
#[derive(Clone)]
pub(crate) struct Base(Value);

/// A changed object.
pub(crate) struct Changed {
    object: Value,
    what: Vec<String>,
}

impl Base {
    /// Starts from a good object.
    pub(crate) fn new(object: Value) -> Self {
        Self(object)
    }

    /// Puts a value at a pointer, into arrays at their end.
    pub(crate) fn set(&self, pointer: &str, value: Value) -> Changed {
        Changed { object: self.0.clone(), what: Vec::new() }.set(pointer, value)
    }

    /// Removes what is at a pointer.
    pub(crate) fn without(&self, pointer: &str) -> Changed {
        Changed { object: self.0.clone(), what: Vec::new() }.without(pointer)
    }

    /// The object as it is.
    pub(crate) fn unchanged(&self) -> Changed {
        Changed { object: self.0.clone(), what: vec!["unchanged".to_owned()] }
    }
}

impl Changed {
    /// Puts a value at a pointer.
    pub(crate) fn set(mut self, pointer: &str, value: Value) -> Self {
        self.what.push(format!("{pointer}: {value}"));
        fields::set(&mut self.object, pointer, value);
        self
    }

    /// Removes what is at a pointer.
    pub(crate) fn without(mut self, pointer: &str) -> Self {
        self.what.push(format!("no {pointer}"));
        fields::remove(&mut self.object, pointer);
        self
    }

    /// Both sides accept it, and make the same of it.
    pub(crate) fn accepted(self) -> Row {
        self.row(Expected::Accepted)
    }

    /// Both sides refuse it with the message of a CEL rule.
    pub(crate) fn breaks(self, field: &str, message: &'static str) -> Row {
        self.row(Expected::Refused { field: field.to_owned(), rule: Rule::Cel(message) })
    }

    /// The API server refuses it for a keyword of the schema, and a reader of files for the same reason.
    pub(crate) fn violates(self, field: &str, keyword: &'static str, message: &'static str) -> Row {
        self.row(Expected::Refused { field: field.to_owned(), rule: Rule::Keyword(keyword, message) })
    }

    fn row(self, expected: Expected) -> Row {
        Row { what: self.what.join(", "), object: self.object, expected }
    }
}

impl Row {
    /// What one of the two sides does that it should not.
    pub(crate) async fn complaint(&self, cluster: &Cluster, kind: &Kind) -> Option<String> {
        let server = cluster.would_create(kind.plural, &self.object).await;
        let ours = (kind.read)(self.object.clone());
        let problem = match &self.expected {
            Expected::Accepted if server.is_err() || ours.is_err() => Some("must be accepted".to_owned()),
            Expected::Accepted => disagreement(kind, &server, &ours),
            Expected::Refused { field, rule } => refusal_problem(field, rule, &server, &ours),
        };
        problem.map(|problem| complain(&self.what, &problem, &server, &ours))
    }
}

/// The rules that rows break, as [`fields::rules`] names them.
pub(crate) fn rules_of(rows: &[Row]) -> BTreeSet<String> {
    let refused = rows.iter().filter_map(|row| match &row.expected {
        Expected::Accepted => None,
        Expected::Refused { rule: Rule::Cel(message), .. } => Some((*message).to_owned()),
        Expected::Refused { field, rule: Rule::Keyword(keyword, _) } => {
            Some(format!("{} {keyword}", fields::without_indexes(field)))
        }
    });
    refused.collect()
}

/// Why two answers are not the same.
pub(crate) fn disagreement(kind: &Kind, server: &Result<Value, String>, ours: &Reading) -> Option<String> {
    match (server, ours) {
        (Ok(server), Ok(ours)) => match (kind.read)(server.clone()) {
            Ok(admitted) if admitted == *ours => None,
            Ok(admitted) => Some(format!("the API server made {admitted} of it")),
            Err(problems) => Some(format!("what the API server made of it cannot be read: {problems:?}")),
        },
        (Err(_), Err(_)) => None,
        _ => Some("both must accept or both refuse".to_owned()),
    }
}

/// One line for people, with both answers.
pub(crate) fn complain(what: &str, problem: &str, server: &Result<Value, String>, ours: &Reading) -> String {
    let server = server.as_ref().map(|object| object["spec"].to_string());
    format!("- {what}: {problem}\n    server: {server:?}\n    ours:   {ours:?}")
}

fn refusal_problem(
    field: &str,
    rule: &Rule,
    server: &Result<Value, String>,
    ours: &Reading,
) -> Option<String> {
    let (Err(server), Err(ours)) = (server, ours) else { return Some("must be refused".to_owned()) };
    // The rule for the name belongs to the whole object.
    let server_field = if field == "metadata.name" { "<nil>" } else { field };
    let (words, message) = match rule {
        Rule::Cel(message) => (*message, *message),
        Rule::Keyword(keyword, message) => (words_of(keyword), *message),
    };
    let from_server = server.contains(&format!("{server_field}: ")) && server.contains(words);
    if !from_server {
        return Some(format!("the API server must say {words:?} of {server_field}"));
    }
    let violation = format!("{field}: {message}");
    (!ours.contains(&violation)).then(|| format!("a reader of files must say {violation:?}"))
}

/// How the API server words a keyword of the schema.
fn words_of(keyword: &str) -> &'static str {
    match keyword {
        "pattern" => "should match '",
        "maxLength" => "Too long: may not be more than",
        "minItems" => "should have at least",
        "maxItems" => "Too many: ",
        "maximum" => "should be less than or equal to",
        _ => panic!("no words for {keyword}"),
    }
}
