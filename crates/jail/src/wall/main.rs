//! `callgate-wall WORD... -- PROGRAM ARGUMENT...`: runs a program behind the wall that the words describe
//! (see [`plan`]), and stays outside of it until the program has ended, as which it then ends itself. It
//! takes orders from the host only, and never reads what the program says.
//!
//! Four processes: this one, which sees the machine and shows parts of it to the others; the first
//! process of the program's own pid namespace, whose end is the end of all in there; the program; and,
//! outside of everything, the guard of its network.

mod guard;
mod handshake;
mod keep;
mod network;
mod plan;
mod process;
mod root;
mod seal;
mod users;

#[path = "../landlock.rs"]
#[allow(dead_code, reason = "the sandbox's jail uses the rest")]
mod landlock;
#[path = "../sys.rs"]
#[allow(dead_code, reason = "the sandbox's jail uses the rest")]
mod sys;

use std::convert::Infallible;

use guard::Guard;
use handshake::Handshake;
use network::OpenAddresses;
use plan::Plan;
use process::Signals;
use sys::Step;

/// The host knows this exit code: there is no wall, and what was reported says why.
const NO_WALL: i32 = 78;

fn main() {
    process::close_from(3);
    process::take_name();
    let plan = match Plan::parse(std::env::args_os().skip(1)) {
        Ok(plan) => plan,
        Err(failure) => give_up(None, &failure),
    };
    let control = match plan.control.then(keep::take_control).transpose() {
        Ok(control) => control,
        Err(failure) => give_up(None, &failure),
    };
    match run(&plan, control) {
        Ok(never) => match never {},
        Err(failure) => give_up(control, &failure),
    }
}

fn run(plan: &Plan, control: Option<i32>) -> Step<Infallible> {
    let signals = Signals::blocked()?;
    let mut open = OpenAddresses::default();
    for address in &plan.open {
        open.add(address)?;
    }
    let guarded = plan.walled && plan.guarded.is_some();
    let guard = guarded.then(|| Guard::start(open)).transpose()?;
    let handshake = Handshake::new()?;
    let init = if plan.walled {
        users::unshare(plan.offline)?;
        root::build(&plan.places)?;
        Some(process::init(|| root::enter(&plan.places))?)
    } else {
        None
    };
    let program = process::fork()?;
    if program == 0 {
        let Err(failure) = seal::become_program(plan, init.as_ref(), &signals, &handshake);
        give_up(control, &failure);
    }
    handshake.take(|descriptor| match &guard {
        Some(guard) => guard.watch(program, descriptor),
        None => Ok(()),
    })?;
    keep::keep(program, init, control, &signals, guard.as_ref())
}

fn give_up(control: Option<i32>, failure: &sys::StepError) -> ! {
    match control {
        Some(control) => process::write(control, format!("!{failure}\n").as_bytes()),
        None => process::write(2, format!("error: no wall here: {failure}\n").as_bytes()),
    }
    sys::exit(NO_WALL)
}
