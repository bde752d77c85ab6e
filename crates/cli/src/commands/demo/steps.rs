//! What the tour runs: one call of each kind, a mistake, an attack, and a later run.

use callgate_contract::Stop;

pub struct DemoStep {
    pub title: &'static str,
    /// Lines of at most 80 characters.
    pub about: &'static str,
    pub code: String,
    /// How it ends on every machine.
    pub stop: Stop,
}

/// `bait` is a file of the host that the attack tries to read.
pub fn all(bait: &str) -> Vec<DemoStep> {
    vec![
        DemoStep {
            title: "A tool gives its value to the code",
            about: "Values keep their type: what comes back is a real datetime.",
            code: TOOL.to_owned(),
            stop: Stop::Finished,
        },
        DemoStep {
            title: "A behavior leaves a line for everybody, and the code goes on",
            about: "The note is on disk together with the record of the call, or not at all.",
            code: BEHAVIOR.to_owned(),
            stop: Stop::Finished,
        },
        DemoStep {
            title: "An agent call ends the code: the AI reads the result and goes on",
            about: "The last line is never reached. /app/shared is the chat's own folder.",
            code: AGENT.to_owned(),
            stop: Stop::Agent,
        },
        DemoStep {
            title: "A multimodal agent call shows the AI a picture",
            about: "The same for images: here one that the code has drawn itself.",
            code: IMAGE.to_owned(),
            stop: Stop::Multimodal,
        },
        DemoStep {
            title: "A wrong call is refused, and the error teaches",
            about: "Arguments are checked at the gate. Nothing was sent.",
            code: MISTAKE.to_owned(),
            stop: Stop::Error,
        },
        DemoStep {
            title: "An attack meets walls of the kernel, not of Python",
            about: "The file exists, outside. Inside there is no such place, no network and no\n\
                    other process.",
            code: ATTACK.replace("BAIT", bait),
            stop: Stop::Finished,
        },
        DemoStep {
            title: "Another run, later: what was remembered is still there",
            about: "Each run is a new process that is thrown away; the notes are kept.",
            code: LATER.to_owned(),
            stop: Stop::Finished,
        },
    ]
}

const TOOL: &str = r#"moment = now("Asia/Tokyo")
print("In Tokyo it is", moment.strftime("%A, %H:%M"))"#;

const BEHAVIOR: &str = r#"remember("tea", "Ada drinks green tea, no sugar.")
print("and on it goes")"#;

const AGENT: &str = r#"with open("/app/shared/report.txt", "w") as file:
    file.write("Sales rose by 4 % in May.\nReturns fell by 1 %.\n")
read_file("/app/shared/report.txt")
print("never reached")"#;

const IMAGE: &str = r#"import struct, zlib
def chunk(name, data):
    check = struct.pack(">I", zlib.crc32(name + data))
    return struct.pack(">I", len(data)) + name + data + check
rows = b"".join(b"\0" + bytes([40, 90, 200] * 8) for _ in range(8))
with open("/app/shared/blue.png", "wb") as file:
    file.write(b"\x89PNG\r\n\x1a\n")
    file.write(chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)))
    file.write(chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
view_image("/app/shared/blue.png")"#;

const MISTAKE: &str = r#"send_message(test="Hello!")"#;

const ATTACK: &str = r#"import os, socket, subprocess
def attempt(what, action):
    try:
        print(what, "GOT", action())
    except OSError as error:
        print(what, "refused:", error.strerror.split(";")[0])
secret = "BAIT"
attempt("read a file:  ", lambda: open(secret).read())
attempt("use network:  ", lambda: socket.socket())
attempt("run a program:", lambda: subprocess.run(["id"]))
attempt("look around:  ", lambda: os.listdir("/proc"))"#;

const LATER: &str = r#"for note in recall("tea"):
    print("I know:", note["text"])
send_message("Your tea is ready, Ada: green, no sugar.")"#;
