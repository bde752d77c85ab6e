//! Outside of the wall while the program runs: passes a signal on, shows it more of the machine on the
//! host's orders, and ends with it. When the host is gone, so is the program.

use std::convert::Infallible;

use crate::{
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
) -> Step<Infallible> {
    // The program has them now.
    for stream in 0..3 {
        process::close(stream);
    }
    let status = loop {
        if let Some(status) = process::ended(program, false) {
            break status;
        }
        let [signalled, ordered] = wait([signals.descriptor, control.unwrap_or(-1)]);
        if signalled && signals.bring(libc::SIGUSR1) {
            process::kill(program, libc::SIGUSR1);
        }
        if let (true, Some(socket)) = (ordered, control) {
            match order(socket, init.is_some()) {
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

/// Which of the descriptors has something to read, or has ended.
fn wait(descriptors: [i32; 2]) -> [bool; 2] {
    let mut polled = descriptors.map(|descriptor| libc::pollfd {
        fd: descriptor,
        events: libc::POLLIN,
        revents: 0,
    });
    // SAFETY: a live array and its length.
    unsafe { libc::poll(polled.as_mut_ptr(), 2, -1) };
    polled.map(|polled| polled.revents != 0)
}

/// One order: places as in a plan, each word with a NUL after it, and an empty word. Without a wall there
/// is nothing to be done. `None` when the host is gone.
fn order(control: i32, walled: bool) -> Option<Step<()>> {
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
            let place = Place::parse(&word, &mut words)?;
            root::show(&place.ok_or(failed("order", &word))?)?;
        }
        Ok(())
    };
    Some(show())
}
