//! Compiles the BPF program that watches senders: see `truckee-bpf`.

fn main() {
    #[cfg(all(feature = "live", target_os = "linux"))]
    truckee_bpf::compile();
}
