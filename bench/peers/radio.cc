// Stations of 802.11b that stand still, on ns-3.  usage: radio --kind=saturated|chain --dur=60 --seed=1
//
// What peers/radio.tcl has, with the same radio.  Prints RESULT goodput_mbps=<payload that reached the receiver>.
#include "wavelan.h"

#include "ns3/aodv-module.h"
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"

#include <iostream>

using namespace ns3;

int main(int argc, char** argv)
{
    std::string kind = "chain";
    double dur = 60;
    uint32_t seed = 1;
    CommandLine cmd;
    cmd.AddValue("kind", "saturated or chain", kind);
    cmd.AddValue("dur", "seconds", dur);
    cmd.AddValue("seed", "of the run", seed);
    cmd.Parse(argc, argv);
    const bool chain = kind == "chain";
    const uint32_t nodes = chain ? 5 : 21;
    RngSeedManager::SetSeed(seed);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1460));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    // A receive window of 20 segments, which ours and ns-2 have, ends this version in a segmentation fault.
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 20));

    NodeContainer all;
    all.Create(nodes);
    NetDeviceContainer devices = wavelan::Install(all);
    Ptr<ListPositionAllocator> places = CreateObject<ListPositionAllocator>();
    for (uint32_t i = 0; i < nodes; ++i)
    {
        places->Add(Vector((chain ? 200.0 : 1.0) * i, 0, 0));
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.Install(all);

    InternetStackHelper internet;
    AodvHelper aodv;
    if (chain)
    {
        internet.SetRoutingHelper(aodv);
    }
    internet.Install(all);
    Ipv4AddressHelper address;
    address.SetBase("10.1.0.0", "255.255.0.0");
    Ipv4InterfaceContainer interfaces = address.Assign(devices);

    constexpr uint16_t PORT = 9;
    const std::string factory = chain ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
    const uint32_t end = chain ? nodes - 1 : 0;
    PacketSinkHelper sink(factory, InetSocketAddress(Ipv4Address::GetAny(), PORT));
    ApplicationContainer received = sink.Install(all.Get(end));
    const InetSocketAddress to(interfaces.GetAddress(end), PORT);
    if (chain)
    {
        BulkSendHelper bulk(factory, to);
        bulk.Install(all.Get(0));
    }
    else
    {
        // 1000 bytes with headers of IP and UDP.
        OnOffHelper source(factory, to);
        source.SetConstantRate(DataRate("388800bps"), 972);
        for (uint32_t i = 1; i < nodes; ++i)
        {
            source.Install(all.Get(i));
        }
    }
    Simulator::Stop(Seconds(dur));
    Simulator::Run();
    const double bytes = DynamicCast<PacketSink>(received.Get(0))->GetTotalRx();
    std::cout << "RESULT goodput_mbps=" << bytes * 8 / dur / 1e6 << std::endl;
    Simulator::Destroy();
    return 0;
}
