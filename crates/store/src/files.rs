//! Files: the only place that turns names into files. Everything is opened beneath a directory
//! descriptor by the kernel's own rules (no links, no way up), after its name was checked, and
//! only regular files are read. Calls block: they are for local disks and bounded sizes.

mod bounds;
mod documents;
mod error;
mod folder;
mod foreign;
mod layout;
mod name;
mod sweep;
mod tree;
mod usage;
mod write;

pub use bounds::FileBounds;
pub use error::FileError;
pub use folder::{Entry, EntryKind, Folder};
pub use foreign::{Digest, TreeBounds};
pub(crate) use layout::open_data;
pub use layout::{Files, SessionFolders, jail_uid};
pub use name::{MAX_DEPTH, MAX_NAME, MAX_PATH};
pub use tree::LeftOut;
pub(crate) use tree::{TreeContent, TreeEntry, hash_file};
pub use usage::Usage;
