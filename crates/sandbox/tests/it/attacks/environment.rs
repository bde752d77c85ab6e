//! Attack: read secrets from the environment of the server.

use crate::harness::{BAIT_VARIABLE, attack};

#[test]
fn the_environment_of_the_host_is_not_inherited() {
    let (name, _) = BAIT_VARIABLE;
    assert!(
        std::env::var_os("PATH").is_some(),
        "this process has an environment"
    );
    let code = format!(
        r#"
print(sorted(os.environ), os.getenv({name:?}))
environment = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
names, place = [], 0
while environment and environment[place]:
    names.append(environment[place].split(b"=")[0].decode())
    place += 1
print(sorted(names))
import socket
print(socket.gethostname(), os.getpid(), os.getppid())
"#
    );
    let names = "['HOME', 'LANG', 'MPLBACKEND', 'MPLCONFIGDIR']";
    attack(&code)
        .run()
        .prints(&format!("{names} None\n{names}\nsandbox 1 0\n"));
}

/// The variables a process was started with stay on its stack, whatever it forgets later.
#[test]
fn nor_does_it_lie_on_the_stack() {
    let (_, secret) = BAIT_VARIABLE;
    let (head, tail) = secret.split_at(11);
    let code = format!(
        r#"
# Above the name of the program, where the kernel put it, lie its arguments and its environment.
start = ctypes.cast(ctypes.c_char_p.in_dll(ctypes.CDLL(None), "program_invocation_name"), ctypes.c_void_p)
page = start.value & ~4095
print(({head:?} + {tail:?}).encode() in ctypes.string_at(page, start.value - page + 64))
"#
    );
    attack(&code).run().prints("False\n");
}
