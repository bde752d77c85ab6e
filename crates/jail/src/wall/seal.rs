//! The last steps of a process before it becomes the program: it enters its place, sets its limits and
//! gives up what nobody behind the wall needs. Nothing of it can be undone.

use std::{convert::Infallible, io, ptr};

use crate::{
    handshake::Handshake,
    landlock::Ruleset,
    plan::Plan,
    process::{Init, Signals},
    sys::{self, Step, StepError, check, failed, limit, prctl},
};

/// Root's powers over files of other owners: chown, dac_override, fowner, fsetid.
const KEPT_POWERS: u32 = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 4;

/// Rights over files, but for making device nodes: root could make that of a disk and read all of it.
const ALL_BUT_DEVICES: u64 = !(1 << 6 | 1 << 11);

pub fn become_program(
    plan: &Plan,
    init: Option<&Init>,
    signals: &Signals,
    handshake: &Handshake,
) -> Step<Infallible> {
    if let Some(init) = init {
        init.join()?;
        // A signal to one's group crosses pid namespaces.
        // SAFETY: no arguments.
        check(unsafe { libc::setsid() }.into(), "setsid")?;
    }
    std::env::set_current_dir(&plan.folder).map_err(|source| StepError {
        step: plan.folder.clone(),
        source,
    })?;
    if plan.memory > 0 {
        limit(libc::RLIMIT_AS, plan.memory, "memory limit")?;
    }
    // No core files: they would hold what users said. One byte is not enough for one, and, other than
    // none, keeps the kernel from starting a program of the machine's to take it.
    limit(libc::RLIMIT_CORE, 1, "core limit")?;
    if plan.walled {
        give_up(plan)?;
    }
    if let Some(filter) = plan.guarded.as_ref().filter(|_| plan.walled) {
        let listener = install_guarded_filter(filter).map_err(|failure| {
            failed(
                "this kernel cannot have a network guarded",
                &failure.to_string(),
            )
        })?;
        handshake.give(listener)?;
    }
    prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as u64, "pdeathsig")?;
    signals.restore();
    let mut arguments: Vec<_> = plan.program.iter().map(|word| word.as_ptr()).collect();
    arguments.push(ptr::null());
    let program = plan.program.first().ok_or(failed("plan", "no program"))?;
    // SAFETY: live NUL-terminated strings in a list that ends with a null pointer.
    unsafe { libc::execvp(program.as_ptr(), arguments.as_ptr()) };
    Err(StepError {
        step: program.to_string_lossy().into_owned(),
        source: io::Error::last_os_error(),
    })
}

/// One that has calls wait for an answer, which is given by the descriptor. Once somebody looks at a call
/// only an end interrupts it, where the kernel knows how (5.19): it would be begun again and done twice.
fn install_guarded_filter(program: &[u8]) -> Step<i32> {
    const NEW_LISTENER: u64 = 1 << 3;
    const WAIT_KILLABLE: u64 = 1 << 5;
    sys::install_filter_with(program, NEW_LISTENER | WAIT_KILLABLE)
        .or_else(|_| sys::install_filter_with(program, NEW_LISTENER))
        .map(|descriptor| descriptor as i32)
}

fn give_up(plan: &Plan) -> Step<()> {
    for capability in (0..64).filter(|it| *it >= 32 || KEPT_POWERS & (1 << it) == 0) {
        // Numbers beyond the kernel's last one are refused, which is fine.
        let _ = prctl(libc::PR_CAPBSET_DROP, capability, "bounding set");
    }
    // SAFETY: no arguments.
    let is_root = unsafe { libc::geteuid() } == 0;
    sys::set_capabilities(if is_root { KEPT_POWERS } else { 0 })?;
    prctl(libc::PR_SET_NO_NEW_PRIVS, 1, "no_new_privs")?;
    // Which folders can be written is said by the mounts.
    let rules = Ruleset::new(!plan.offline)
        .map_err(|failure| failed("this kernel has no Landlock", &failure.to_string()))?;
    rules.allow(c"/", ALL_BUT_DEVICES)?;
    rules.enforce()?;
    for filter in &plan.filters {
        sys::install_filter(filter).map_err(|failure| {
            failed("this kernel has no seccomp filters", &failure.to_string())
        })?;
    }
    Ok(())
}
