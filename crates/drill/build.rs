//! Whether there is a live leg to build: see `truckee-bpf`.

fn main() {
    #[cfg(all(feature = "live", target_os = "linux"))]
    truckee_bpf::live();
}
