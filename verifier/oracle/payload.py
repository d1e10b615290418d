"""Parameters whose every element says which one it is.

The values of one dtype are too few to name every element (a bool names two), so a parameter is sent in
several rounds, each carrying one digit of every address. Together the rounds are injective: what comes back
tells from where, and two elements are never equal by chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch

from verifier.model.piece import ONE, Scale
from verifier.oracle.buffers import from_words, to_words, word_bits, words
from verifier.oracle.outcome import Content

Rounds = Sequence[torch.Tensor]
"""One flat tensor for each round."""


def _round_count(numel: int, digit_bits: int) -> int:
    return max(1, -(-max(numel - 1, 0).bit_length() // digit_bits))


def _digit(addresses: torch.Tensor, position: int, digit_bits: int) -> torch.Tensor:
    """The digit of base 2**digit_bits; an address has 63 bits, so wider digits are the address itself."""
    if digit_bits >= 63:
        return addresses
    return (addresses >> (position * digit_bits)) & ((1 << digit_bits) - 1)


@dataclass(frozen=True, slots=True)
class AddressBits:
    """Elements whose bits are digits of their address, for maps without scales, in any dtype.

    A dtype of two words (complex128) carries the address and its complement.
    """

    numel: int
    dtype: torch.dtype
    device: torch.device

    def rounds(self) -> list[torch.Tensor]:
        """The parameter, flat, once for each digit."""
        bits = word_bits(self.dtype)
        addresses = torch.arange(self.numel, device=self.device)
        sent: list[torch.Tensor] = []
        for position in range(_round_count(self.numel, bits)):
            digit = _digit(addresses, position, bits)
            both = torch.stack([digit, ~digit][: words(self.dtype)], dim=1)
            sent.append(from_words(both, self.dtype))
        return sent

    def change(self, sent: Rounds, came: Rounds, address: int) -> tuple[Content, Content]:
        """(the address sent, the address that came back) at ``address``."""
        return self._name(sent, address), self._name(came, address)

    def _name(self, rounds: Rounds, address: int) -> int:
        bits = word_bits(self.dtype)
        mask = (1 << bits) - 1
        name = 0
        for position, tensor in enumerate(rounds):
            word = int(to_words(tensor[address : address + 1])[0, 0])
            name |= (word & mask) << (position * bits)
        return name


_EXPONENT_BITS = 6
_EXPONENTS = 1 << _EXPONENT_BITS
_EXPONENT_BIAS, _FRACTION_BITS = 1023, 52
"""How a double stores its exponent. ``torch.ldexp`` would go through float32 and overflow at 2**128."""


@dataclass(frozen=True, slots=True)
class PowersOfTwo:
    """Elements 2**(lowest + digit) of float64, for maps with scales.

    A product with a power of two only shifts the exponent, so multiplying by a scale is exact and dividing
    by it gives the power back, bit for bit. A tolerance is not needed.
    """

    numel: int
    lowest: int
    device: torch.device

    def rounds(self) -> list[torch.Tensor]:
        """The parameter, flat, once for each digit of the address."""
        addresses = torch.arange(self.numel, device=self.device)
        sent: list[torch.Tensor] = []
        for position in range(_round_count(self.numel, _EXPONENT_BITS)):
            exponents = self.lowest + _digit(addresses, position, _EXPONENT_BITS)
            sent.append(((exponents + _EXPONENT_BIAS) << _FRACTION_BITS).view(torch.float64))
        return sent

    def change(self, sent: Rounds, came: Rounds, address: int) -> tuple[Content, Content]:
        """(the value sent, the value that came back) at ``address``, in the first round where they differ."""
        for was, now in zip(sent, came, strict=True):
            if to_words(was[address : address + 1]).tolist() != to_words(now[address : address + 1]).tolist():
                return float(was[address]), float(now[address])
        return float(sent[0][address]), float(came[0][address])


def lowest_exponent(scales: Iterable[Scale]) -> int | None:
    """The exponent at which 64 powers of two survive all these scales exactly, 0 where possible.

    None when the scales are too far apart, or beyond a double, for any choice. Scales that are zero, infinite
    or NaN set no bound: nothing survives them.
    """
    low, high = -1022, 1024 - _EXPONENTS
    for scale in scales:
        if isinstance(scale, float) or scale == 0:
            continue
        try:
            number = float(scale)
        except OverflowError:
            return None
        if number == 0:
            return None
        numerator, denominator = number.as_integer_ratio()
        lowest_bit = 1 - denominator.bit_length()
        above_highest_bit = abs(numerator).bit_length() + lowest_bit
        low = max(low, -1074 - lowest_bit)
        high = min(high, 1025 - _EXPONENTS - above_highest_bit)
    return min(max(0, low), high) if low <= high else None


def has_scales(scales: Iterable[Scale]) -> bool:
    """True when a scale other than 1 takes part."""
    return any(scale != ONE for scale in scales)
