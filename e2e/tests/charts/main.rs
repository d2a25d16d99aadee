//! The charts, as a real Helm lints, renders, packages, installs and upgrades them.
//!
//! `CHARTS_UPDATE=1` writes what is generated from the charts: goldens, lists of keys, tables of values.

mod cluster;
mod effects;
mod goldens;
mod helm;
mod instance;
mod notes;
mod operator;
mod package;
mod upgrade;
mod values;
