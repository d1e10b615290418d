"""Files of torch.save: DTensors, ShardedTensors, optimizer state."""
