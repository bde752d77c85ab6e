//! Workers as the product meets them: real processes, real plugins, the real gate.

mod calls;
mod deaths;
mod functions;
mod hearing;
mod hosting;
mod scene;
mod walls;
mod tools;
