//! Interfaces of a run outside its namespaces: `tkID_K`. Those inside go with their namespace.

use crate::Error;
use crate::identity::id_of_control;
use nix::net::if_::{if_nameindex, if_nametoindex};
use std::io;

/// The interfaces of a run, in the caller's namespace.
pub(super) fn of(id: &str) -> Vec<String> {
    let Ok(interfaces) = if_nameindex() else { return Vec::new() };
    let names = interfaces.iter().map(|i| i.name().to_string_lossy().into_owned());
    names.filter(|name| id_of_control(name) == Some(id)).collect()
}

/// Deletes an interface.
pub(super) fn remove(name: &str) -> Result<(), Error> {
    let doing = |e: io::Error| Error::system(format!("delete the interface {name}"), e);
    let index = if_nametoindex(name).map_err(|e| doing(e.into()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(doing)?;
    runtime.block_on(async {
        let (connection, handle, _) = rtnetlink::new_connection().map_err(doing)?;
        tokio::spawn(connection);
        handle.link().del(index).execute().await.map_err(|e| match e {
            rtnetlink::Error::NetlinkError(message) => doing(message.to_io()),
            other => doing(io::Error::other(other)),
        })
    })
}
