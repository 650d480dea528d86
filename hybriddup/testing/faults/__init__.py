"""What shared windows promise, checked while processes, connections and clocks fail."""
