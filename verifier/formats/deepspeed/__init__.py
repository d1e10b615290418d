"""DeepSpeed: affine maps, AutoEP, ZeRO, universal checkpoints."""
