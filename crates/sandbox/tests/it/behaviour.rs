//! What a run promises code that means well, and the operator of it.

mod async_code;
mod calls;
mod cancel;
mod endings;
mod folders;
mod leftovers;
mod limits;
mod output;
mod python;
mod replay;
mod values;
