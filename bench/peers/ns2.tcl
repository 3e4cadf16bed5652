# The common dumbbell on ns-2 2.35.  usage: ns ns2.tcl key=value ...
#
# Source i --(access: 10 x rate, no delay)-- r1 --(rate, delay, q packets)-- r2 --(access)-- destination i.
# Bulk senders; independent losses on the last hop in the direction of the data.  Prints one line:
#   RESULT segments=<in-order segments delivered> goodput_mbps=<Mbit/s> retransmitted=<segments> jain=<index>
#
# Keys: rate (bit/s), delay (s, one way), dur (s), loss (probability), n (flows), gap (s between their starts), q
# (packets that wait), mss (bytes), iw, ssthresh, window (segments), minrto (s), limited (limited transmit: 0 or 1), seed;
# variant (newreno, sack, sack-highspeed, vegas, or linux-NAME: the congestion control NAME of Linux 2.6.16, over SACK); trace
# (a file for the first flow's cwnd in segments, every `step` seconds: "time cwnd");
# and how ns-2 is run: sched (event scheduler), hdrs (min or all), routes (manual or computed).

array set o {
    rate 10e6 delay 0.050 dur 300 loss 0 n 1 gap 0 q 84
    mss 1460 iw 10 ssthresh 84 window 668 minrto 1.0 limited 1 seed 1
    variant newreno trace "" step 0.05
    sched Splay hdrs min routes computed
}
foreach arg $argv {
    foreach {key value} [split $arg =] break
    if {![info exists o($key)]} { puts stderr "ns2.tcl: there is no key \"$key\""; exit 2 }
    set o($key) $value
}

# By default every packet carries room for the headers of every protocol ns-2 knows.
if {$o(hdrs) == "min"} { remove-all-packet-headers; add-packet-header IP TCP Flags }
set ns [new Simulator]
$ns use-scheduler $o(sched)
if {$o(routes) == "manual"} { $ns rtproto Manual }
ns-random $o(seed)

Queue set limit_ 1000000
Agent/TCP set packetSize_ $o(mss)
# Vegas sends without the 40 bytes of headers that the others add.
Agent/TCP/Vegas set packetSize_ [expr {$o(mss) + 40}]
Agent/TCP set windowInit_ $o(iw)
Agent/TCP set window_ $o(window)
Agent/TCP set minrto_ $o(minrto)
# Agent/TCP/Linux has a minimum of its own.
Agent/TCP/Linux set minrto_ $o(minrto)
Agent/TCP set singledup_ $o(limited)
# The connection is there at once: the first segment is data and opens the window.
Agent/TCP set syn_ false
Agent/TCP set delay_growth_ false

# A sender and the sink that suits it.
proc endpoints {variant} {
    switch -glob $variant {
        newreno { return [list [new Agent/TCP/Newreno] [new Agent/TCPSink]] }
        sack { return [list [new Agent/TCP/Sack1] [new Agent/TCPSink/Sack1]] }
        sack-highspeed {
            set tcp [new Agent/TCP/Sack1]
            $tcp set windowOption_ 8
            return [list $tcp [new Agent/TCPSink/Sack1]]
        }
        vegas { return [list [new Agent/TCP/Vegas] [new Agent/TCPSink]] }
        linux-* { return [list [new Agent/TCP/Linux] [new Agent/TCPSink/Sack1]] }
    }
    puts stderr "ns2.tcl: there is no variant \"$variant\""
    exit 2
}

proc route {from to} { [$from get-module Manual] add-route-to-adj-node -default $to }

set r1 [$ns node]
set r2 [$ns node]
$ns duplex-link $r1 $r2 $o(rate) $o(delay) DropTail
# DropTail refuses the packet that would make limit_ of them wait, so one more than q has to be asked for.
$ns queue-limit $r1 $r2 [expr {$o(q) + 1}]
if {$o(routes) == "manual"} { route $r1 $r2; route $r2 $r1 }

set access [expr {$o(rate) * 10}]
for {set i 0} {$i < $o(n)} {incr i} {
    set src [$ns node]
    set dst [$ns node]
    $ns duplex-link $src $r1 $access 0 DropTail
    $ns duplex-link $r2 $dst $access 0 DropTail
    if {$o(routes) == "manual"} {
        route $src $r1
        route $dst $r2
        [$r1 get-module Manual] add-route-to-adj-node $src
        [$r2 get-module Manual] add-route-to-adj-node $dst
    }
    if {$o(loss) > 0} {
        set noise [new ErrorModel]
        $noise unit pkt
        $noise set rate_ $o(loss)
        $noise ranvar [new RandomVariable/Uniform]
        $noise drop-target [new Agent/Null]
        $ns lossmodel $noise $r2 $dst
    }
    foreach {agent sink} [endpoints $o(variant)] break
    set tcp($i) $agent
    $tcp($i) set fid_ $i
    $ns attach-agent $src $tcp($i)
    $ns attach-agent $dst $sink
    $ns connect $tcp($i) $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    $ns at [expr {$o(gap) * $i}] "$tcp($i) set ssthresh_ $o(ssthresh); $ftp start"
    # A congestion control of Linux is chosen once the connection has been reset, which is at time 0.
    if {[regexp {^linux-(.*)$} $o(variant) -> control]} { $ns at [expr {$o(gap) * $i}] "$tcp($i) select_ca $control" }
}
if {$o(trace) != ""} {
    set trace [open $o(trace) w]
    proc sample {} {
        global o ns tcp trace
        puts $trace [format "%.3f %.4f" [$ns now] [$tcp(0) set cwnd_]]
        $ns at [expr {[$ns now] + $o(step)}] sample
    }
    $ns at 0 sample
}

proc finish {} {
    global o tcp
    set sum 0.0
    set squares 0.0
    set again 0
    for {set i 0} {$i < $o(n)} {incr i} {
        set delivered [expr {[$tcp($i) set ack_] + 1.0}]
        set sum [expr {$sum + $delivered}]
        set squares [expr {$squares + $delivered * $delivered}]
        incr again [$tcp($i) set nrexmitpack_]
    }
    puts [format "RESULT segments=%.0f goodput_mbps=%.4f retransmitted=%d jain=%.4f" $sum \
        [expr {$sum * $o(mss) * 8 / $o(dur) / 1e6}] $again [expr {$sum * $sum / ($o(n) * $squares)}]]
    exit 0
}
$ns at $o(dur) finish
$ns run
