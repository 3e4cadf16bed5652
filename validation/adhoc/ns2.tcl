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

source [file join [file dirname [info script]] ../../bench/peers/wavelan.tcl]
wavelan 2e6
if {$opt(mac)} { Agent/DSDV set use_mac_ 1 }

ns-random $opt(seed)
set ns [new Simulator]
set file [open $opt(trace) w]
$ns trace-all $file
set topo [new Topography]
$topo load_flatgrid $opt(width) $opt(height)
set god_ [create-god $opt(nodes)]
$ns node-config -adhocRouting $opt(protocol) -topoInstance $topo -agentTrace ON -routerTrace ON {*}[wavelan_interface]
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
