"""The command ``shardproof``."""
