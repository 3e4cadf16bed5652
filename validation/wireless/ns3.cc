// Stations of 802.11 in ns-3.37: ns3 --flow=tcp --hops=1 --standard=b --rate=2 --rts=0 --sense=550 --dur=30 --seed=1.
//
// --flow=tcp|udp; stations stand in a row, --distance m apart, and the first sends to the last over --hops hops; with --hidden the
// first and the last of three send to the one between them, UDP. --standard: b, a, g or n (5 GHz); --rate in Mbit/s, 65 of n.
// --sense: metres to which the medium is heard to be busy, 250 or 550; frames are received to 250 m. Prints one line:
// RESULT goodput_mbps=<payload that reached the receivers>.
//
// Routes and neighbours are entered by hand; no queue but the MAC's, from which nothing is lost by its age.
#include "../../bench/peers/wavelan.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdint>
#include <cstdio>
#include <string>

using namespace ns3;

namespace
{
uint64_t g_bytes; // of UDP, received

void Received(Ptr<const Packet> packet)
{
    g_bytes += packet->GetSize();
}

std::string Mode(const std::string& standard, const std::string& rate)
{
    if (standard == "n")
    {
        return "HtMcs7";
    }
    if (standard == "a" || standard == "g")
    {
        return (standard == "g" ? "ErpOfdmRate" : "OfdmRate") + rate + "Mbps";
    }
    return rate == "5.5" ? "DsssRate5_5Mbps" : "DsssRate" + rate + "Mbps";
}
} // namespace

int main(int argc, char** argv)
{
    std::string flow = "tcp", standard = "b", rate = "2";
    uint32_t hops = 1, seed = 1, window = 20;
    double dur = 30, distance = 200;
    int sense = 550;
    bool rts = false, hidden = false;
    CommandLine cmd;
    cmd.AddValue("flow", "tcp or udp", flow);
    cmd.AddValue("hops", "in a row", hops);
    cmd.AddValue("hidden", "two senders that do not hear each other", hidden);
    cmd.AddValue("standard", "b, a, g or n", standard);
    cmd.AddValue("rate", "of data, Mbit/s", rate);
    cmd.AddValue("rts", "before each frame of data", rts);
    cmd.AddValue("sense", "250 or 550 m", sense);
    cmd.AddValue("distance", "between neighbours, m", distance);
    cmd.AddValue("window", "of TCP, segments", window);
    cmd.AddValue("dur", "seconds", dur);
    cmd.AddValue("seed", "of the run", seed);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(seed);

    wavelan::SetDefaults(sense == 250 ? wavelan::READ : wavelan::SENSED, standard == "b");
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(standard == "n" ? "500p" : "50p")));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000)));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSlrc", UintegerValue(4));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSsrc", UintegerValue(7));

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::TcpClassicRecovery"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1460));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window * 1460));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window * 1460));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));

    const uint32_t stations = hidden ? 3 : hops + 1;
    NodeContainer all;
    all.Create(stations);
    YansWifiPhyHelper phy = wavelan::Radio();
    WifiHelper wifi;
    if (standard == "b")
    {
        wifi.SetStandard(WIFI_STANDARD_80211b);
    }
    else if (standard == "a")
    {
        wifi.SetStandard(WIFI_STANDARD_80211a);
    }
    else if (standard == "g")
    {
        wifi.SetStandard(WIFI_STANDARD_80211g);
    }
    else
    {
        wifi.SetStandard(WIFI_STANDARD_80211n);
        phy.Set("ChannelSettings", StringValue("{0, 20, BAND_5GHZ, 0}"));
    }
    // Of RTS and frames for all; answers go at the highest basic rate up to that of data.
    const std::string control = standard == "b" ? Mode(standard, rate) : standard == "g" ? "ErpOfdmRate6Mbps" : "OfdmRate6Mbps";
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue(Mode(standard, rate)),
                                 "ControlMode", StringValue(control),
                                 "RtsCtsThreshold", UintegerValue(rts ? 0 : 65535));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    NetDeviceContainer devices = wifi.Install(phy, mac, all);
    MobilityHelper mobility;
    Ptr<ListPositionAllocator> places = CreateObject<ListPositionAllocator>();
    for (uint32_t i = 0; i < stations; ++i)
    {
        places->Add(Vector(distance * i, 0, 0));
    }
    mobility.SetPositionAllocator(places);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(all);

    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    Ipv4StaticRoutingHelper routing;
    internet.SetRoutingHelper(routing);
    internet.Install(all);
    Ipv4AddressHelper addresses("10.1.0.0", "255.255.0.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    // A device with an address has been given a FQ-CoDel of its own.
    TrafficControlHelper none;
    none.Uninstall(devices);
    NeighborCacheHelper neighbours;
    neighbours.PopulateNeighborCache(interfaces);
    for (uint32_t i = 0; !hidden && i < stations; ++i)
    {
        for (uint32_t j = 0; j < stations; ++j)
        {
            if (j > i + 1 || j + 1 < i)
            {
                routing.GetStaticRouting(all.Get(i)->GetObject<Ipv4>())
                    ->AddHostRouteTo(interfaces.GetAddress(j), interfaces.GetAddress(j > i ? i + 1 : i - 1), 1);
            }
        }
    }

    const auto udp = [&](uint32_t from, uint32_t to, uint16_t port) {
        UdpServerHelper server(port);
        ApplicationContainer sink = server.Install(all.Get(to));
        sink.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Received));
        UdpClientHelper client(interfaces.GetAddress(to), port);
        client.SetAttribute("PacketSize", UintegerValue(1472));
        client.SetAttribute("MaxPackets", UintegerValue(UINT32_MAX));
        // At one and a half times the rate of data.
        client.SetAttribute("Interval", TimeValue(MicroSeconds(1500 * 8 / (1.5 * std::stod(rate)))));
        client.Install(all.Get(from));
    };
    Ptr<PacketSink> sink;
    if (hidden)
    {
        udp(0, 1, 9);
        udp(2, 1, 10);
    }
    else if (flow == "udp")
    {
        udp(0, hops, 9);
    }
    else
    {
        PacketSinkHelper receiver("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
        sink = DynamicCast<PacketSink>(receiver.Install(all.Get(hops)).Get(0));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(hops), 5000));
        bulk.SetAttribute("MaxBytes", UintegerValue(0));
        bulk.SetAttribute("SendSize", UintegerValue(1460));
        bulk.Install(all.Get(0));
    }
    Simulator::Stop(Seconds(dur));
    Simulator::Run();
    std::printf("RESULT goodput_mbps=%.6f\n", (sink ? sink->GetTotalRx() : g_bytes) * 8 / dur / 1e6);
    Simulator::Destroy();
    return 0;
}
