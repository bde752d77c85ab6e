//! Attack: make system calls by the 32-bit entry, whose numbers mean something else.
#![cfg(target_arch = "x86_64")]

use callgate_contract::Stop;

use crate::harness::attack;

#[test]
fn the_32_bit_entry_kills() {
    let code = r#"
import mmap
# mov eax, 20 (getpid); int 0x80; ret
machine_code = bytes.fromhex("b814000000cd80c3")
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory.write(machine_code)
function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
print("calling", flush=True)
print("ALLOWED", function(), flush=True)
"#;
    attack(code)
        .run()
        .stops(Stop::Killed)
        .prints("calling\n")
        .error_has("forbidden system call");
}
