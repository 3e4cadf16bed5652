# WaveLAN at 914 MHz over two-ray ground, on ns-2 2.35: its defaults, written out. What bench/peers/wavelan.h is for ns-3.
# Not for: routes, traffic, traces.

# Rates in bit/s of data and of all else; metres to which the medium is heard to be busy, 250 or 550, where frames are received
# to 250 m; the longest frame without RTS, bytes.
proc wavelan {data {basic 1e6} {sense 550} {rts 3000}} {
    Antenna/OmniAntenna set Z_ 1.5
    Phy/WirelessPhy set freq_ 914e6
    Phy/WirelessPhy set Pt_ 0.28183815
    Phy/WirelessPhy set RXThresh_ 3.652e-10
    Phy/WirelessPhy set CSThresh_ [expr {$sense == 250 ? 3.652e-10 : 1.559e-11}]
    Phy/WirelessPhy set CPThresh_ 10.0
    Mac/802_11 set dataRate_ $data
    Mac/802_11 set basicRate_ $basic
    Mac/802_11 set RTSThreshold_ $rts
    Mac/802_11 set ShortRetryLimit_ 7
    Mac/802_11 set LongRetryLimit_ 4
    Mac/802_11 set CWMin_ 31
    Mac/802_11 set CWMax_ 1023
    Mac/802_11 set SlotTime_ 0.000020
    Mac/802_11 set SIFS_ 0.000010
    Mac/802_11 set PreambleLength_ 144
    Mac/802_11 set PLCPHeaderLength_ 48
    Mac/802_11 set PLCPDataRate_ 1.0e6
}

# What node-config is told of it, with a channel of its own.
proc wavelan_interface {} {
    list -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue -ifqLen 50 -antType Antenna/OmniAntenna \
        -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy -macTrace OFF -movementTrace OFF \
        -channel [new Channel/WirelessChannel]
}
