//! `truckee cc`: congestion controls in the running kernel.

use crate::error::Error;
use crate::layout::{self, words};
use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};
use std::io::Write;
use truckee_kernel::cc::{self, Installed, Owner, PORTS, TOLD_BY_RUNS};
use truckee_tcp::preset;

/// List, load and unload congestion controls of the running kernel
///
/// A control that is loaded can be chosen by any program of this machine, on a socket (TCP_CONGESTION) or by the sysctl
/// net.ipv4.tcp_congestion_control, until it is unloaded or the machine boots. Loading and unloading need root.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  truckee cc list
  truckee cc load newreno-lp
  truckee cc unload tk_lp_vegas";

#[derive(Debug, Subcommand)]
enum Command {
    /// What the kernel has, and what can be loaded
    List {
        /// How it is written
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
    },
    /// Load a sender as a congestion control, for every program
    Load {
        /// A preset, or its name in the kernel
        name: String,
    },
    /// Remove one that was loaded; connections that use it keep it until they end
    Unload {
        /// A preset, or its name in the kernel
        name: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For reading
    Table,
    /// One array of objects
    Json,
}

/// Lists, loads or unloads.
pub fn cc(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Error> {
    match &arguments.command {
        Command::List { format } => list(*format, out),
        Command::Load { name } => {
            let published = cc::find(name).ok_or_else(|| Error::Usage(unknown(name)))?;
            cc::load_published(published)?;
            writeln!(out, "{}", published.name)?;
            Ok(())
        }
        Command::Unload { name } => {
            cc::unload(cc::find(name).map_or(name.as_str(), |p| p.name))?;
            Ok(())
        }
    }
}

fn unknown(name: &str) -> String {
    if preset::find(name).is_some_and(|preset| preset.response().mentions("ideal")) {
        return format!("\"{name}\" cannot be loaded: {TOLD_BY_RUNS}");
    }
    let known = PORTS.iter().flat_map(|p| [p.preset, p.name]);
    let likeness = |known: &&str| strsim::jaro_winkler(name, known);
    let nearest = known.max_by(|a, b| likeness(a).total_cmp(&likeness(b))).filter(|n| likeness(n) > 0.7);
    let help = match nearest {
        Some(nearest) => format!("did you mean \"{nearest}\"?"),
        None => "`truckee cc list` shows them".to_owned(),
    };
    format!("no sender that can be loaded is named \"{name}\"; {help}")
}

/// Whether and by whom it is loaded, in words.
fn state(owner: Option<Owner>) -> &'static str {
    match owner {
        Some(Owner::Kernel) => "in the kernel",
        Some(Owner::Installed) => "loaded",
        Some(Owner::Run) => "in a run",
        None => "can be loaded",
    }
}

/// A control: its name, its state, the preset it is and what that does.
struct Row {
    name: String,
    state: &'static str,
    preset: Option<&'static str>,
    summary: &'static str,
}

fn row(name: &str, owner: Option<Owner>) -> Row {
    let published = cc::find(name).filter(|p| p.name == name && owner != Some(Owner::Kernel));
    let info = published.and_then(|p| preset::find(p.preset)).map(|p| p.info);
    Row {
        name: name.to_owned(),
        state: state(owner),
        preset: info.map(|i| i.name),
        summary: info.map_or("", |i| i.summary),
    }
}

fn rows(has: &[Installed]) -> Vec<Row> {
    let loaded = has.iter().map(|c| row(&c.name, Some(c.owner)));
    let others = PORTS.iter().filter(|p| has.iter().all(|c| c.name != p.name)).map(|p| row(p.name, None));
    loaded.chain(others).collect()
}

fn list(format: Format, out: &mut dyn Write) -> Result<(), Error> {
    let rows = rows(&cc::list()?);
    if format == Format::Json {
        let all: Vec<Value> =
            rows.iter().map(|r| json!({ "name": r.name, "state": r.state, "preset": r.preset })).collect();
        serde_json::to_writer_pretty(&mut *out, &all)?;
        writeln!(out)?;
        return Ok(());
    }
    let cells = |r: Row| vec![r.name, r.state.into(), r.preset.unwrap_or("").into(), r.summary.into()];
    let columns = [words("name"), words("state"), words("preset"), words("what it does")];
    layout::write(out, &columns, rows.into_iter().map(cells))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_what_the_kernel_has_and_then_what_it_could_have() {
        let has = [("reno", Owner::Kernel), ("tk_tibet", Owner::Installed), ("tk1f2e_0", Owner::Run)]
            .map(|(name, owner)| Installed { name: name.to_owned(), owner });
        let rows = rows(&has);
        let states: Vec<_> = rows.iter().take(4).map(|r| (r.name.as_str(), r.state, r.preset)).collect();
        assert_eq!(
            states,
            [
                ("reno", "in the kernel", None),
                ("tk_tibet", "loaded", Some("tibet")),
                ("tk1f2e_0", "in a run", None),
                ("tk_newreno", "can be loaded", Some("newreno")),
            ]
        );
        assert_eq!(rows.len(), 2 + PORTS.len());
    }

    #[test]
    fn a_misspelt_name_is_answered_with_the_nearest() {
        assert!(unknown("newreno-lq").contains("\"newreno-lp\""));
        assert!(unknown("zzz").contains("truckee cc list"));
    }
}
