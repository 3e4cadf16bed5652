//! Compiles the BPF congestion control: see `truckee-bpf`.

fn main() {
    #[cfg(all(feature = "live", target_os = "linux"))]
    truckee_bpf::compile();
}
