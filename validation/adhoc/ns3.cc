// An ad hoc network in ns-3.37: ns3 --protocol=aodv --nodes=30 --dur=300 --movement=FILE --traffic=FILE --seed=1 --hello=1. Movement in
// setdest's format; traffic: lines of "from to start", each `rate` packets a second of `size` bytes. Prints one line:
// sent=N delivered=N forwarded=N routing=N bytes=N (packets and bytes of IP, each hop counted; forwarded: hops of delivered ones).
#include "../../bench/peers/wavelan.h"

#include "ns3/aodv-module.h"
#include "ns3/core-module.h"
#include "ns3/dsdv-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/olsr-module.h"

#include <fstream>
#include <iostream>

using namespace ns3;

namespace
{
uint64_t g_sent, g_delivered, g_forwarded, g_routing, g_bytes;
constexpr uint16_t PORT = 9;

void Sent(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
{
    Ptr<Packet> copy = packet->Copy();
    Ipv4Header ip;
    UdpHeader udp;
    copy->RemoveHeader(ip);
    if (ip.GetProtocol() != 17)
    {
        return;
    }
    copy->PeekHeader(udp);
    if (udp.GetDestinationPort() != PORT)
    {
        g_routing++;
        g_bytes += packet->GetSize();
    }
}

void Received(const Ipv4Header& ip, Ptr<const Packet> packet, uint32_t)
{
    UdpHeader udp;
    packet->PeekHeader(udp);
    if (ip.GetProtocol() == 17 && udp.GetDestinationPort() == PORT)
    {
        g_delivered++;
        g_forwarded += 64 - ip.GetTtl() + 1;
    }
}

void Send(Ptr<Socket> socket, uint32_t size, Time interval)
{
    g_sent++;
    socket->Send(Create<Packet>(size));
    Simulator::Schedule(interval, &Send, socket, size, interval);
}
} // namespace

int main(int argc, char** argv)
{
    std::string protocol = "aodv", movement, traffic;
    uint32_t nodes = 30, seed = 1, size = 512;
    double dur = 300, rate = 4;
    bool hello = true;
    CommandLine cmd;
    cmd.AddValue("protocol", "aodv, olsr or dsdv", protocol);
    cmd.AddValue("nodes", "how many", nodes);
    cmd.AddValue("dur", "seconds", dur);
    cmd.AddValue("rate", "packets a second", rate);
    cmd.AddValue("size", "bytes of payload", size);
    cmd.AddValue("movement", "file", movement);
    cmd.AddValue("traffic", "file", traffic);
    cmd.AddValue("seed", "of the run", seed);
    cmd.AddValue("hello", "AODV says hello", hello);
    cmd.Parse(argc, argv);
    RngSeedManager::SetSeed(seed);

    NodeContainer all;
    all.Create(nodes);
    NetDeviceContainer devices = wavelan::Install(all);
    Ns2MobilityHelper(movement).Install();

    InternetStackHelper internet;
    AodvHelper aodv;
    aodv.Set("EnableHello", BooleanValue(hello));
    OlsrHelper olsr;
    DsdvHelper dsdv;
    if (protocol == "aodv") { internet.SetRoutingHelper(aodv); }
    else if (protocol == "olsr") { internet.SetRoutingHelper(olsr); }
    else if (protocol == "dsdv") { internet.SetRoutingHelper(dsdv); }
    else { std::cerr << "no protocol " << protocol << std::endl; return 2; }
    internet.Install(all);
    Ipv4AddressHelper address;
    address.SetBase("10.1.0.0", "255.255.0.0");
    Ipv4InterfaceContainer interfaces = address.Assign(devices);

    for (uint32_t i = 0; i < nodes; ++i)
    {
        Ptr<Ipv4L3Protocol> ip = all.Get(i)->GetObject<Ipv4L3Protocol>();
        ip->TraceConnectWithoutContext("Tx", MakeCallback(&Sent));
        ip->TraceConnectWithoutContext("LocalDeliver", MakeCallback(&Received));
    }
    std::ifstream in(traffic);
    uint32_t from, to;
    double start;
    while (in >> from >> to >> start)
    {
        Ptr<Socket> sink = Socket::CreateSocket(all.Get(to), UdpSocketFactory::GetTypeId());
        sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
        sink->ShutdownSend();
        Ptr<Socket> source = Socket::CreateSocket(all.Get(from), UdpSocketFactory::GetTypeId());
        source->Connect(InetSocketAddress(interfaces.GetAddress(to), PORT));
        Simulator::Schedule(Seconds(start), &Send, source, size, Seconds(1 / rate));
    }
    Simulator::Stop(Seconds(dur));
    Simulator::Run();
    std::cout << "sent=" << g_sent << " delivered=" << g_delivered << " forwarded=" << g_forwarded
              << " routing=" << g_routing << " bytes=" << g_bytes << std::endl;
    Simulator::Destroy();
    return 0;
}
