//! The terminal: raw mode, the alternate screen, keys in and lines out.
//!
//! The only file that knows the library `crossterm`.

use std::io::{self, Write as _};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal::{
    self, BeginSynchronizedUpdate, Clear, ClearType, DisableLineWrap, EnableLineWrap,
    EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
};
use crossterm::{Command, execute};

use super::state::{Key, Size};
use super::text::Line;

/// Whether the terminal is as it was before. A panic on another thread restores it, too.
static IS_RESTORED: AtomicBool = AtomicBool::new(true);

/// The terminal while the program draws on all of it. Dropping it restores what was there before.
pub(super) struct Terminal {
    colours: bool,
    /// The lines on the screen.
    drawn: Vec<Line>,
}

/// An event of the terminal.
pub(super) enum Input {
    Key(Key),
    Resized,
}

impl Terminal {
    /// Takes the terminal over.
    pub(super) fn enter() -> io::Result<Self> {
        let colours = AutoStream::choice(&io::stdout()) != ColorChoice::Never;
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            restore();
            before(info);
        }));
        IS_RESTORED.store(false, Ordering::SeqCst);
        // From here on dropping it restores the terminal.
        let terminal = Self { colours, drawn: Vec::new() };
        terminal::enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, DisableLineWrap, Hide)?;
        Ok(terminal)
    }

    pub(super) fn size() -> Size {
        // Some terminals do not know their size.
        let size = terminal::size().ok().filter(|(columns, lines)| *columns > 0 && *lines > 0);
        let (columns, lines) = size.unwrap_or((80, 24));
        Size { columns: columns.into(), lines: lines.into() }
    }

    /// Draws `lines` from the top. Only lines that changed are written.
    pub(super) fn draw(&mut self, lines: Vec<Line>) -> io::Result<()> {
        let mut text = String::new();
        for (row, line) in lines.iter().enumerate() {
            if self.drawn.get(row) != Some(line) {
                add(&mut text, MoveTo(0, u16::try_from(row).unwrap_or(u16::MAX)));
                add(&mut text, Clear(ClearType::CurrentLine));
                text += &line.escaped(self.colours);
            }
        }
        if self.drawn.len() > lines.len() {
            add(&mut text, Clear(ClearType::FromCursorDown));
        }
        self.drawn = lines;
        if text.is_empty() || IS_RESTORED.load(Ordering::SeqCst) {
            return Ok(());
        }
        let (mut begin, mut end) = (String::new(), String::new());
        add(&mut begin, BeginSynchronizedUpdate);
        add(&mut end, EndSynchronizedUpdate);
        let mut output = io::stdout().lock();
        output.write_all([begin, text, end].concat().as_bytes())?;
        output.flush()
    }

    /// Forgets what is on the screen, so that the next lines are all written.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.drawn.clear();
        execute!(io::stdout(), Clear(ClearType::All))
    }

    /// Waits for the next event, at most `time`.
    ///
    /// # Errors
    ///
    /// If the terminal was closed. `crossterm` would read it without end.
    pub(super) fn wait(time: Duration) -> io::Result<Option<Input>> {
        look(Duration::ZERO)?;
        // An earlier read may have brought several keys.
        if !event::poll(Duration::ZERO)? {
            look(time)?;
            if !event::poll(Duration::ZERO)? {
                return Ok(None);
            }
        }
        Ok(match event::read()? {
            Event::Key(key) => known(key).map(Input::Key),
            Event::Resize(..) => Some(Input::Resized),
            _ => None,
        })
    }
}

/// Waits until there is input, at most `time`. A signal, for example about a new size, ends it early.
#[cfg(unix)]
fn look(time: Duration) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let time = Timespec::try_from(time).map_err(io::Error::other)?;
    let stdin = io::stdin();
    let mut terminal = [PollFd::new(&stdin, PollFlags::IN)];
    match poll(&mut terminal, Some(&time)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let closed = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    if terminal[0].revents().intersects(closed) {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it was closed"));
    }
    Ok(())
}

#[cfg(not(unix))]
fn look(time: Duration) -> io::Result<()> {
    event::poll(time).map(|_| ())
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the terminal, once.
fn restore() {
    if !IS_RESTORED.swap(true, Ordering::SeqCst) {
        // If the terminal is gone, there is nothing to restore.
        let _ = execute!(io::stdout(), Show, EnableLineWrap, LeaveAlternateScreen);
        let _ = terminal::disable_raw_mode();
    }
}

/// Adds the escape sequence of `command`.
fn add(text: &mut String, command: impl Command) {
    // Writing to a string cannot fail.
    let _ = command.write_ansi(text);
}

/// Returns the key, if it means something.
fn known(key: KeyEvent) -> Option<Key> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c') => Some(Key::Interrupt),
            KeyCode::Char('f') => Some(Key::PageDown),
            KeyCode::Char('b') => Some(Key::PageUp),
            _ => None,
        };
    }
    Some(match key.code {
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_recognised_with_and_without_control() {
        let key = |code, modifiers| known(KeyEvent::new(code, modifiers));
        let none = KeyModifiers::NONE;
        assert_eq!(key(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Key::Interrupt));
        assert_eq!(key(KeyCode::Char('c'), none), Some(Key::Char('c')));
        assert_eq!(key(KeyCode::Char('G'), KeyModifiers::SHIFT), Some(Key::Char('G')));
        assert_eq!(key(KeyCode::PageUp, none), Some(Key::PageUp));
        assert_eq!(key(KeyCode::F(5), none), None);
        let released = KeyEvent::new_with_kind(KeyCode::Char('q'), none, KeyEventKind::Release);
        assert_eq!(known(released), None);
    }
}
