"""What torch really does with a map: cut, rebuild, compare. The only package that may import torch.

Nothing of ``verifier.geometry`` is computed again here. Every address comes out of ``torch.as_strided``,
called with the numbers of the map, so that agreement with the verifier is evidence and not an echo.
``errors``, ``outcome``, ``documents``, ``child`` and ``agreement`` work without torch.
"""
