# An ad hoc network in ns-2 2.35: ns ns2.tcl protocol=AODV nodes=30 width=1000 height=1000 dur=300 movement=FILE
# traffic=FILE trace=FILE seed=1. Movement in setdest's format; traffic: lines of "from to start", each a constant rate of
# `rate` packets a second of `size` bytes of payload. What happened stands in the trace (AGT and RTR only).
array set opt {
    protocol AODV nodes 30 width 1000 height 1000 dur 300 seed 1 rate 4 size 512
    movement "" traffic "" trace "" mac 0
}
foreach word $argv {
    if {![regexp {^([a-z]+)=(.*)$} $word -> key value] || ![info exists opt($key)]} {
        puts stderr "ns2.tcl: $word is not key=value of a known key"
        exit 2
    }
    set opt($key) $value
}

# WaveLAN at 914 MHz: received to 250 m, sensed to 550 m over two-ray ground (ns-2's defaults, written out).
Antenna/OmniAntenna set Z_ 1.5
Phy/WirelessPhy set freq_ 914e6
Phy/WirelessPhy set Pt_ 0.28183815
Phy/WirelessPhy set RXThresh_ 3.652e-10
Phy/WirelessPhy set CSThresh_ 1.559e-11
Phy/WirelessPhy set CPThresh_ 10.0
Mac/802_11 set dataRate_ 2Mb
Mac/802_11 set basicRate_ 1Mb
Mac/802_11 set RTSThreshold_ 3000
Mac/802_11 set CWMin_ 31
Mac/802_11 set CWMax_ 1023
Mac/802_11 set SlotTime_ 0.000020
Mac/802_11 set SIFS_ 0.000010
if {$opt(mac)} { Agent/DSDV set use_mac_ 1 }

ns-random $opt(seed)
set ns [new Simulator]
set file [open $opt(trace) w]
$ns trace-all $file
set topo [new Topography]
$topo load_flatgrid $opt(width) $opt(height)
set god_ [create-god $opt(nodes)]
$ns node-config -adhocRouting $opt(protocol) -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue \
    -ifqLen 50 -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -topoInstance $topo -agentTrace ON -routerTrace ON -macTrace OFF -movementTrace OFF \
    -channel [new Channel/WirelessChannel]
for {set i 0} {$i < $opt(nodes)} {incr i} {
    set node_($i) [$ns node]
    $node_($i) random-motion 0
}
# setdest's own name of the simulator.
set ns_ $ns
source $opt(movement)
set in [open $opt(traffic)]
while {[gets $in line] >= 0} {
    lassign $line from to start
    set udp [new Agent/UDP]
    set sink [new Agent/Null]
    $udp set packetSize_ 1500
    $ns attach-agent $node_($from) $udp
    $ns attach-agent $node_($to) $sink
    $ns connect $udp $sink
    set cbr [new Application/Traffic/CBR]
    # ns-2 adds 20 bytes for IP and none for UDP.
    $cbr set packetSize_ [expr {$opt(size) + 8}]
    $cbr set interval_ [expr 1.0 / $opt(rate)]
    $cbr attach-agent $udp
    $ns at $start "$cbr start"
}
close $in
$ns at $opt(dur) "$ns flush-trace; close $file; $ns halt"
$ns run
