//! The panel on a terminal: of each direction its rate over time, its queue and what it has lost to what; below, the dials.

use super::state::{Dial, Lane, State};
use crate::human::{count, quantity};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Sparkline};
use truckee_kernel::LaneCounters;

/// Okabe & Ito's, as in figures.
const RATE: Color = Color::Rgb(0, 114, 178);
const LOST: Color = Color::Rgb(213, 94, 0);

/// Draws it.
pub fn draw(frame: &mut Frame<'_>, state: &State) {
    let [head, ways, dials, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(8),
        Constraint::Length(7),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let shown = &state.shown;
    let title = format!(
        "path {}: {} to {}, for {}, turned {} times",
        shown.id,
        shown.ends[0],
        shown.ends[1],
        quantity(shown.lasted_s, "s"),
        shown.turns
    );
    frame.render_widget(Line::from(title).style(Style::new().add_modifier(Modifier::BOLD)), head);
    let both = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]);
    let (ways, halves): ([Rect; 2], [Rect; 2]) = (both.areas(ways), both.areas(dials));
    for (k, counters) in shown.lanes.iter().enumerate().take(2) {
        lane(frame, ways[k], counters, &state.lanes[k]);
        knobs(frame, halves[k], state, k);
    }
    let keys = "↑↓ choose  ←→ turn  0 to nothing  q quits";
    let said = if state.message.is_empty() { keys } else { &state.message };
    frame.render_widget(Line::from(said), foot);
}

fn lane(frame: &mut Frame<'_>, area: Rect, counters: &LaneCounters, lane: &Lane) {
    let block = Block::bordered().title(counters.name.as_str());
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let [graph, words] = Layout::vertical([Constraint::Min(1), Constraint::Length(5)]).areas(inner);
    let fits = usize::from(graph.width);
    let rates: Vec<u64> = lane.rates.iter().skip(lane.rates.len().saturating_sub(fits)).copied().collect();
    frame.render_widget(Sparkline::default().data(&rates).style(Style::new().fg(RATE)), graph);
    // How long the last of those that wait will have waited.
    let wait = 8.0 * counters.waiting_bytes as f64 / counters.rate_bps.max(1) as f64;
    let lost = |what: &str, all: u64, new: u64| {
        let style = if new > 0 { Style::new().fg(LOST) } else { Style::new() };
        Line::from(Span::styled(format!("lost: {what} {} (+{})", count(all), count(new)), style))
    };
    let lines = vec![
        Line::from(format!(
            "{}, {} packets",
            quantity(lane.rates.back().copied().unwrap_or(0) as f64, "bit/s"),
            count(counters.packets)
        )),
        Line::from(format!(
            "waiting {} packets, {}; on the way {}",
            count(counters.waiting_packets),
            quantity(wait, "s"),
            count(counters.on_the_way)
        )),
        lost("queue", counters.queue_drops, lane.lost[0]),
        lost("channel", counters.channel_drops, lane.lost[1]),
        lost("outage", counters.outage_drops, lane.lost[2]),
    ];
    frame.render_widget(Paragraph::new(lines), words);
}

fn knobs(frame: &mut Frame<'_>, area: Rect, state: &State, way: usize) {
    let lines: Vec<Line<'_>> = state
        .dials()
        .into_iter()
        .enumerate()
        .filter(|(_, (of, ..))| *of == way)
        .map(|(k, (_, dial, value))| {
            let name = match dial {
                Dial::Rate => "rate",
                Dial::Delay => "delay",
                Dial::Loss => "loss",
                Dial::Reorder => "reorder",
                Dial::Up => "link",
            };
            let chosen = k == state.chosen;
            let style = if chosen { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
            Line::from(Span::styled(format!("{} {name:<8}{value}", if chosen { '›' } else { ' ' }), style))
        })
        .collect();
    let title = if way == 0 { "the way there" } else { "the way back" };
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(title)), area);
}

#[cfg(test)]
mod tests {
    use super::super::state::tests::shown;
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn drawn(state: &State, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, state)).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn all_that_a_link_shows_is_on_the_panel() {
        let mut state = State::new(shown(1.0, 0));
        state.show(shown(2.0, 500_000));
        let text = drawn(&state, 100, 24);
        for part in [
            "path 3fa2: ns:a to ns:b",
            "4 Mbit/s",
            "lost: channel 500 (+500)",
            "› rate",
            "10 Mbit/s",
            "1 %",
            "a-b",
            "b-a",
            "q quits",
        ] {
            assert!(text.contains(part), "{part} not in\n{text}");
        }
        state.refused("it will not\nbecause".into());
        assert!(drawn(&state, 100, 24).contains("it will not"));
    }

    #[test]
    fn a_small_terminal_is_no_panic() {
        let state = State::new(shown(1.0, 0));
        for (width, height) in [(1, 1), (10, 3), (30, 40), (200, 5)] {
            drawn(&state, width, height);
        }
    }
}
