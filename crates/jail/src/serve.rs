//! The zygote's loop: clone on request, report what ended. Single-threaded by construction, so a
//! child never inherits a lock held by somebody else.

use crate::{
    call::CALL_SOCKET,
    plan::Plan,
    setup,
    sys::{self, Step, check, failed},
    wire::{EXITED, Event, REFUSED, STARTED, Spawn, as_bytes, from_bytes},
};

unsafe extern "C" {
    fn PyOS_BeforeFork();
    fn PyOS_AfterFork_Parent();
    fn PyOS_AfterFork_Child();
}

struct Child {
    id: u64,
    pid: i32,
    pidfd: i32,
}

pub fn serve(control: i32, plan: Option<&Plan>) -> Step<i32> {
    let plan = plan.ok_or(failed("serve", "called before setup"))?;
    setup::seal()?;
    sys::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, "no_new_privs")?;
    for filter in &plan.base_filters {
        sys::install_filter(filter)?;
    }
    sys::send(control, b"ready", None)?;
    let mut children: Vec<Child> = Vec::new();
    loop {
        let request = wait(control, &mut children)?;
        if !request {
            continue;
        }
        let mut buffer = [0; size_of::<Spawn>()];
        let Some((length, descriptors)) = sys::receive(control, &mut buffer)? else {
            return Ok(0);
        };
        let spawn: Spawn = buffer
            .get(..length)
            .and_then(from_bytes)
            .ok_or(failed("serve", "malformed request"))?;
        match clone_child(control, spawn, descriptors)? {
            Some(child) => children.push(child),
            None => return Ok(1),
        }
    }
}

/// Sleeps until a request is there (true) or children ended, which are reported.
fn wait(control: i32, children: &mut Vec<Child>) -> Step<bool> {
    let poll_for = |descriptor| libc::pollfd {
        fd: descriptor,
        events: libc::POLLIN,
        revents: 0,
    };
    let mut polled = vec![poll_for(control)];
    polled.extend(children.iter().map(|child| poll_for(child.pidfd)));
    // SAFETY: a live array and its length.
    let ready = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as _, -1) };
    if ready < 0 {
        return Ok(false);
    }
    let mut ended = polled.iter().skip(1).map(|polled| polled.revents != 0);
    children.retain(|child| {
        let ended = ended.next().unwrap_or(false);
        if ended {
            report_end(control, child);
        }
        !ended
    });
    Ok(polled.first().is_some_and(|control| control.revents != 0))
}

fn report_end(control: i32, child: &Child) {
    let mut status = 0;
    // SAFETY: an all-zero rusage is valid, and is written by the call.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: our own child, which has ended; its pidfd is ours and not used again.
    unsafe {
        libc::wait4(child.pid, &mut status, libc::__WALL, &mut usage);
        libc::close(child.pidfd);
    }
    let micros = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
    let event = Event {
        id: child.id,
        kind: EXITED,
        status,
        cpu_micros: micros(usage.ru_utime) + micros(usage.ru_stime),
        memory_peak: usage.ru_maxrss as u64 * 1024,
    };
    // A host that cannot be told is a host that is gone; the next read ends the loop.
    let _ = sys::send(control, as_bytes(&event), None);
}

/// `None` in the child.
fn clone_child(control: i32, spawn: Spawn, [calls, output]: [i32; 2]) -> Step<Option<Child>> {
    let flags = libc::CLONE_PIDFD
        | libc::SIGCHLD
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS;
    let mut pidfd: i32 = -1;
    // SAFETY: a fork by another name, wrapped as CPython wants its forks wrapped: the GIL is held
    // and this is the only thread, so the child's copy of the interpreter is whole.
    let pid = unsafe {
        PyOS_BeforeFork();
        let pid = libc::syscall(
            libc::SYS_clone,
            flags as usize,
            0usize,
            &mut pidfd as *mut i32,
            0usize,
            0usize,
        );
        if pid == 0 {
            PyOS_AfterFork_Child();
        } else {
            PyOS_AfterFork_Parent();
        }
        pid as i32
    };
    if pid == 0 {
        sys::or_exit(take_descriptors(calls, output));
        return Ok(None);
    }
    let error = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    // SAFETY: the child has its own copies; ours are not used again.
    unsafe {
        libc::close(calls);
        libc::close(output);
    }
    let mut event = Event {
        id: spawn.id,
        kind: STARTED,
        status: 0,
        cpu_micros: 0,
        memory_peak: 0,
    };
    if pid < 0 {
        (event.kind, event.status) = (REFUSED, error);
        sys::send(control, as_bytes(&event), None)?;
        return Err(failed(
            "clone",
            &std::io::Error::from_raw_os_error(error).to_string(),
        ));
    }
    sys::send(control, as_bytes(&event), Some(pidfd))?;
    Ok(Some(Child {
        id: spawn.id,
        pid,
        pidfd,
    }))
}

/// The child keeps stdin (empty), its output twice, and its call socket; the rest is closed.
fn take_descriptors(calls: i32, output: i32) -> Step<()> {
    // SAFETY: integers only; the descriptors above are not used again.
    unsafe {
        check(libc::dup2(output, 1).into(), "stdout")?;
        check(libc::dup2(output, 2).into(), "stderr")?;
        check(libc::dup2(calls, CALL_SOCKET).into(), "calls")?;
        let above = CALL_SOCKET as u32 + 1;
        check(libc::close_range(above, u32::MAX, 0).into(), "close_range").map(drop)
    }
}
