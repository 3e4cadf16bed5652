//! What the kernel says of a connection (`struct tcp_info` of linux/tcp.h).

use crate::target::Info;
use socket2::Socket;
use std::io;
use std::os::fd::AsRawFd;

/// Names, places and widths of the fields, bytes.
const FIELDS: [(&str, usize, usize); 48] = [
    ("tcpi_state", 0, 1),
    ("tcpi_ca_state", 1, 1),
    ("tcpi_retransmits", 2, 1),
    ("tcpi_probes", 3, 1),
    ("tcpi_backoff", 4, 1),
    ("tcpi_options", 5, 1),
    ("tcpi_rto", 8, 4),
    ("tcpi_ato", 12, 4),
    ("tcpi_snd_mss", 16, 4),
    ("tcpi_rcv_mss", 20, 4),
    ("tcpi_unacked", 24, 4),
    ("tcpi_sacked", 28, 4),
    ("tcpi_lost", 32, 4),
    ("tcpi_retrans", 36, 4),
    ("tcpi_fackets", 40, 4),
    ("tcpi_last_data_sent", 44, 4),
    ("tcpi_last_ack_sent", 48, 4),
    ("tcpi_last_data_recv", 52, 4),
    ("tcpi_last_ack_recv", 56, 4),
    ("tcpi_pmtu", 60, 4),
    ("tcpi_rcv_ssthresh", 64, 4),
    ("tcpi_rtt", 68, 4),
    ("tcpi_rttvar", 72, 4),
    ("tcpi_snd_ssthresh", 76, 4),
    ("tcpi_snd_cwnd", 80, 4),
    ("tcpi_advmss", 84, 4),
    ("tcpi_reordering", 88, 4),
    ("tcpi_rcv_rtt", 92, 4),
    ("tcpi_rcv_space", 96, 4),
    ("tcpi_total_retrans", 100, 4),
    ("tcpi_pacing_rate", 104, 8),
    ("tcpi_max_pacing_rate", 112, 8),
    ("tcpi_bytes_acked", 120, 8),
    ("tcpi_bytes_received", 128, 8),
    ("tcpi_segs_out", 136, 4),
    ("tcpi_segs_in", 140, 4),
    ("tcpi_notsent_bytes", 144, 4),
    ("tcpi_min_rtt", 148, 4),
    ("tcpi_data_segs_in", 152, 4),
    ("tcpi_data_segs_out", 156, 4),
    ("tcpi_delivery_rate", 160, 8),
    ("tcpi_delivered", 192, 4),
    ("tcpi_delivered_ce", 196, 4),
    ("tcpi_bytes_retrans", 208, 8),
    ("tcpi_dsack_dups", 216, 4),
    ("tcpi_snd_wnd", 228, 4),
    ("tcpi_rcv_wnd", 232, 4),
    ("tcpi_received_ce", 248, 4),
];

/// Asks it. Fields that this kernel does not have are left out.
pub fn of(socket: &Socket) -> io::Result<Info> {
    let mut bytes = [0u8; 512];
    let mut size = size_of_val(&bytes) as libc::socklen_t;
    // SAFETY: the kernel fills in at most `size` bytes of `bytes`, and says in `size` how many.
    let got = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut bytes).cast(),
            &raw mut size,
        )
    };
    nix::errno::Errno::result(got).map_err(io::Error::from)?;
    let told = &bytes[..(size as usize).min(bytes.len())];
    Ok(FIELDS
        .iter()
        .filter_map(|&(name, at, width)| Some((name, number(told.get(at..at + width)?))))
        .collect())
}

fn number(bytes: &[u8]) -> i64 {
    let mut whole = [0; 8];
    let at = if cfg!(target_endian = "little") { 0 } else { 8 - bytes.len() };
    whole[at..at + bytes.len()].copy_from_slice(bytes);
    u64::from_ne_bytes(whole).min(i64::MAX as u64) as i64
}

/// The field of that name.
pub fn known(name: &str) -> Option<&'static str> {
    FIELDS.iter().map(|&(known, ..)| known).find(|known| *known == name)
}
