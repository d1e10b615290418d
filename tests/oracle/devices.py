"""The devices that tests run on; one that is absent is skipped with the reason."""

import pytest
import torch

DEVICES = [
    "cpu",
    pytest.param(
        "cuda",
        marks=[
            pytest.mark.cuda,
            pytest.mark.skipif(
                not torch.cuda.is_available(), reason=f"torch {torch.__version__} sees no CUDA device"
            ),
        ],
    ),
]
