//! Takes in what is built or published elsewhere: the page, where `web` was built, and the Socket.IO
//! client that other pages load, where its npm package is installed. Without them the crate builds
//! all the same. The documents become pages here as well.

#[path = "build/docs.rs"]
mod docs;

use std::{env, fs, io, path::Path};

const PLACES: [&str; 2] = ["../../e2e", "../../web"];
const BUNDLES: [&str; 3] = ["socket.io.js", "socket.io.min.js", "socket.io.esm.min.js"];

fn main() -> io::Result<()> {
    page()?;
    docs::write()?;
    library()
}

/// Every file of the built page, by its path.
fn page() -> io::Result<()> {
    let root = Path::new("../../web/dist");
    println!("cargo:rerun-if-changed={}", root.display());
    // Watched where it does not exist yet: the folder it will be made in.
    if !root.is_dir() {
        println!("cargo:rerun-if-changed=../../web/index.html");
    }
    let mut list = String::from("const FILES: &[(&str, &[u8])] = &[\n");
    for (folder, prefix) in [(root.to_owned(), ""), (root.join("assets"), "assets/")] {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                let name = format!("{prefix}{}", entry.file_name().display());
                let file = fs::canonicalize(entry.path())?;
                list.push_str(&format!("    ({name:?}, include_bytes!({file:?})),\n"));
            }
        }
    }
    list.push_str("];\n");
    write("page.rs", &list)
}

fn write(name: &str, text: &str) -> io::Result<()> {
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("no OUT_DIR"))?;
    fs::write(Path::new(&out).join(name), text)
}

fn library() -> io::Result<()> {
    let mut list = String::from("const BUNDLES: &[(&str, &str)] = &[\n");
    let package = |place: &&&str| Path::new(place).join("node_modules/socket.io-client/dist");
    let found = PLACES.iter().find(|place| package(place).is_dir());
    match found {
        Some(place) => {
            for bundle in BUNDLES {
                let file = fs::canonicalize(package(&place).join(bundle))?;
                println!("cargo:rerun-if-changed={}", file.display());
                list.push_str(&format!("    ({bundle:?}, include_str!({file:?})),\n"));
            }
        }
        // Until it is installed; without it these folders are small.
        None => {
            for place in PLACES {
                println!("cargo:rerun-if-changed={place}");
            }
        }
    }
    list.push_str("];\n");
    write("bundles.rs", &list)
}
