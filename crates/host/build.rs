//! Compiles the doctor's BPF programs. Without clang, or on another system than Linux, the crate is built without its live
//! leg (see `lib.rs`).

fn main() {
    #[cfg(all(feature = "live", target_os = "linux"))]
    if !truckee_bpf::compile() {
        println!(
            "cargo::warning=there is no clang that compiles BPF: truckee is built without its live leg (Debian and Ubuntu: apt-get install clang)"
        );
    }
}
