// WaveLAN as ns-2 has it by default, on ns-3.37: 24.5 dBm at 914 MHz over two-ray ground, received to 250 m, sensed to 550 m.
//
// What bench/peers/wavelan.tcl is for ns-2. Not for: routes, addresses, traffic.
#pragma once

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/wifi-module.h"

namespace wavelan
{
constexpr double READ = -64.375;  // dBm that arrive from 250 m
constexpr double SENSED = -78.07; // from 550 m

// What arrives with `heard` dBm or more makes the medium busy; what arrives with READ is read as well. To what RxSensitivity is
// held against, under which nothing is there at all, ns-3 adds 10 lg(22/20) dB of 802.11b.
inline void SetDefaults(double heard, bool is80211b)
{
    using namespace ns3;
    Config::SetDefault("ns3::WifiPhy::RxSensitivity", DoubleValue(heard - (is80211b ? 0.414 : 0.0)));
    Config::SetDefault("ns3::WifiPhy::CcaEdThreshold", DoubleValue(heard));
    Config::SetDefault("ns3::WifiPhy::CcaSensitivity", DoubleValue(heard));
    Config::SetDefault("ns3::ThresholdPreambleDetectionModel::MinimumRssi", DoubleValue(READ));
    Config::SetDefault("ns3::WifiPhy::TxPowerStart", DoubleValue(24.5));
    Config::SetDefault("ns3::WifiPhy::TxPowerEnd", DoubleValue(24.5));
}

// A radio on a channel of its own.
inline ns3::YansWifiPhyHelper Radio()
{
    using namespace ns3;
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::TwoRayGroundPropagationLossModel",
                               "Frequency", DoubleValue(914e6), "HeightAboveZ", DoubleValue(1.5));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    return phy;
}

// Stations of one ad hoc network: data at 2 Mbit/s, all else at 1 Mbit/s, queues of 50 packets.
inline ns3::NetDeviceContainer Install(const ns3::NodeContainer& nodes)
{
    using namespace ns3;
    SetDefaults(SENSED, true);
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize("50p")));
    Config::SetDefault("ns3::WifiRemoteStationManager::NonUnicastMode", StringValue("DsssRate1Mbps"));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue("DsssRate2Mbps"),
                                 "ControlMode", StringValue("DsssRate1Mbps"));
    return wifi.Install(Radio(), mac, nodes);
}
} // namespace wavelan
