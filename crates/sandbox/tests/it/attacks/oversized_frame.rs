//! Attack: announce a frame that would take all the memory of the server.

use callgate_contract::Stop;

use crate::harness::attack;

#[test]
fn a_frame_of_four_gigabytes_is_refused_by_its_header() {
    for length in ["0xFFFFFFFF", "(8 << 20) + 1"] {
        let code = format!(
            "send(({length}).to_bytes(4, 'little') + bytes([CALL]))\nos.read(3, 1)\nprint('ALLOWED')"
        );
        let outcome = attack(&code).run();
        outcome
            .stops(Stop::Killed)
            .error_has("the limit is 8388608")
            .prints("");
    }
}

#[test]
fn an_empty_frame_is_refused() {
    let outcome = attack("send(bytes(4))\nos.read(3, 1)").run();
    outcome
        .stops(Stop::Killed)
        .error_has("a frame without a kind");
}

/// A few bytes that decode into far more memory than they take themselves.
#[test]
fn a_small_frame_cannot_unfold_into_a_large_value() {
    let code = r#"
count = 2_000_000
body = b"(" + (6).to_bytes(4, "little") + b"i" + (1).to_bytes(4, "little") + b"u" + (4).to_bytes(4, "little") + b"echo"
body += b"(" + (1).to_bytes(4, "little") + b"[" + count.to_bytes(4, "little") + b"N" * count + b"{0" + b"[" + bytes(4) + b"F"
send(frame(CALL, body))
os.read(3, 1)
"#;
    let outcome = attack(code).run();
    outcome
        .stops(Stop::Killed)
        .error_has("more than 1048576 values")
        .called(&[]);
}

/// The honest way to send too much is an error that says so.
#[test]
fn a_value_beyond_the_frame_limit_is_an_error() {
    let code = r#"
try:
    echo(bytes(9 << 20))
except (TypeError, MethodError) as error:
    print("limit" in str(error))
print(len(echo(bytes(7 << 20))))
"#;
    attack(code)
        .run()
        .stops(Stop::Finished)
        .prints("True\n7340032\n");
}
