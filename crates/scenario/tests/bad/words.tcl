$node_(0) set X_ zero
