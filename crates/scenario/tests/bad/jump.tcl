$node_(0) set X_ 0.0
$node_(0) set Y_ 0.0
$ns_ at 1.0 "$node_(0) setdest 900.0 0.0 5000.0"
