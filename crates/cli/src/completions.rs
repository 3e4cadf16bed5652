//! `truckee completions`: a script that teaches a shell our commands, options and names.

use crate::error::Error;
use clap::Command;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use std::io::Write;
use truckee_engines::drive::Algorithms;
use truckee_lab::{metric, study};
use truckee_tcp::Profile;
use truckee_tcp::ack::AnyAckPolicy;
use truckee_tcp::preset::PRESETS;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  truckee completions bash > ~/.local/share/bash-completion/completions/truckee"
)]
pub struct Arguments {
    /// The shell
    shell: Shell,
}

/// Writes the script.
pub fn completions(arguments: &Arguments, command: Command, out: &mut dyn Write) -> Result<(), Error> {
    // Into memory first: the generator panics where writing fails, on a closed pipe for one.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut with_names(command)?, "truckee", &mut script);
    Ok(out.write_all(&script)?)
}

/// The command as the script knows it: where a name is asked for, the names there are. The command itself takes more than
/// these (a path, a policy with its arguments), so that only the script has them.
fn with_names(mut command: Command) -> Result<Command, Error> {
    let senders: Vec<&str> = PRESETS.iter().map(|preset| preset.info.name).collect();
    let policies: Vec<&str> = AnyAckPolicy::MEMBERS.iter().map(|member| member.name).collect();
    // What clap is told of lasts as long as the program, which ends when the script is written.
    let studies: Vec<&str> =
        study::builtin(&Algorithms)?.into_iter().map(|study| &*study.id.leak()).collect();
    let settings: Vec<&str> = senders
        .iter()
        .map(|name| format!("flow.sender={name}"))
        .chain(policies.iter().map(|name| format!("flow.receiver={name}")))
        .chain(Profile::ALL.map(|profile| format!("profile={}", profile.info().name)))
        .map(|setting| &*setting.leak())
        .collect();
    let unqualified = |m: &metric::Info| matches!(m.of, "run" | "flow");
    let metrics: Vec<&str> = metric::list().into_iter().filter(unqualified).map(|m| m.name).collect();
    let names = crate::variants::names()?;

    command = command
        .mut_subcommand("variants", |c| offer(c, "name", &names))
        .mut_subcommand("study", |c| {
            c.mut_subcommand("show", |c| offer(c, "id", &studies))
                .mut_subcommand("run", |c| offer(c, "ids", &studies))
        })
        .mut_subcommand("sweep", |c| offer(offer(c, "metric", &metrics), "vary", &settings))
        .mut_subcommand("cc", |c| c.mut_subcommand("load", |c| offer(c, "name", &senders)));
    for name in ["run", "sweep", "compare"] {
        command = command.mut_subcommand(name, |c| offer(c, "set", &settings));
    }
    for name in ["exec", "shape"] {
        command = command.mut_subcommand(name, |c| offer(c, "ack", &policies));
    }
    Ok(command)
}

/// An argument with values to choose from.
fn offer(command: Command, arg: &'static str, values: &[&'static str]) -> Command {
    let values: Vec<&'static str> = values.to_vec();
    command.mut_arg(arg, |a| a.value_parser(PossibleValuesParser::new(values)))
}
