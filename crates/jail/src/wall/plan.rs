//! [`Plan`]: what the host wants a wall to look like, as words on the command line. Paths are absolute and
//! without links, and an outer one comes before those inside it.

use std::ffi::{CString, OsString};

use crate::sys::{Step, c_string, failed};

/// Something of the machine, at the same path behind the wall.
pub enum Place {
    /// A symbolic link, as it is on the machine.
    Link {
        at: String,
        to: String,
    },
    Read(String),
    Write(String),
    /// An empty folder, whatever lies there; what is to be seen in it follows.
    Cover(String),
}

pub struct Plan {
    pub walled: bool,
    /// Standard input is a socket whose first packet brings the control socket.
    pub control: bool,
    pub offline: bool,
    pub folder: String,
    /// Bytes of address space; 0 sets no limit.
    pub memory: u64,
    pub places: Vec<Place>,
    /// Seccomp programs, as bytes.
    pub filters: Vec<Vec<u8>>,
    /// One more, which has us asked about the network; without it nobody is.
    pub guarded: Option<Vec<u8>>,
    /// Addresses that are open although they are near.
    pub open: Vec<String>,
    pub program: Vec<CString>,
}

impl Place {
    /// `None` if `word` begins something else.
    pub fn parse(word: &str, words: &mut impl Iterator<Item = String>) -> Step<Option<Place>> {
        let mut next = || words.next().ok_or(failed("plan", "cut off"));
        Ok(Some(match word {
            "link" => Place::Link {
                at: next()?,
                to: next()?,
            },
            "read" => Place::Read(next()?),
            "write" => Place::Write(next()?),
            "cover" => Place::Cover(next()?),
            _ => return Ok(None),
        }))
    }
}

impl Plan {
    pub fn parse(words: impl Iterator<Item = OsString>) -> Step<Plan> {
        let words: Result<Vec<String>, _> = words.map(OsString::into_string).collect();
        let mut words = words.map_err(|_| failed("plan", "not text"))?.into_iter();
        let mut plan = Plan {
            walled: true,
            control: false,
            offline: false,
            folder: "/".to_owned(),
            memory: 0,
            places: Vec::new(),
            filters: Vec::new(),
            guarded: None,
            open: Vec::new(),
            program: Vec::new(),
        };
        while let Some(word) = words.next() {
            if let Some(place) = Place::parse(&word, &mut words)? {
                plan.places.push(place);
                continue;
            }
            let mut next = || words.next().ok_or(failed("plan", "cut off"));
            match word.as_str() {
                "unwalled" => plan.walled = false,
                "control" => plan.control = true,
                "offline" => plan.offline = true,
                "folder" => plan.folder = next()?,
                "memory" => plan.memory = next()?.parse().map_err(|_| failed("plan", "memory"))?,
                "filter" => plan.filters.push(bytes(&next()?)?),
                "guarded" => plan.guarded = Some(bytes(&next()?)?),
                "open" => plan.open.push(next()?),
                "--" => break,
                _ => return Err(failed("plan", &word)),
            }
        }
        plan.program = words.map(|word| c_string(&word)).collect::<Step<_>>()?;
        if plan.program.is_empty() {
            return Err(failed("plan", "names no program"));
        }
        Ok(plan)
    }
}

fn bytes(hexadecimal: &str) -> Step<Vec<u8>> {
    let digit = |digit: u8| (digit as char).to_digit(16);
    let pairs = hexadecimal.as_bytes().chunks(2).map(|pair| match pair {
        [high, low] => Some((digit(*high)? << 4 | digit(*low)?) as u8),
        _ => None,
    });
    pairs
        .collect::<Option<_>>()
        .ok_or(failed("plan", "a filter is not hexadecimal"))
}
