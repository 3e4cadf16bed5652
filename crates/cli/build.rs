//! Takes in the simulator as a browser runs it, where there is one: `TRUCKEE_WEB` names the file, which `make web` leaves.
//! Without it, `truckee lab` asks for the file.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-env-changed=TRUCKEE_WEB");
    let to = PathBuf::from(env::var("OUT_DIR").map_err(io::Error::other)?).join("engine.wasm");
    match env::var_os("TRUCKEE_WEB").filter(|file| !file.is_empty()) {
        Some(file) => {
            println!("cargo::rerun-if-changed={}", PathBuf::from(&file).display());
            fs::copy(file, to).map(|_| ())
        }
        None => fs::write(to, []),
    }
}
