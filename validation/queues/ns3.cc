// A bottleneck with a queue discipline of ns-3.37: ns3 --queue=codel --load=tcp --n=10 --ecn=0 --dur=110 --warmup=10 --seed=1.
//
// --min, --max: RED's thresholds, packets.
//
// Source i --(200 Mbit/s, 1 ms)-- r1 --(20 Mbit/s, 20 ms)-- r2 --(200 Mbit/s, 1 ms)-- destination i. --queue: codel, fq-codel, pie or
// red; --load=tcp: `n` senders of NewReno, one started each 100 ms; --load=poisson: packets of 1500 bytes, `offered` Mbit/s. Prints
// one line, of what happened after the warm-up:
//   RESULT goodput_mbps=<payload> wait_ms=<mean wait in the queue> hit=<share of packets dropped or marked>
//
// Behind the discipline the device has a queue of one packet, the least that ns-3 allows, whose wait the discipline does not see.
// It counts here: a packet waits until its transmission begins.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <unordered_map>
#include <vector>

using namespace ns3;

namespace
{
struct Books
{
    double warmup = 10;
    uint64_t came = 0;
    uint64_t hit = 0;
    uint64_t left = 0;
    double waited = 0; // s, of those that left
    std::unordered_map<uint64_t, Time> waiting; // since when, by the packet's number
    uint64_t received = 0; // bytes of payload

    bool Count() const
    {
        return Simulator::Now().GetSeconds() >= warmup;
    }
};

Books g_books;

void Came(Ptr<const QueueDiscItem> item)
{
    g_books.came += g_books.Count();
    g_books.waiting[item->GetPacket()->GetUid()] = Simulator::Now();
}

void DroppedBefore(Ptr<const QueueDiscItem>, const char*)
{
    // It does not count as enqueued.
    g_books.came += g_books.Count();
    g_books.hit += g_books.Count();
}

void DroppedAfter(Ptr<const QueueDiscItem> item, const char*)
{
    g_books.hit += g_books.Count();
    g_books.waiting.erase(item->GetPacket()->GetUid());
}

void Marked(Ptr<const QueueDiscItem>, const char*)
{
    g_books.hit += g_books.Count();
}

void Begun(Ptr<const Packet> packet)
{
    const auto found = g_books.waiting.find(packet->GetUid());
    if (found == g_books.waiting.end())
    {
        return;
    }
    if (g_books.Count())
    {
        g_books.left++;
        g_books.waited += (Simulator::Now() - found->second).GetSeconds();
    }
    g_books.waiting.erase(found);
}

void Received(Ptr<const Packet> packet, const Address&)
{
    g_books.received += g_books.Count() ? packet->GetSize() : 0;
}

void Send(Ptr<Socket> socket, Ptr<ExponentialRandomVariable> gap)
{
    socket->Send(Create<Packet>(1472));
    Simulator::Schedule(Seconds(gap->GetValue()), &Send, socket, gap);
}

/// The discipline, with the values of its RFC (of RED those of the scenario).
bool Configure(TrafficControlHelper& helper, const std::string& queue, bool ecn, double min, double max)
{
    const QueueSize packets("1000p");
    if (queue == "codel")
    {
        helper.SetRootQueueDisc("ns3::CoDelQueueDisc", "MaxSize", QueueSizeValue(packets),
                                "Interval", StringValue("100ms"), "Target", StringValue("5ms"), "UseEcn", BooleanValue(ecn));
    }
    else if (queue == "fq-codel")
    {
        helper.SetRootQueueDisc("ns3::FqCoDelQueueDisc", "MaxSize", QueueSizeValue(packets), "Interval", StringValue("100ms"),
                                "Target", StringValue("5ms"), "Flows", UintegerValue(1024), "UseEcn", BooleanValue(ecn));
        Config::SetDefault("ns3::FqCoDelQueueDisc::DropBatchSize", UintegerValue(1));
    }
    else if (queue == "pie")
    {
        helper.SetRootQueueDisc("ns3::PieQueueDisc", "MaxSize", QueueSizeValue(packets), "MeanPktSize", UintegerValue(1024),
                                "A", DoubleValue(0.125), "B", DoubleValue(1.25), "Tupdate", TimeValue(MilliSeconds(15)),
                                "Supdate", TimeValue(Seconds(0)), "QueueDelayReference", TimeValue(MilliSeconds(15)),
                                "UseEcn", BooleanValue(ecn));
        Config::SetDefault("ns3::PieQueueDisc::MaxBurstAllowance", TimeValue(MilliSeconds(150)));
        Config::SetDefault("ns3::PieQueueDisc::UseCapDropAdjustment", BooleanValue(false));
        Config::SetDefault("ns3::PieQueueDisc::UseDequeueRateEstimator", BooleanValue(false));
        Config::SetDefault("ns3::PieQueueDisc::UseDerandomization", BooleanValue(false));
    }
    else if (queue == "red")
    {
        helper.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize", QueueSizeValue(packets), "MinTh", DoubleValue(min),
                                "MaxTh", DoubleValue(max), "QW", DoubleValue(0.002), "LInterm", DoubleValue(10),
                                "Gentle", BooleanValue(true), "UseEcn", BooleanValue(ecn));
        Config::SetDefault("ns3::RedQueueDisc::MeanPktSize", UintegerValue(1500));
        Config::SetDefault("ns3::RedQueueDisc::LinkBandwidth", StringValue("20Mbps"));
        Config::SetDefault("ns3::RedQueueDisc::LinkDelay", StringValue("20ms"));
        // Hits are spread as in the paper: p/(1 − count·p).
        Config::SetDefault("ns3::RedQueueDisc::Wait", BooleanValue(false));
    }
    else
    {
        return false;
    }
    return true;
}

PointToPointHelper Wire(const std::string& rate, const std::string& delay, const std::string& queue)
{
    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", StringValue(rate));
    wire.SetChannelAttribute("Delay", StringValue(delay));
    wire.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(queue));
    return wire;
}
} // namespace

int main(int argc, char** argv)
{
    std::string queue = "codel", load = "tcp";
    uint32_t n = 10, seed = 1;
    double dur = 110, offered = 22, min = 10, max = 30;
    bool ecn = false;
    CommandLine cmd;
    cmd.AddValue("queue", "codel, fq-codel, pie or red", queue);
    cmd.AddValue("load", "tcp or poisson", load);
    cmd.AddValue("n", "senders of TCP", n);
    cmd.AddValue("offered", "Poisson load, Mbit/s", offered);
    cmd.AddValue("min", "RED's lower threshold, packets", min);
    cmd.AddValue("max", "RED's upper threshold, packets", max);
    cmd.AddValue("ecn", "mark in place of dropping", ecn);
    cmd.AddValue("dur", "seconds, the warm-up included", dur);
    cmd.AddValue("warmup", "seconds", g_books.warmup);
    cmd.AddValue("seed", "of the run", seed);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(seed);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::TcpClassicRecovery"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1460));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(16 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(16 << 20));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(ecn ? "On" : "Off"));
    TrafficControlHelper discipline;
    if (!Configure(discipline, queue, ecn, min, max))
    {
        std::fprintf(stderr, "ns3: there is no queue \"%s\"\n", queue.c_str());
        return 2;
    }

    const uint32_t hosts = load == "tcp" ? n : 1;
    NodeContainer routers, sources, destinations;
    routers.Create(2);
    sources.Create(hosts);
    destinations.Create(hosts);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(routers);
    stack.Install(sources);
    stack.Install(destinations);
    NetDeviceContainer middle = Wire("20Mbps", "20ms", "1p").Install(routers);
    QueueDiscContainer installed = discipline.Install(middle.Get(0));
    if (queue == "fq-codel")
    {
        DynamicCast<FqCoDelQueueDisc>(installed.Get(0))->SetQuantum(1514);
    }
    const Ptr<QueueDisc> root = installed.Get(0);
    root->TraceConnectWithoutContext("Enqueue", MakeCallback(&Came));
    root->TraceConnectWithoutContext("DropBeforeEnqueue", MakeCallback(&DroppedBefore));
    root->TraceConnectWithoutContext("DropAfterDequeue", MakeCallback(&DroppedAfter));
    root->TraceConnectWithoutContext("Mark", MakeCallback(&Marked));
    middle.Get(0)->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Begun));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    addresses.Assign(middle);
    PointToPointHelper access = Wire("200Mbps", "1ms", "100000p");
    TrafficControlHelper none;
    std::vector<Ipv4Address> there;
    for (uint32_t i = 0; i < hosts; i++)
    {
        for (const bool left : {true, false})
        {
            addresses.NewNetwork();
            NetDeviceContainer ends =
                access.Install(left ? sources.Get(i) : routers.Get(1), left ? routers.Get(0) : destinations.Get(i));
            Ipv4InterfaceContainer named = addresses.Assign(ends);
            // With its address each device has been given a FQ-CoDel.
            none.Uninstall(ends);
            if (!left)
            {
                there.push_back(named.GetAddress(1));
            }
        }
    }
    none.Uninstall(middle.Get(1));
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    std::vector<Ptr<Socket>> sockets;
    for (uint32_t i = 0; i < hosts; i++)
    {
        const std::string protocol = load == "tcp" ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
        PacketSinkHelper sink(protocol, InetSocketAddress(Ipv4Address::GetAny(), 5000));
        sink.Install(destinations.Get(i)).Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Received));
        if (load == "tcp")
        {
            BulkSendHelper bulk(protocol, InetSocketAddress(there[i], 5000));
            bulk.SetAttribute("MaxBytes", UintegerValue(0));
            bulk.SetAttribute("SendSize", UintegerValue(1460));
            bulk.Install(sources.Get(i)).Start(Seconds(0.1 * i));
        }
        else
        {
            Ptr<Socket> socket = Socket::CreateSocket(sources.Get(i), UdpSocketFactory::GetTypeId());
            socket->Connect(InetSocketAddress(there[i], 5000));
            Ptr<ExponentialRandomVariable> gap = CreateObject<ExponentialRandomVariable>();
            gap->SetAttribute("Mean", DoubleValue(1500 * 8 / (offered * 1e6)));
            Simulator::Schedule(Seconds(0), &Send, socket, gap);
            sockets.push_back(socket);
        }
    }
    Simulator::Stop(Seconds(dur));
    Simulator::Run();
    std::printf("RESULT goodput_mbps=%.6f wait_ms=%.6f hit=%.8f\n",
                g_books.received * 8 / (dur - g_books.warmup) / 1e6,
                1e3 * g_books.waited / g_books.left,
                static_cast<double>(g_books.hit) / g_books.came);
    Simulator::Destroy();
    return 0;
}
