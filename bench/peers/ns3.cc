// The common dumbbell on ns-3 (3.37 and later).  usage: ns3 --key=value ...
//
// Source i --(access: 10 x rate, no delay)-- r1 --(rate, delay, q packets)-- r2 --(access)-- destination i.
// Bulk senders without timestamps or delayed ACKs, by default NewReno without SACK; independent losses on the last hop in
// the direction of the data.  Prints one line:
//   RESULT segments=<in-order segments delivered> goodput_mbps=<Mbit/s> jain=<index>
// and with --trace=FILE writes the first flow's cwnd in segments there, every `step` seconds: "time cwnd".
//
// ns-3 is set up the lean way: static routes, no queue discipline above the device's drop-tail queue, no traces.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

struct Options
{
    double rate = 10e6;      // bit/s
    double delay = 0.050;    // s, one way
    double dur = 300;        // s
    double loss = 0;         // probability
    uint32_t n = 1;          // flows
    double gap = 0;          // s between their starts
    uint32_t q = 84;         // packets that wait
    uint32_t mss = 1460;     // bytes
    uint32_t iw = 10;        // segments
    double ssthresh = 84;    // segments
    uint32_t window = 668;   // segments
    double minrto = 1;       // s
    bool limited = true;     // limited transmit
    uint32_t seed = 1;
    std::string sched = "ns3::PriorityQueueScheduler"; // the fastest here
    std::string variant = "newreno"; // a key of kControls; "+sack" behind it turns SACK on
    std::string trace;               // file for cwnd over time; empty: none
    double step = 0.05;              // s between its lines

    void Parse(int argc, char** argv)
    {
        CommandLine cmd;
        cmd.AddValue("rate", "of the bottleneck, bit/s", rate);
        cmd.AddValue("delay", "of the bottleneck, one way, s", delay);
        cmd.AddValue("dur", "simulated time, s", dur);
        cmd.AddValue("loss", "probability on the last hop", loss);
        cmd.AddValue("n", "flows", n);
        cmd.AddValue("gap", "between their starts, s", gap);
        cmd.AddValue("q", "queue, packets", q);
        cmd.AddValue("mss", "bytes", mss);
        cmd.AddValue("iw", "initial window, segments", iw);
        cmd.AddValue("ssthresh", "initial, segments", ssthresh);
        cmd.AddValue("window", "receiver's, segments", window);
        cmd.AddValue("minrto", "s", minrto);
        cmd.AddValue("limited", "limited transmit", limited);
        cmd.AddValue("seed", "run number of the random streams", seed);
        cmd.AddValue("sched", "event scheduler", sched);
        cmd.AddValue("variant", "congestion control, +sack", variant);
        cmd.AddValue("trace", "file for cwnd over time", trace);
        cmd.AddValue("step", "s between its lines", step);
        cmd.Parse(argc, argv);
    }
};

const std::map<std::string, std::string> kControls = {
    {"newreno", "ns3::TcpNewReno"},
    {"vegas", "ns3::TcpVegas"},
    {"westwood", "ns3::TcpWestwood"},
    {"westwood-plus", "ns3::TcpWestwood"},
    {"highspeed", "ns3::TcpHighSpeed"},
    {"cubic", "ns3::TcpCubic"},
    {"bbr", "ns3::TcpBbr"},
};

/// Sets the congestion control; says on stderr and returns false where there is none of that name.
bool SetVariant(const std::string& variant)
{
    const std::string suffix = "+sack";
    const bool sack = variant.size() > suffix.size() &&
                      variant.compare(variant.size() - suffix.size(), suffix.size(), suffix) == 0;
    const std::string name = sack ? variant.substr(0, variant.size() - suffix.size()) : variant;
    const auto control = kControls.find(name);
    if (control == kControls.end())
    {
        std::fprintf(stderr, "ns3: there is no variant \"%s\"\n", name.c_str());
        return false;
    }
    Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                       TypeIdValue(TypeId::LookupByName(control->second)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(sack));
    if (name == "westwood-plus")
    {
        Config::SetDefault("ns3::TcpWestwood::ProtocolType", StringValue("WestwoodPlus"));
    }
    if (name == "vegas")
    {
        // Vegas' thresholds are 1 and 3 segments. Here the backlog is rounded up to whole ones: below 1 is below 2.
        Config::SetDefault("ns3::TcpVegas::Alpha", UintegerValue(2));
        Config::SetDefault("ns3::TcpVegas::Beta", UintegerValue(3));
    }
    if (name == "cubic")
    {
        // RFC 9438 leaves the end of slow start to others.
        Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));
    }
    return true;
}

/// Writes the first flow's window into a file at even times.
class WindowTrace
{
  public:
    WindowTrace(const Options& o)
        : m_mss(o.mss),
          m_step(o.step),
          m_cwnd(o.iw * o.mss),
          m_file(o.trace)
    {
    }

    /// The socket exists once its application has started.
    void Start(Ptr<Node> source)
    {
        Config::ConnectWithoutContext("/NodeList/" + std::to_string(source->GetId()) +
                                          "/$ns3::TcpL4Protocol/SocketList/*/CongestionWindow",
                                      MakeCallback(&WindowTrace::Changed, this));
        Sample();
    }

  private:
    void Changed(uint32_t, uint32_t now)
    {
        m_cwnd = now;
    }

    void Sample()
    {
        m_file << Simulator::Now().GetSeconds() << ' ' << static_cast<double>(m_cwnd) / m_mss << '\n';
        Simulator::Schedule(Seconds(m_step), &WindowTrace::Sample, this);
    }

    const uint32_t m_mss;
    const double m_step;
    uint32_t m_cwnd;
    std::ofstream m_file;
};

void SetTcpDefaults(const Options& o)
{
    const uint32_t buffer = o.window * o.mss;
    // By default proportional rate reduction (RFC 6937) would pace recovery; NewReno's own inflates the window.
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                       TypeIdValue(TypeId::LookupByName("ns3::TcpClassicRecovery")));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(o.mss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(o.iw));
    Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold",
                       UintegerValue(static_cast<uint32_t>(o.ssthresh * o.mss)));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(o.limited));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(o.minrto)));
}

PointToPointHelper Wire(double rate, double delay, uint32_t queue)
{
    PointToPointHelper wire;
    wire.DisableFlowControl();
    wire.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(rate))));
    wire.SetChannelAttribute("Delay", TimeValue(Seconds(delay)));
    wire.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(std::to_string(queue) + "p"));
    return wire;
}

} // namespace

int main(int argc, char** argv)
{
    Options o;
    o.Parse(argc, argv);
    RngSeedManager::SetRun(o.seed);
    ObjectFactory scheduler;
    scheduler.SetTypeId(o.sched);
    Simulator::SetScheduler(scheduler);
    SetTcpDefaults(o);
    if (!SetVariant(o.variant))
    {
        return 2;
    }

    Ptr<Node> r1 = CreateObject<Node>();
    Ptr<Node> r2 = CreateObject<Node>();
    NodeContainer sources;
    NodeContainer destinations;
    sources.Create(o.n);
    destinations.Create(o.n);

    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    Ipv4StaticRoutingHelper routing;
    stack.SetRoutingHelper(routing);
    stack.Install(sources);
    stack.Install(destinations);
    stack.Install(r1);
    stack.Install(r2);
    const auto defaultRoute = [&routing](Ptr<Node> node, Ipv4Address next) {
        routing.GetStaticRouting(node->GetObject<Ipv4>())->SetDefaultRoute(next, 1);
    };

    PointToPointHelper access = Wire(o.rate * 10, 0, 1000000);
    PointToPointHelper bottleneck = Wire(o.rate, o.delay, o.q);

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer middle = addresses.Assign(bottleneck.Install(r1, r2));
    defaultRoute(r1, middle.GetAddress(1));
    defaultRoute(r2, middle.GetAddress(0));

    std::vector<Ptr<PacketSink>> sinks;
    for (uint32_t i = 0; i < o.n; i++)
    {
        addresses.NewNetwork();
        auto left = addresses.Assign(access.Install(sources.Get(i), r1));
        defaultRoute(sources.Get(i), left.GetAddress(1));
        addresses.NewNetwork();
        NetDeviceContainer lastHop = access.Install(r2, destinations.Get(i));
        auto right = addresses.Assign(lastHop);
        defaultRoute(destinations.Get(i), right.GetAddress(0));
        if (o.loss > 0)
        {
            Ptr<RateErrorModel> noise = CreateObject<RateErrorModel>();
            noise->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
            noise->SetRate(o.loss);
            lastHop.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(noise));
        }
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
        ApplicationContainer receiver = sink.Install(destinations.Get(i));
        receiver.Start(Seconds(0));
        sinks.push_back(DynamicCast<PacketSink>(receiver.Get(0)));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(right.GetAddress(1), 5000));
        bulk.SetAttribute("MaxBytes", UintegerValue(0));
        bulk.SetAttribute("SendSize", UintegerValue(o.mss));
        bulk.Install(sources.Get(i)).Start(Seconds(o.gap * i));
    }

    WindowTrace trace(o);
    if (!o.trace.empty())
    {
        Simulator::Schedule(NanoSeconds(1), &WindowTrace::Start, &trace, sources.Get(0));
    }

    Simulator::Stop(Seconds(o.dur));
    Simulator::Run();
    double bytes = 0;
    double squares = 0;
    for (const auto& sink : sinks)
    {
        const double received = sink->GetTotalRx();
        bytes += received;
        squares += received * received;
    }
    std::printf("RESULT segments=%llu goodput_mbps=%.4f jain=%.4f\n",
                static_cast<unsigned long long>(bytes / o.mss),
                bytes * 8 / o.dur / 1e6,
                bytes * bytes / (o.n * squares));
    Simulator::Destroy();
    return 0;
}
