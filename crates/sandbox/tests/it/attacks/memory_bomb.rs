//! Attack: take all the memory of the machine.

use callgate_contract::{Limits, Stop};

use crate::harness::attack;

fn small(limits: &mut Limits) {
    limits.memory = 128 << 20;
}

#[test]
fn a_list_that_grows_without_end() {
    let outcome = attack("items = []\nwhile True: items.append('x' * 1_000)")
        .limits(small)
        .run();
    outcome.stops(Stop::Memory).error_has("MemoryError");
    assert!(
        outcome.report.memory_peak < 256 << 20,
        "{:?}",
        outcome.report
    );
}

#[test]
fn one_huge_object() {
    let code = r#"
for size in (2**28, 2**33, 2**40, 2**62):
    for make in (bytes, bytearray, lambda n: "x" * n, lambda n: [0] * n):
        attempt("big", lambda: len(make(size)))
print("still here")
"#;
    let expected = format!("{}still here\n", "big MemoryError\n".repeat(16));
    attack(code).limits(small).run().prints(&expected);
}

#[test]
fn memory_from_the_kernel() {
    let code = r#"
import mmap
attempt("private", lambda: mmap.mmap(-1, 2**28, flags=mmap.MAP_PRIVATE))
attempt("shared", lambda: mmap.mmap(-1, 2**28, flags=mmap.MAP_SHARED))
attempt("many", lambda: [mmap.mmap(-1, 2**20) for _ in range(1_000)] and None)
"#;
    attack(code)
        .limits(small)
        .run()
        .refuses("ENOMEM", "private shared many");
}

#[test]
fn a_bomb_of_compressed_zeros() {
    let code = r#"
import zlib
packer = zlib.compressobj(9)
packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(512)) + packer.flush()
attempt("unpacked", lambda: len(zlib.decompress(packed)))
"#;
    attack(code)
        .limits(small)
        .run()
        .prints("unpacked MemoryError\n");
}
