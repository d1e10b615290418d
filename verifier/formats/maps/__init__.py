"""JSON documents of shard maps, and cases."""
