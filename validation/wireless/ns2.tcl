# Stations of 802.11b in ns-2 2.35: ns ns2.tcl flow=tcp hops=1 rate=2e6 rts=0 sense=550 dur=30 seed=1.
#
# flow: tcp or udp. Stations stand in a row, 200 m apart, and the first sends to the last over `hops` hops; hops=hidden: the
# first and the last of three send to the one between them, UDP. sense: metres to which the medium is heard to be busy, 250 or
# 550; frames are received to 250 m. Prints one line: RESULT goodput_mbps=<payload that reached the receivers>.
#
# Routes are DSDV's, which is given 300 s to find them and then kept from ever sending again, so that they stand still.
array set opt { flow tcp hops 1 rate 2e6 rts 0 sense 550 dur 30 seed 1 window 20 }
foreach word $argv {
    if {![regexp {^([a-z]+)=(.*)$} $word -> key value] || ![info exists opt($key)]} {
        puts stderr "ns2.tcl: $word is not key=value of a known key"
        exit 2
    }
    set opt($key) $value
}
set hidden [expr {$opt(hops) == "hidden"}]
set stations [expr {$hidden ? 3 : $opt(hops) + 1}]
set begin 300.0

source [file join [file dirname [info script]] ../../bench/peers/wavelan.tcl]
wavelan $opt(rate) $opt(rate) $opt(sense) [expr {$opt(rts) ? 0 : 3000}]
# Segments of 1460 bytes. Where a packet enters the network DSDV adds 20 bytes for IP to what agents count.
Agent/TCP set packetSize_ 1460
Agent/TCP set tcpip_base_hdr_size_ 20
Agent/TCPSink set packetSize_ 20
Agent/TCP set window_ $opt(window)
Agent/TCP set windowInit_ 2
Agent/TCP set minrto_ 1.0
Agent/TCP set singledup_ 0
Agent/TCP set syn_ 1
Agent/TCP set delay_growth_ 1

ns-random $opt(seed)
set ns [new Simulator]
$ns use-scheduler Heap
set nowhere [open /dev/null w]
$ns trace-all $nowhere
set topo [new Topography]
$topo load_flatgrid 3000 100
create-god $stations
$ns node-config -adhocRouting DSDV -topoInstance $topo -agentTrace OFF -routerTrace OFF {*}[wavelan_interface]
for {set i 0} {$i < $stations} {incr i} {
    set node($i) [$ns node]
    $node($i) random-motion 0
    $node($i) set X_ [expr {10.0 + 200.0 * $i}]
    $node($i) set Y_ 50.0
    $node($i) set Z_ 0.0
}
$ns at [expr {$begin - 20}] {
    for {set i 0} {$i < $stations} {incr i} { [$node($i) set ragent_] set perup_ 1e9 }
}

proc udp {from to} {
    global ns opt node begin sinks
    set source [new Agent/UDP]
    set sink [new Agent/LossMonitor]
    $source set packetSize_ 2000
    $ns attach-agent $node($from) $source
    $ns attach-agent $node($to) $sink
    $ns connect $source $sink
    set cbr [new Application/Traffic/CBR]
    $cbr attach-agent $source
    # A payload of 1472 bytes and 8 of UDP, at one and a half times the rate of data.
    $cbr set packetSize_ 1480
    $cbr set rate_ [expr {1.5 * $opt(rate) * 1480 / 1500}]
    # Requests for addresses that are sent at one instant would collide for ever: they are made one after the other before.
    $ns at [expr {$begin - 10 + $from}] "$source send 100"
    $ns at $begin "$sink set npkts_ 0; $cbr start"
    lappend sinks $sink
}
set sinks {}
if {$hidden} {
    udp 0 1
    udp 2 1
} elseif {$opt(flow) == "udp"} {
    udp 0 $opt(hops)
} else {
    set tcp [new Agent/TCP/Newreno]
    set sink [new Agent/TCPSink]
    $ns attach-agent $node(0) $tcp
    $ns attach-agent $node($opt(hops)) $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at $begin "$ftp start"
}
proc finish {} {
    global opt sinks tcp
    if {[info exists tcp]} {
        set bytes [expr {([$tcp set ack_] + 0.0) * 1460}]
    } else {
        set bytes 0.0
        foreach sink $sinks { set bytes [expr {$bytes + [$sink set npkts_] * 1472.0}] }
    }
    puts [format "RESULT goodput_mbps=%.6f" [expr {$bytes * 8 / $opt(dur) / 1e6}]]
    exit 0
}
$ns at [expr {$begin + $opt(dur)}] finish
$ns run
