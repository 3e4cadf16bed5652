//! Whether the kernel has a queueing discipline.

use crate::Error;
use futures_util::StreamExt;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage};
use rtnetlink::packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload};
use std::io;

/// Puts it on an interface of this thread's namespace.
pub(super) fn add(kind: &str, interface: i32) -> Result<String, Error> {
    let doing = |e: io::Error| Error::system(format!("make a queue of kind {kind}"), e);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(doing)?;
    runtime.block_on(async {
        let (connection, mut handle, _) = rtnetlink::new_connection().map_err(doing)?;
        tokio::spawn(connection);
        let mut answers = handle.request(request(kind, interface)).map_err(|e| doing(io::Error::other(e)))?;
        while let Some(answer) = answers.next().await {
            let NetlinkPayload::Error(error) = answer.payload else { continue };
            // One that the kernel knows but that wants parameters is refused with EINVAL, an unknown one with ENOENT.
            let code = error.code.map_or(0, |code| -code.get());
            if code != 0 && code != libc::EINVAL {
                return Err(doing(error.to_io()));
            }
        }
        Ok("the kernel has it".to_owned())
    })
}

fn request(kind: &str, interface: i32) -> NetlinkMessage<RouteNetlinkMessage> {
    let mut message = TcMessage::with_index(interface);
    message.header.parent = TcHandle::ROOT;
    message.attributes.push(TcAttribute::Kind(kind.into()));
    let mut request = NetlinkMessage::from(RouteNetlinkMessage::NewQueueDiscipline(message));
    request.header.flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE;
    request
}
