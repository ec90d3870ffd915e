"""What the tests stand on: airs, hosts, programs."""
