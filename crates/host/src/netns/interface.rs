//! What is in a namespace: its interface, addresses, and routes with the metrics that TCP goes by.
//!
//! Everything through one netlink socket opened inside (rtnetlink). Not for: making the device.

use super::Netns;
use crate::Error;
use netlink_packet_route::AddressFamily;
use netlink_packet_route::address::{AddressAttribute, AddressFlags, AddressHeaderFlags};
use netlink_packet_route::link::LinkAttribute;
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteMessage, RouteMetric, RouteScope};
use nix::net::if_::if_nametoindex;
use rtnetlink::{Handle, LinkMessageBuilder, LinkUnspec, RouteMessageBuilder};
use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::Path;
use truckee_tcp::Span;

/// `RTAX_RTO_MIN`: the kernel goes by that metric only if its bit is set in `RTAX_LOCK`.
const RTO_MIN: u32 = 13;
/// `RTAX_SSTHRESH`.
const SSTHRESH: u32 = 6;

/// An address with its prefix length, in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// The address.
    pub ip: IpAddr,
    /// Bits of the network.
    pub prefix: u8,
}

/// An interface as it is to be. `Default` leaves the device as it is, and gives it nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Interface<'a> {
    /// Its name inside the namespace.
    pub name: &'a str,
    /// Its addresses, usable at once (no duplicate address detection). Without an IPv6 one it does not speak IPv6.
    pub addresses: &'a [Address],
    /// Largest packet, bytes; 0: as it is.
    pub mtu: u32,
    /// Packets that wait for the device; 0: as it is.
    pub txqueuelen: u32,
    /// Most segments that TCP hands over as one packet (GSO); 1: each on its own. `None`: as it is.
    pub gso_max_segs: Option<u32>,
    /// Routes out of it.
    pub routes: &'a [Route],
}

/// A route out of an interface, without a gateway.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// Where it goes.
    pub destination: IpAddr,
    /// Bits of the network.
    pub prefix: u8,
    /// What TCP is told of it.
    pub metrics: Metrics,
}

/// What a route tells TCP. What is `None` or false is left to the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Initial congestion window, segments (`initcwnd`).
    pub initcwnd: Option<u32>,
    /// Initial receive window, at most, segments (`initrwnd`).
    pub initrwnd: Option<u32>,
    /// Lower bound of the retransmission timeout's variance term (`rto_min`). Whole milliseconds, rounded up.
    pub rto_min: Option<Span>,
    /// Slow-start threshold, segments (`ssthresh`), for destinations in the kernel's cache of metrics (see
    /// [`crate::stack`]).
    pub ssthresh: Option<u32>,
    /// Largest window to advertise, bytes (`window`).
    pub window: Option<u32>,
    /// Largest segment to advertise, bytes (`advmss`).
    pub advmss: Option<u32>,
    /// Whether every segment is acknowledged at once (`quickack`).
    pub quickack: bool,
}

/// Sets up an interface that is there, and the loopback. Needs `CAP_NET_ADMIN`. A second call adds to the first.
pub fn configure(ns: &Netns, interface: &Interface<'_>) -> Result<(), Error> {
    let place = format!("in the network namespace {}", ns.name());
    ns.enter(|| set_up(interface, &place))?
}

/// The same of the namespace that this thread is in.
pub fn configure_here(interface: &Interface<'_>) -> Result<(), Error> {
    set_up(interface, "in this thread's network namespace")
}

fn set_up(interface: &Interface<'_>, place: &str) -> Result<(), Error> {
    let doing = |e| Error::system(format!("set up {} {place}", interface.name), e);
    hush(interface).map_err(doing)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(doing)?;
    let index = |name: &str| if_nametoindex(name).map_err(|e| doing(e.into()));
    let (loopback, index) = (index("lo")?, index(interface.name)?);
    runtime.block_on(async {
        let (connection, handle, _) = rtnetlink::new_connection().map_err(doing)?;
        tokio::spawn(connection);
        set(&handle, interface, loopback, index).await.map_err(|(what, error)| {
            let source = match error {
                rtnetlink::Error::NetlinkError(message) => message.to_io(),
                other => io::Error::other(other),
            };
            Error::system(format!("set {what} of {} {place}", interface.name), source)
        })
    })
}

/// Keeps the kernel from sending what no flow of the scenario sent: router solicitations, group membership reports.
fn hush(interface: &Interface<'_>) -> io::Result<()> {
    let folder = Path::new("/proc/sys/net/ipv6/conf").join(interface.name);
    if !folder.exists() {
        return Ok(()); // no IPv6 in this kernel
    }
    let write = |key: &str, value: &str| fs::write(folder.join(key), value);
    if !interface.addresses.iter().any(|a| a.ip.is_ipv6()) {
        return write("disable_ipv6", "1");
    }
    // No link-local address, which would be looked for, solicited with and reported on.
    write("addr_gen_mode", "1")?;
    write("router_solicitations", "0")?;
    write("accept_ra", "0")?;
    write("accept_dad", "0")
}

/// What could not be set, and why.
async fn set(
    handle: &Handle,
    interface: &Interface<'_>,
    loopback: u32,
    index: u32,
) -> Result<(), (String, rtnetlink::Error)> {
    let up = LinkUnspec::new_with_index(loopback).up().build();
    handle.link().set(up).execute().await.map_err(|e| ("the loopback".to_owned(), e))?;
    let message = settings(LinkUnspec::new_with_index(index), interface).up().build();
    handle.link().set(message).execute().await.map_err(|e| ("MTU, queue and state".to_owned(), e))?;
    for address in interface.addresses {
        let mut request = handle.address().add(index, address.ip, address.prefix);
        if address.ip.is_ipv6() {
            let message = request.message_mut();
            message.header.flags |= AddressHeaderFlags::Nodad;
            message.attributes.push(AddressAttribute::Flags(AddressFlags::Nodad));
        }
        let what = || format!("the address {}/{}", address.ip, address.prefix);
        request.execute().await.map_err(|e| (what(), e))?;
    }
    for route in interface.routes {
        let what = || format!("the route to {}/{}", route.destination, route.prefix);
        handle.route().add(route_message(route, index)).replace().execute().await.map_err(|e| (what(), e))?;
    }
    Ok(())
}

fn settings(
    builder: LinkMessageBuilder<LinkUnspec>,
    interface: &Interface<'_>,
) -> LinkMessageBuilder<LinkUnspec> {
    let builder = if interface.mtu > 0 { builder.mtu(interface.mtu) } else { builder };
    let builder = if interface.txqueuelen > 0 { builder.txqueuelen(interface.txqueuelen) } else { builder };
    match interface.gso_max_segs {
        Some(segments) => builder.append_extra_attribute(LinkAttribute::GsoMaxSegs(segments)),
        None => builder,
    }
}

fn route_message(route: &Route, interface: u32) -> RouteMessage {
    let Metrics { initcwnd, initrwnd, rto_min, ssthresh, window, advmss, quickack } = route.metrics;
    // A kernel's jiffy is a millisecond at best.
    let rto_min = rto_min.map(|t| u32::try_from(t.nanos().div_ceil(1_000_000)).unwrap_or(u32::MAX));
    let locked = rto_min.map_or(0, |_| 1 << RTO_MIN) | ssthresh.map_or(0, |_| 1 << SSTHRESH);
    let metrics = [
        (locked != 0).then_some(RouteMetric::Lock(locked)),
        initcwnd.map(RouteMetric::InitCwnd),
        initrwnd.map(RouteMetric::InitRwnd),
        rto_min.map(RouteMetric::RtoMin),
        ssthresh.map(RouteMetric::SsThresh),
        window.map(RouteMetric::Window),
        advmss.map(RouteMetric::Advmss),
        quickack.then_some(RouteMetric::QuickAck(1)),
    ];
    let metrics: Vec<RouteMetric> = metrics.into_iter().flatten().collect();
    let mut message = RouteMessageBuilder::<IpAddr>::new().output_interface(interface).build();
    let (family, destination) = match route.destination {
        IpAddr::V4(ip) => (AddressFamily::Inet, RouteAddress::Inet(ip)),
        IpAddr::V6(ip) => (AddressFamily::Inet6, RouteAddress::Inet6(ip)),
    };
    message.header.address_family = family;
    message.header.destination_prefix_length = route.prefix;
    message.header.scope = RouteScope::Link;
    if route.prefix > 0 {
        message.attributes.push(RouteAttribute::Destination(destination));
    }
    if !metrics.is_empty() {
        message.attributes.push(RouteAttribute::Metrics(metrics));
    }
    message
}
