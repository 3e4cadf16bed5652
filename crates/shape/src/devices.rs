//! The interfaces of a namespace, as far as ACKs can be shaped on them.

use super::Devices;
use crate::Error;
use nix::net::if_::if_nameindex;
use truckee_host::device::Device;

/// Bytes of an Ethernet header.
const ETHERNET: u32 = 14;

/// `ARPHRD_RAWIP`: plain IP, as modems have it.
const RAW_IP: u16 = 519;

/// An interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub index: u32,
    pub name: String,
    /// Where the IP header begins in its frames.
    pub l2: u32,
}

/// The interfaces that are there, in the namespace of the calling thread.
///
/// # Errors
/// One that was named is not there, or has frames that are not looked into.
pub(super) fn find(wanted: &Devices) -> Result<Vec<Found>, Error> {
    let doing = |e: nix::Error| Error::system("list the interfaces", e);
    let there = if_nameindex().map_err(doing)?;
    let there = there.iter().map(|i| (i.index(), i.name().to_string_lossy().into_owned()));
    let look = |(index, name): (u32, String)| match Device::named(&name)?.kind() {
        Ok(kind) => Ok(Some((index, header(kind), name))),
        // It has gone since it was listed.
        Err(Error::Refused { .. }) => Ok(None),
        Err(error) => Err(error),
    };
    let there: Vec<(u32, Option<u32>, String)> =
        there.filter_map(|one| look(one).transpose()).collect::<Result<_, Error>>()?;
    match wanted {
        Devices::All => Ok(there
            .into_iter()
            .filter_map(|(index, l2, name)| Some(Found { index, name, l2: l2? }))
            .collect()),
        Devices::Named(names) => names
            .iter()
            .map(|wanted| match there.iter().find(|(_, _, name)| name == wanted) {
                Some((index, Some(l2), name)) => Ok(Found { index: *index, name: name.clone(), l2: *l2 }),
                Some(_) => Err(refused(wanted, "its frames are neither Ethernet nor plain IP")),
                None => Err(absent(wanted)),
            })
            .collect(),
    }
}

fn refused(name: &str, why: &str) -> Error {
    Error::Refused { place: format!("interface \"{name}\""), why: why.into() }
}

/// An interface that was named is not there.
pub(super) fn absent(name: &str) -> Error {
    refused(name, "there is none of this name in that namespace (ip link shows those there are)")
}

/// Bytes in front of the IP header; none: unknown.
fn header(kind: u16) -> Option<u32> {
    match kind {
        libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK => Some(ETHERNET),
        libc::ARPHRD_NONE | RAW_IP | libc::ARPHRD_PPP | libc::ARPHRD_TUNNEL | libc::ARPHRD_TUNNEL6 => Some(0),
        _ => None,
    }
}
