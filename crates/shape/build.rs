//! Compiles the BPF program that shapes ACKs: see `truckee-bpf`.

fn main() {
    #[cfg(all(feature = "live", target_os = "linux"))]
    truckee_bpf::compile();
}
