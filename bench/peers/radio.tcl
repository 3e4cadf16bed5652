# Stations of 802.11b that stand still, on ns-2 2.35.  usage: ns radio.tcl kind=saturated|chain dur=60 seed=1
#
# What workloads/radio has: saturated: 20 stations at 1 to 20 m from a sink, each sending it 1000-byte packets at 400 kbit/s,
# more than the medium holds; chain: five stations 200 m apart, one NewReno from end to end over AODV.  No traces.  Prints
# RESULT goodput_mbps=<bytes that reached the receiver, of UDP with headers, of TCP without>.
array set o {kind chain dur 60 seed 1}
foreach arg $argv {
    foreach {key value} [split $arg =] break
    if {![info exists o($key)]} { puts stderr "radio.tcl: there is no key \"$key\""; exit 2 }
    set o($key) $value
}
set chain [expr {$o(kind) == "chain"}]
set nodes [expr {$chain ? 5 : 21}]

# Packets carry room for the headers in use only.
remove-all-packet-headers
add-packet-header Common IP TCP Flags RTP LL Mac ARP AODV
source [file join [file dirname [info script]] wavelan.tcl]
wavelan 2e6
Agent/TCP set packetSize_ 1460
Agent/TCP set window_ 20
Agent/TCP set windowInit_ 2
Agent/TCP set minrto_ 1.0

ns-random $o(seed)
set ns [new Simulator]
# ns-2 wants a file for traces that nobody takes.
$ns trace-all [open /dev/null w]
set topo [new Topography]
$topo load_flatgrid 2000 100
create-god $nodes
$ns node-config -adhocRouting [expr {$chain ? "AODV" : "DumbAgent"}] -topoInstance $topo \
    -agentTrace OFF -routerTrace OFF {*}[wavelan_interface]
for {set i 0} {$i < $nodes} {incr i} {
    set node($i) [$ns node]
    $node($i) random-motion 0
    $node($i) set X_ [expr {$chain ? 200.0 * $i : 1.0 * $i}]
    $node($i) set Y_ 0.0
    $node($i) set Z_ 0.0
}
if {$chain} {
    set tcp [new Agent/TCP/Newreno]
    set sink [new Agent/TCPSink]
    $ns attach-agent $node(0) $tcp
    $ns attach-agent $node(4) $sink
    $ns connect $tcp $sink
    [new Application/FTP] attach-agent $tcp
    $ns at 0 "$tcp send -1"
} else {
    for {set i 1} {$i < $nodes} {incr i} {
        set udp [new Agent/UDP]
        $udp set packetSize_ 1500
        set sink($i) [new Agent/LossMonitor]
        $ns attach-agent $node($i) $udp
        $ns attach-agent $node(0) $sink($i)
        $ns connect $udp $sink($i)
        set cbr [new Application/Traffic/CBR]
        # ns-2 adds 20 bytes for IP.
        $cbr set packetSize_ 980
        $cbr set rate_ 392kb
        $cbr attach-agent $udp
        $ns at 0 "$cbr start"
    }
}
proc finish {} {
    global o chain tcp sink nodes
    set bytes 0.0
    if {$chain} {
        set bytes [expr {([$tcp set ack_] + 1.0) * 1460}]
    } else {
        for {set i 1} {$i < $nodes} {incr i} { set bytes [expr {$bytes + [$sink($i) set bytes_]}] }
    }
    puts [format "RESULT goodput_mbps=%.4f" [expr {$bytes * 8 / $o(dur) / 1e6}]]
    exit 0
}
$ns at $o(dur) finish
$ns run
