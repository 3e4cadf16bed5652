//! A scenario written out as TOML with nothing left to defaults. Reading the text gives an equal scenario: shorthands
//! have become links, copies have become flows, and every algorithm shows all its parameters.
//! Not for: comments and layout of the file it came from, which the scenario no longer has.

mod cells;
mod medium;
mod queue;
mod routing;
mod toml;

use crate::Scenario;
use crate::alike::differences;
use crate::model::{
    App, Arrivals, Change, Changed, Connections, Direction, Era, Flow, KernelStack, Link, NodeId, Observe,
    Periods, Sender, Steps, Traffic, Which,
};
use queue::queue_text;
use std::fmt::Write;
use toml::{Inline, array, bytes, moment, number, quoted, rate, size, time};
use truckee_channel::{Counts, Delays, Effect, JitterDistribution, ReorderWhich, Script};
use truckee_tcp::stack::{Autotuning, Ecn, ReduceFrom, Undo};
use truckee_tcp::{Arg, Span, Spec, Stack};

/// The scenario as TOML with every default filled in. A key that is missing from the text has no value: no queue
/// limit, no ACK filter, no route, no end.
pub fn explain(scenario: &Scenario) -> String {
    let mut out = Text::default();
    out.line("duration", time(scenario.duration));
    out.line("seed", scenario.seed.to_string());
    out.line("warmup", time(scenario.warmup));
    out.line("stop_when_done", scenario.stop_when_done.to_string());
    out.line("kernel", kernel(&scenario.kernel));
    for link in &scenario.links {
        out.link(scenario, link);
    }
    for place in &scenario.places {
        out.node(scenario, place);
    }
    for medium in &scenario.media {
        out.medium(scenario, medium);
    }
    for flow in &scenario.flows {
        out.flow(scenario, flow);
    }
    for traffic in &scenario.traffic {
        out.traffic(scenario, traffic);
    }
    for change in &scenario.changes {
        out.change(scenario, change);
    }
    for (heading, lines) in scenario.cells.iter().flat_map(|cells| cells::text(scenario, cells)) {
        let _ = writeln!(out.0, "\n{heading}");
        lines.into_iter().for_each(|(key, value)| out.line(key, value));
    }
    out.0
}

/// A flow's settings of the stack, one `key = value` a line; those that have no value are missing.
pub fn explain_stack(stack: &Stack) -> String {
    let mut out = Text::default();
    out.stack(stack);
    out.0
}

/// The text so far.
#[derive(Default)]
struct Text(String);

impl Text {
    fn line(&mut self, key: &str, value: String) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "{key} = {value}");
    }

    fn line_some(&mut self, key: &str, value: Option<String>) {
        if let Some(value) = value {
            self.line(key, value);
        }
    }

    /// What a reader has to know; TOML has comments for it.
    fn note(&mut self, note: &str) {
        let _ = writeln!(self.0, "# {note}");
    }

    fn head(&mut self, section: &str) {
        let _ = writeln!(self.0, "\n[[{section}]]");
    }

    fn link(&mut self, scenario: &Scenario, link: &Link) {
        self.head("link");
        self.line("name", quoted(&link.label(&scenario.nodes)));
        self.line("between", array([link.first, link.second].map(|n| quoted(&scenario.nodes[n]))));
        self.direction(scenario, &link.forward, ["rate", "delay", "queue", "channel"]);
        self.direction(scenario, &link.back, ["rate_back", "delay_back", "queue_back", "channel_back"]);
        if let Some(steps) = &link.steps {
            self.line("steps", steps_text(steps));
        }
        if scenario.asks_for_rates() || !link.quick_start {
            self.line("quick_start", link.quick_start.to_string());
        }
    }

    fn direction(
        &mut self,
        scenario: &Scenario,
        direction: &Direction,
        [rate, delay, queue, channel]: [&str; 4],
    ) {
        self.line(rate, toml::rate(direction.rate as f64));
        self.line(delay, time(direction.delay));
        self.line(queue, queue_text(direction));
        let effects = &direction.channel.effects;
        if !effects.is_empty() {
            self.line(channel, array(effects.iter().map(|e| effect(scenario, e))));
        }
    }

    fn flow(&mut self, scenario: &Scenario, flow: &Flow) {
        self.head("flow");
        self.line("name", quoted(&flow.name));
        self.line("from", quoted(&scenario.nodes[flow.from]));
        self.line("to", quoted(&scenario.nodes[flow.to]));
        for difference in differences(&scenario.kernel, &flow.sender) {
            self.note(difference.what);
        }
        self.line("sender", sender(&flow.sender));
        self.line("receiver", spec(&flow.receiver));
        self.line("observe", observe(&flow.observe));
        self.line("app", app(&flow.app));
        self.line("start", moment(flow.start));
        self.line_some("stop", flow.stop.map(moment));
        self.line_some("processing", (flow.processing > Span::ZERO).then(|| time(flow.processing)));
        self.line_some("route", flow.route.as_deref().map(|r| route(scenario, r)));
        self.stack(&flow.stack);
    }

    fn stack(&mut self, stack: &Stack) {
        self.line("mss", stack.mss.to_string());
        self.line("initial_window", size(stack.initial_window));
        self.line_some("initial_ssthresh", stack.initial_ssthresh.map(size));
        self.line("min_rto", time(stack.min_rto));
        self.line("max_rto", time(stack.max_rto));
        self.line("initial_rto", time(stack.initial_rto));
        self.line("clock", time(stack.clock));
        self.line("timestamps", stack.timestamps.to_string());
        self.line("rto_samples", quoted(stack.rto_samples.as_str()));
        self.line("rto_tick", time(stack.rto_tick));
        self.line("reduce_from", quoted(reduction(stack.reduce_from)));
        self.line("whole_ssthresh", stack.whole_ssthresh.to_string());
        self.line("repeated_reduction", stack.repeated_reduction.to_string());
        self.line("validate_window", stack.validate_window.to_string());
        self.line("rwnd", size(stack.rwnd));
        let tuned = stack.rwnd_autotuning;
        self.line_some("rwnd_autotuning", (tuned != Autotuning::Off).then(|| quoted(tuned.as_str())));
        self.line("window_scaling", stack.window_scaling.to_string());
        self.line_some("send_buffer", stack.send_buffer.map(size));
        self.line("limited_transmit", stack.limited_transmit.to_string());
        self.line("limited_resends", stack.limited_resends.to_string());
        // Shown where it is set: what a scenario without it says stays what it was, and so does its address.
        self.line_some("dsack", stack.dsack.then(|| "true".to_owned()));
        self.line_some("undo", (stack.undo != Undo::Never).then(|| quoted(stack.undo.as_str())));
        self.line_some("syn_ack_timer", stack.syn_ack_timer.then(|| "true".to_owned()));
        let linear = stack.linear_syn_timeouts;
        self.line_some("linear_syn_timeouts", (linear > 0).then(|| linear.to_string()));
        let rfc = Stack::default();
        let timers = stack.timers;
        self.line_some("timers", (timers != rfc.timers).then(|| quoted(timers.as_str())));
        self.line_some("timers_age", (!stack.timers_age.is_zero()).then(|| time(stack.timers_age)));
        let variance = stack.rto_variance;
        self.line_some("rto_variance", (variance != rfc.rto_variance).then(|| quoted(variance.as_str())));
        let validation = stack.window_validation;
        let other = validation != rfc.window_validation;
        self.line_some("window_validation", other.then(|| quoted(validation.as_str())));
        self.line_some("reduce_in_repair", (!stack.reduce_in_repair).then(|| "false".to_owned()));
        let idle = stack.after_idle;
        self.line_some("after_idle", (idle != rfc.after_idle).then(|| quoted(idle.as_str())));
        self.line_some("tso", stack.tso.then(|| "true".to_owned()));
        self.line_some("small_queues", stack.small_queues.then(|| "true".to_owned()));
        self.line("ecn", ecn(stack.ecn));
        self.line("ack_rate_request", stack.ack_rate_request.to_string());
        self.line("handshake", stack.handshake.to_string());
        self.line("segment_from_acks", stack.segment_from_acks.to_string());
    }

    fn traffic(&mut self, scenario: &Scenario, traffic: &Traffic) {
        self.head("traffic");
        self.line("name", quoted(&traffic.name));
        self.line("from", quoted(&scenario.nodes[traffic.from]));
        self.line("to", quoted(&scenario.nodes[traffic.to]));
        self.line("sources", traffic.sources.to_string());
        for (key, value) in arrivals(&traffic.arrivals) {
            self.line(key, value);
        }
        self.line("packet", bytes(u64::from(traffic.packet)));
        self.line("start", moment(traffic.start));
        self.line_some("stop", traffic.stop.map(moment));
        self.line_some("route", traffic.route.as_deref().map(|r| route(scenario, r)));
    }

    fn change(&mut self, scenario: &Scenario, change: &Change) {
        self.head("change");
        self.line("at", moment(change.at));
        let change = match &change.what {
            Changed::Link(change) => change,
            Changed::Receiver { flow, policy } => {
                self.line("flow", quoted(&scenario.flows[*flow].name));
                return self.line("receiver", spec(policy));
            }
        };
        self.line("link", quoted(&scenario.links[change.link].label(&scenario.nodes)));
        let direction = match change.direction {
            Which::Both => "both",
            Which::Forward => "forward",
            Which::Back => "back",
        };
        self.line("direction", quoted(direction));
        self.line_some("rate", change.rate.map(|r| rate(r as f64)));
        self.line_some("delay", change.delay.map(time));
        self.line_some("up", change.up.map(|up| up.to_string()));
    }
}

fn ecn(ecn: Ecn) -> String {
    match ecn {
        Ecn::Accurate => quoted("accurate"),
        mode => mode.on().to_string(),
    }
}

fn reduction(from: ReduceFrom) -> &'static str {
    match from {
        ReduceFrom::Flight => "flight",
        ReduceFrom::Window => "window",
    }
}

fn route(scenario: &Scenario, route: &[NodeId]) -> String {
    array(route.iter().map(|node| quoted(&scenario.nodes[*node])))
}

fn effect(scenario: &Scenario, effect: &Effect) -> String {
    let flow_name = |number: Option<u32>| {
        number.and_then(|number| scenario.flows.get(number as usize)).map(|flow| quoted(&flow.name))
    };
    match effect {
        Effect::Bernoulli { per } => Inline::kind("bernoulli").with("per", number(*per)),
        Effect::BitErrors { ber } => Inline::kind("bit-errors").with("ber", number(*ber)),
        Effect::Gilbert { good, bad, per_good, per_bad } => Inline::kind("gilbert")
            .with("good", time(*good))
            .with("bad", time(*bad))
            .with("per_good", number(*per_good))
            .with("per_bad", number(*per_bad)),
        Effect::Bursts { every, lasting, until, phase } => Inline::kind("bursts")
            .with("every", time(*every))
            .with("lasting", time(*lasting))
            .with_some("until", until.map(moment))
            .with("phase", phase.map_or_else(|| quoted("random"), time)),
        Effect::Outages { at } => Inline::kind("outages")
            .with("at", pairs(at.iter().map(|&(start, lasting)| (start.since_start(), lasting)))),
        Effect::PoissonOutages { every, lasting } => {
            Inline::kind("outages").with("every", time(*every)).with("lasting", time(*lasting))
        }
        Effect::Scripted(Script { flow, counts, packets, during, does }) => {
            let range = |&(first, last): &(u64, u64)| match first == last {
                true => first.to_string(),
                false => quoted(&format!("{first}..{last}")),
            };
            Inline::kind("scripted")
                .with_some("flow", flow_name(*flow))
                .with("packets", array(packets.iter().map(range)))
                .with("during", pairs(during.iter().map(|(from, to)| (from.since_start(), to.since_start()))))
                .with_some("counts", (*counts == Counts::All).then(|| quoted("all")))
                .with_some("does", does.word().map(quoted))
                .with_some("by", does.by().map(time))
        }
        Effect::Delays(Delays { flow, by }) => Inline::kind("delays")
            .with_some("flow", flow_name(*flow))
            .with("by", array(by.iter().copied().map(time))),
        Effect::Correlated { per, correlation } => {
            Inline::kind("correlated").with("per", number(*per)).with("correlation", number(*correlation))
        }
        Effect::Jitter { distribution, correlation_time, keep_order } => {
            let memory = Some(*correlation_time).filter(|memory| !memory.is_zero());
            jitter(distribution)
                .with_some("correlation_time", memory.map(time))
                .with("keep_order", keep_order.to_string())
        }
        Effect::Duplicate { probability, after } => {
            Inline::kind("duplicate").with("probability", number(*probability)).with("after", time(*after))
        }
        Effect::Reorder { which, delay } => {
            let reorder = Inline::kind("reorder").with("delay", time(*delay));
            match which {
                ReorderWhich::Every(n) => reorder.with("every", n.to_string()),
                ReorderWhich::Probability(p) => reorder.with("probability", number(*p)),
            }
        }
        Effect::Trace(trace) => Inline::kind("trace").with("file", quoted(&trace.name)),
    }
    .end()
}

fn steps_text(steps: &Steps) -> String {
    let rates = |(least, most): (u64, u64)| array([least, most].map(|r| rate(r as f64)));
    Inline::default()
        .with("every", time(steps.every))
        .with_some("delay", steps.delay.map(|(least, most)| array([least, most].map(time))))
        .with_some("rate", steps.rate.map(rates))
        .with_some("rate_back", steps.rate_back.map(rates))
        .end()
}

fn pairs(pairs: impl Iterator<Item = (Span, Span)>) -> String {
    array(pairs.map(|(first, second)| array([time(first), time(second)])))
}

fn jitter(distribution: &JitterDistribution) -> Inline {
    let jitter = Inline::kind("jitter");
    match *distribution {
        JitterDistribution::Uniform { max } => {
            jitter.with("distribution", quoted("uniform")).with("max", time(max))
        }
        JitterDistribution::Normal { mean, sd } => {
            jitter.with("distribution", quoted("normal")).with("mean", time(mean)).with("sd", time(sd))
        }
        JitterDistribution::Pareto { scale, shape } => jitter
            .with("distribution", quoted("pareto"))
            .with("scale", time(scale))
            .with("shape", number(shape)),
        JitterDistribution::Table { ref table, mean, sd } => jitter
            .with("distribution", quoted("table"))
            .with("file", quoted(&table.name))
            .with("mean", time(mean))
            .with("sd", time(sd)),
    }
}

fn kernel(kernel: &KernelStack) -> String {
    let flag = |flag: Option<bool>| flag.map(|on| on.to_string());
    let era = match kernel.era {
        Era::Papers => "papers",
        Era::Today => "today",
    };
    Inline::default()
        .with("stack", quoted(era))
        .with_some("sack", flag(kernel.sack))
        .with_some("dsack", flag(kernel.dsack))
        .with_some("rack", flag(kernel.rack))
        .with_some("tail_loss_probe", flag(kernel.tail_loss_probe))
        .with_some("f_rto", flag(kernel.f_rto))
        .end()
}

fn sender(sender: &Sender) -> String {
    if sender.native.is_some() {
        return quoted(&sender.label);
    }
    let table =
        Inline::default().with("label", quoted(&sender.label)).with("recovery", spec(&sender.recovery));
    let start = ("start", spec(&sender.start));
    match &sender.controller {
        Some(controller) => table.with("controller", spec(controller)).with(start.0, start.1).end(),
        None => table
            .with("growth", spec(&sender.growth))
            .with("response", spec(&sender.response))
            .with(start.0, start.1)
            .with("pacing", spec(&sender.pacing))
            .end(),
    }
}

fn observe(observe: &Observe) -> String {
    let list = |members: &[(String, Spec)]| array(members.iter().map(|(_, member)| spec(member)));
    Inline::default()
        .with("predictors", list(&observe.predictors))
        .with("estimators", list(&observe.estimators))
        .with("detectors", list(&observe.detectors))
        .with("every", time(observe.every))
        .end()
}

fn spec(spec: &Spec) -> String {
    let arguments =
        spec.args.iter().fold(Inline::default(), |inline, (key, value)| inline.with(key, arg(value)));
    Inline::default().with(&spec.name, arguments.end()).end()
}

fn arg(arg: &Arg) -> String {
    match arg {
        Arg::Number(x) => number(*x),
        Arg::Time(t) => time(*t),
        Arg::Rate(r) => rate(*r),
        Arg::Bytes(b) => bytes(*b),
        Arg::Segments(n) => quoted(&format!("{n}segments")),
        Arg::Flag(flag) => flag.to_string(),
        Arg::Name(name) => quoted(name),
        Arg::Spec(inner) => spec(inner),
    }
}

fn app(app: &App) -> String {
    match app {
        App::Bulk => Inline::kind("bulk"),
        App::File { size } => Inline::kind("file").with("size", bytes(*size)),
        App::Files { size, count, connections, pause } => Inline::kind("files")
            .with("size", bytes(*size))
            .with("count", count.to_string())
            .with("connections", connections_text(*connections))
            .with("pause", time(*pause)),
        App::RequestResponse { request, response, count, think } => Inline::kind("request-response")
            .with("request", bytes(*request))
            .with("response", bytes(*response))
            .with_some("count", count.map(|n| n.to_string()))
            .with("think", time(*think)),
        App::WebPage { objects, mean, connections } => Inline::kind("web-page")
            .with("objects", objects.to_string())
            .with("size", bytes(*mean))
            .with("connections", connections.to_string()),
        App::Segments { arrivals: process, size, count } => {
            let process =
                arrivals(process).into_iter().fold(Inline::default(), |i, (key, value)| i.with(key, value));
            Inline::kind("segments")
                .with("arrivals", process.end())
                .with("size", bytes(u64::from(*size)))
                .with_some("count", count.map(|n| n.to_string()))
        }
    }
    .end()
}

fn connections_text(connections: Connections) -> String {
    match connections {
        Connections::One => quoted("one"),
        Connections::Separate => quoted("separate"),
        Connections::Parallel(n) => quoted(&format!("parallel:{n}")),
    }
}

fn arrivals(arrivals: &Arrivals) -> Vec<(&'static str, String)> {
    match arrivals {
        Arrivals::Cbr { rate: r } => vec![("kind", quoted("cbr")), ("rate", rate(*r))],
        Arrivals::Poisson { rate: r } => vec![("kind", quoted("poisson")), ("rate", rate(*r))],
        Arrivals::OnOff { rate: r, on, off, periods, whole_packets } => {
            let kind = if matches!(periods, Periods::Exponential) { "exponential" } else { "pareto" };
            let mut keys =
                vec![("kind", quoted(kind)), ("rate", rate(*r)), ("on", time(*on)), ("off", time(*off))];
            if let Periods::Pareto { shape } = periods {
                keys.push(("shape", number(*shape)));
            }
            keys.push(("bursts", quoted(if *whole_packets { "packets" } else { "time" })));
            keys
        }
        Arrivals::Trace(trace) if trace.name.is_empty() => {
            vec![("kind", quoted("trace")), ("times_ms", format!("{:?}", trace.opportunities_ms))]
        }
        Arrivals::Trace(trace) => vec![("kind", quoted("trace")), ("file", quoted(&trace.name))],
    }
}
