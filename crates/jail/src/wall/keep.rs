//! Outside of the wall while the program runs: passes a signal on, shows it more of the machine on the
//! host's orders, and ends with it. When the host is gone, so is the program.

use std::convert::Infallible;

use crate::{
    guard::Guard,
    plan::Place,
    process::{self, Init, Signals},
    root,
    sys::{self, Step, failed},
};

/// The control socket, from the first packet of the socket that is our standard input; the rest of what
/// comes there is the program's.
pub fn take_control() -> Step<i32> {
    let mut word = [0; 16];
    match sys::receive(0, &mut word)? {
        Some((_, [control, _])) if control >= 0 => Ok(control),
        _ => Err(failed("control", "the host hung up")),
    }
}

pub fn keep(
    program: i32,
    init: Option<Init>,
    mut control: Option<i32>,
    signals: &Signals,
    guard: Option<&Guard>,
) -> Step<Infallible> {
    // The program has them now.
    for stream in 0..3 {
        process::close(stream);
    }
    let status = loop {
        if let Some(status) = process::ended(program, false) {
            break status;
        }
        let [signalled, ordered] = process::wait([signals.descriptor, control.unwrap_or(-1)]);
        if signalled != 0 && signals.bring(libc::SIGUSR1) {
            process::kill(program, libc::SIGUSR1);
        }
        if let (true, Some(socket)) = (ordered != 0, control) {
            match order(socket, init.is_some(), guard) {
                Some(Ok(())) => process::write(socket, b"shown\n"),
                Some(Err(failure)) => process::write(socket, format!("!{failure}\n").as_bytes()),
                None => {
                    process::kill(program, libc::SIGKILL);
                    control = None;
                }
            }
        }
    };
    if let Some(init) = init {
        process::kill(init.pid, libc::SIGKILL);
        // It ends after everything else in there.
        process::ended(init.pid, true);
    }
    process::end_as(status)
}

/// One order: places and open addresses as in a plan, each word with a NUL after it, and an empty word.
/// Without a wall, or a guard, there is nothing to be done. `None` when the host is gone.
fn order(control: i32, walled: bool, guard: Option<&Guard>) -> Option<Step<()>> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\0\0") {
        let more = process::read(control);
        if more.is_empty() {
            return None;
        }
        bytes.extend(more);
    }
    let text = String::from_utf8_lossy(&bytes);
    let mut words = text.trim_end_matches('\0').split('\0').map(str::to_owned);
    let mut show = || -> Step<()> {
        while let Some(word) = words.next().filter(|_| walled) {
            match (Place::parse(&word, &mut words)?, word.as_str()) {
                (Some(place), _) => root::show(&place)?,
                (None, "open") => {
                    let address = words.next().ok_or(failed("order", "cut off"))?;
                    guard.map_or(Ok(()), |guard| guard.open(&address))?;
                }
                (None, _) => return Err(failed("order", &word)),
            }
        }
        Ok(())
    };
    Some(show())
}
