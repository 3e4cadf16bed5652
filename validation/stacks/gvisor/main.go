// A web server on gVisor's network stack, to be probed: any request is answered by the same file of zeros.
//
// gvisor-server DESCRIPTOR CONTROL BYTES: a TUN device's descriptor; reno or cubic; the file's size. All of the stack's
// settings but the congestion control and SACK are its defaults.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/link/fdbased"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv6"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
)

const (
	mtu  = 1500
	nic  = 1
	port = 80
)

var addresses = []tcpip.ProtocolAddress{
	{
		Protocol:          ipv4.ProtocolNumber,
		AddressWithPrefix: tcpip.AddressWithPrefix{Address: tcpip.AddrFrom4([4]byte{10, 78, 0, 2}), PrefixLen: 24},
	},
	{
		Protocol: ipv6.ProtocolNumber,
		AddressWithPrefix: tcpip.AddressWithPrefix{
			Address:   tcpip.AddrFrom16([16]byte{0xfd, 0x78, 15: 2}),
			PrefixLen: 64,
		},
	},
}

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "gvisor-server:", err)
		os.Exit(1)
	}
}

func serve() error {
	if len(os.Args) != 4 {
		return errors.New("expected DESCRIPTOR CONTROL BYTES")
	}
	descriptor, err := strconv.Atoi(os.Args[1])
	if err != nil {
		return fmt.Errorf("the descriptor: %w", err)
	}
	size, err := strconv.Atoi(os.Args[3])
	if err != nil {
		return fmt.Errorf("the size: %w", err)
	}
	netstack, err := newStack(descriptor, os.Args[2])
	if err != nil {
		return err
	}
	reply, ended := reply(size), make(chan error)
	for _, own := range addresses {
		local := tcpip.FullAddress{NIC: nic, Addr: own.AddressWithPrefix.Address, Port: port}
		listener, err := gonet.ListenTCP(netstack, local, own.Protocol)
		if err != nil {
			return fmt.Errorf("cannot listen on port %d: %w", port, err)
		}
		go func() { ended <- accept(listener, reply) }()
	}
	return <-ended
}

func accept(listener net.Listener, reply []byte) error {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return fmt.Errorf("cannot accept: %w", err)
		}
		go answer(connection, reply)
	}
}

func newStack(descriptor int, control string) (*stack.Stack, error) {
	netstack := stack.New(stack.Options{
		NetworkProtocols:   []stack.NetworkProtocolFactory{ipv4.NewProtocol, ipv6.NewProtocol},
		TransportProtocols: []stack.TransportProtocolFactory{tcp.NewProtocol},
	})
	option := tcpip.CongestionControlOption(control)
	if err := netstack.SetTransportProtocolOption(tcp.ProtocolNumber, &option); err != nil {
		return nil, fmt.Errorf("the congestion control %q: %s", control, err)
	}
	// As runsc, gVisor's own program, has it.
	sack := tcpip.TCPSACKEnabled(true)
	if err := netstack.SetTransportProtocolOption(tcp.ProtocolNumber, &sack); err != nil {
		return nil, fmt.Errorf("SACK: %s", err)
	}
	link, err := fdbased.New(&fdbased.Options{
		FDs:                []int{descriptor},
		MTU:                mtu,
		PacketDispatchMode: fdbased.Readv,
		// A TUN device is no socket, of which gVisor would ask the kind.
		IsPacketSocket: []bool{false},
	})
	if err != nil {
		return nil, fmt.Errorf("the device: %w", err)
	}
	if err := netstack.CreateNIC(nic, link); err != nil {
		return nil, fmt.Errorf("the interface: %s", err)
	}
	for _, own := range addresses {
		if err := netstack.AddProtocolAddress(nic, own, stack.AddressProperties{}); err != nil {
			return nil, fmt.Errorf("the address %s: %s", own.AddressWithPrefix, err)
		}
	}
	netstack.SetRouteTable([]tcpip.Route{
		{Destination: header.IPv4EmptySubnet, NIC: nic},
		{Destination: header.IPv6EmptySubnet, NIC: nic},
	})
	return netstack, nil
}

// reply is the answer to any request.
func reply(size int) []byte {
	head := "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n" +
		fmt.Sprintf("Content-Length: %d\r\nConnection: close\r\n\r\n", size)
	return append([]byte(head), make([]byte, size)...)
}

// answer reads one request and writes the whole answer at once: net/http's own writer would begin with a piece of 4096
// bytes, and so with a short segment in the first window.
func answer(connection net.Conn, reply []byte) {
	defer connection.Close()
	if _, err := http.ReadRequest(bufio.NewReader(connection)); err != nil {
		return
	}
	// A client that goes away in the middle is no fault of ours.
	_, _ = connection.Write(reply)
}
