# The common dumbbell on ns-2 2.35.  usage: ns ns2.tcl key=value ...
#
# Source i --(access: 10 x rate, no delay)-- r1 --(rate, delay, q packets)-- r2 --(access)-- destination i.
# Bulk senders; independent losses on the last hop in the direction of the data.  Prints one line:
#   RESULT segments=<in-order segments delivered> goodput_mbps=<Mbit/s> retransmitted=<segments> jain=<index>
#
# Keys: rate (bit/s), delay (s, one way), dur (s), loss (probability), n (flows), gap (s between their starts), q
# (packets that wait), mss (bytes), iw, ssthresh, window (segments), minrto (s), limited (limited transmit: 0 or 1), seed;
# variant (tahoe, reno, newreno, sack, sack-highspeed, vegas, or linux-NAME: the congestion control NAME of Linux 2.6.16,
# over SACK); delack (ACK every second segment or after 100 ms: 0 or 1); syn (begin with a SYN: 0 or 1); count (what
# RESULT counts: what the sender knows to be delivered, or the receiver: sender or receiver); trace (a file for the first
# flow's cwnd in segments, every `step` seconds: "time cwnd");
# and how ns-2 is run: sched (event scheduler), hdrs (min or all), routes (manual or computed).

array set o {
    rate 10e6 delay 0.050 dur 300 loss 0 n 1 gap 0 q 84
    mss 1460 iw 10 ssthresh 84 window 668 minrto 1.0 limited 1 seed 1
    variant newreno delack 0 syn 0 count sender trace "" step 0.05
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
# Without a SYN the connection is there at once: the first segment is data and opens the window. With one, the window is a
# segment until the first ACK (delay_growth_), which then opens it to windowInit_. Vegas' SYN is a segment of data.
Agent/TCP set syn_ $o(syn)
Agent/TCP set delay_growth_ $o(syn)
Agent/TCPSink/DelAck set interval_ 100ms
Agent/TCPSink/Sack1/DelAck set interval_ 100ms

# A sender and the sink that suits it.
proc endpoints {variant} {
    global o
    set delayed [expr {$o(delack) ? "/DelAck" : ""}]
    set plain Agent/TCPSink$delayed
    set selective Agent/TCPSink/Sack1$delayed
    switch -glob $variant {
        tahoe { return [list [new Agent/TCP] [new $plain]] }
        reno { return [list [new Agent/TCP/Reno] [new $plain]] }
        newreno { return [list [new Agent/TCP/Newreno] [new $plain]] }
        sack { return [list [new Agent/TCP/Sack1] [new $selective]] }
        sack-highspeed {
            set tcp [new Agent/TCP/Sack1]
            $tcp set windowOption_ 8
            return [list $tcp [new $selective]]
        }
        vegas { return [list [new Agent/TCP/Vegas] [new $plain]] }
        linux-* { return [list [new Agent/TCP/Linux] [new $selective]] }
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
    set receiver($i) $sink
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

# In-order segments of flow i.
proc delivered {i} {
    global o tcp receiver
    # A sink counts whole packets; the 40 bytes of a SYN are less than one.
    if {$o(count) == "receiver"} { return [expr {floor([$receiver($i) set bytes_] / double($o(mss) + 40))}] }
    # Numbers start at 0, which is the SYN where there is one (Vegas sends data there).
    return [expr {[$tcp($i) set ack_] + ($o(syn) && $o(variant) != "vegas" ? 0.0 : 1.0)}]
}

proc finish {} {
    global o tcp
    set sum 0.0
    set squares 0.0
    set again 0
    for {set i 0} {$i < $o(n)} {incr i} {
        set segments [delivered $i]
        set sum [expr {$sum + $segments}]
        set squares [expr {$squares + $segments * $segments}]
        incr again [$tcp($i) set nrexmitpack_]
    }
    puts [format "RESULT segments=%.0f goodput_mbps=%.4f retransmitted=%d jain=%.4f" $sum \
        [expr {$sum * $o(mss) * 8 / $o(dur) / 1e6}] $again [expr {$sum * $sum / ($o(n) * $squares)}]]
    exit 0
}
$ns at $o(dur) finish
$ns run
