//! Whether there is a prober to build: unlike the rest of the live leg, it needs no clang.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(all(feature = "live", target_os = "linux"))]
    println!("cargo::rustc-cfg=live");
}
