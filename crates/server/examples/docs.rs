//! Writes the documents, as the binary serves them, into a folder that any web server can serve: `make docs`.

use std::{env, fs, io, path::PathBuf};

#[allow(clippy::disallowed_methods, reason = "it writes where its caller says")]
fn main() -> io::Result<()> {
    let folder = env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or_else(|| io::Error::other("say into which folder"))?;
    fs::create_dir_all(&folder)?;
    for (name, text) in callgate_server::documents() {
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}
