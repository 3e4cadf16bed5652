//! `truckee path panel`: a link that runs, on a terminal, with its dials under the arrow keys.

mod draw;
mod state;

use crate::error::Error;
use crate::interrupt;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use state::{Key, State};
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use truckee_kernel::standalone;

/// How often the link is asked what it shows.
const EVERY: Duration = Duration::from_millis(250);

/// Watches the link of this identity until q is pressed, or it has ended.
pub fn run(id: &str) -> Result<(), Error> {
    if !std::io::stdout().is_terminal() {
        return Err(Error::Usage(
            "the panel needs a terminal; truckee path show and set need none".to_owned(),
        ));
    }
    let mut state = State::new(standalone::show(id)?);
    let mut terminal = ratatui::try_init().map_err(Error::Write)?;
    let done = watch(id, &mut state, &mut terminal);
    ratatui::restore();
    done
}

fn watch(id: &str, state: &mut State, terminal: &mut ratatui::DefaultTerminal) -> Result<(), Error> {
    let mut asked = Instant::now();
    while !interrupt::cancel().is_cancelled() {
        terminal.draw(|frame| draw::draw(frame, state)).map_err(Error::Write)?;
        let left = EVERY.saturating_sub(asked.elapsed());
        if event::poll(left).map_err(Error::Write)? {
            let key = match event::read().map_err(Error::Write)? {
                Event::Key(key) if key.kind != KeyEventKind::Release => key,
                _ => continue,
            };
            let control = key.modifiers.contains(KeyModifiers::CONTROL);
            let pressed = match key.code {
                KeyCode::Char('c') if control => return Ok(()),
                KeyCode::Char('q') | KeyCode::Esc => return Ok(()),
                KeyCode::Up | KeyCode::Char('k') => Key::Up,
                KeyCode::Down | KeyCode::Char('j') | KeyCode::Tab => Key::Down,
                KeyCode::Right | KeyCode::Char('+' | 'l') => Key::More,
                KeyCode::Left | KeyCode::Char('-' | 'h') => Key::Less,
                KeyCode::Char('0') => Key::None,
                _ => continue,
            };
            if let Some(setting) = state.press(pressed) {
                match standalone::set(id, vec![setting]) {
                    Ok(shown) => state.show(shown),
                    Err(error) => state.refused(error.to_string()),
                }
            }
        }
        if asked.elapsed() >= EVERY {
            asked = Instant::now();
            state.show(standalone::show(id)?);
        }
    }
    Ok(())
}
