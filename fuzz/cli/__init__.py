"""Commands that the fuzzer adds to ``shardproof``, one module each."""
