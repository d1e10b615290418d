"""What a shard map is: pieces, maps, expectations, and where each value came from."""
