"""The shapes of a model's weights, from the ``config.json`` that Hugging Face stores beside them.

Only architectures whose parameter names and shapes are written out here are known. Any other one is refused
by name: a shape that is guessed would prove nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from verifier.formats.fields import integer, malformed
from verifier.formats.refusal import FormatError, shown
from verifier.model.origin import Origin

Shape = tuple[int, ...]
Named = tuple[str, Shape]

MOST_PARAMETERS = 1_000_000
MOST_SIZE = 1 << 40


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a decoder with grouped-query attention.

    Attributes:
        experts: how many experts a layer has; 0 for one dense block.
        tied: whether the output layer is the embedding and has no weight of its own.
        attention_bias: whether query, key and value have biases.
        output_bias: whether the output of attention has one, too.
        mlp_bias: whether the dense block has biases.
        head_norms: whether query and key are normed head by head.
    """

    hidden: int
    intermediate: int
    layers: int
    heads: int
    key_value_heads: int
    head_size: int
    vocabulary: int
    experts: int
    tied: bool
    attention_bias: bool
    output_bias: bool
    mlp_bias: bool
    head_norms: bool


def config_shapes(config: Mapping[str, object], origin: Origin) -> dict[str, Shape]:
    """The full shape of each parameter.

    Raises:
        FormatError: SM004 for an architecture that is not known or weights that are quantised, SM002, SM005
            or SM006 for fields that are missing or no sizes.
    """
    stated = config.get("architectures")
    name = stated[0] if isinstance(stated, list) and len(stated) == 1 else None
    if not isinstance(name, str) or name not in _ARCHITECTURES:
        raise FormatError(
            "SM004",
            f"the architecture {shown(name if name is not None else stated)} is not known",
            origin.child("architectures"),
            help=f"known are {', '.join(_ARCHITECTURES)}; for others write JSON {{name: [dims]}}",
        )
    if config.get("quantization_config") is not None:
        raise FormatError(
            "SM004",
            "the weights are quantised: their names and shapes are those of the method, not of the model",
            origin.child("quantization_config"),
            help="write JSON {name: [dims]}, or name another checkpoint of the same model",
        )
    sizes = _ARCHITECTURES[name](_Config(config, origin))
    weights = sizes.layers * (16 + 3 * sizes.experts)
    if weights > MOST_PARAMETERS:
        raise FormatError(
            "SM006",
            f"about {weights} parameters, over the limit of {MOST_PARAMETERS}",
            origin,
            help="write the number of layers and experts that was meant",
        )
    return dict(_parameters(sizes))


@dataclass(frozen=True, slots=True)
class _Config:
    """A config with access to its fields."""

    fields: Mapping[str, object]
    origin: Origin

    def size(self, key: str, default: int | None = None) -> int:
        """A size from 1 on; ``default`` where the field is missing or null."""
        if self.fields.get(key) is None:
            if default is None:
                raise malformed(
                    f"the field {key} is missing", self.origin, "write the config as the model saves it"
                )
            return default
        found = integer(self.fields[key], self.origin, key)
        if not 1 <= found <= MOST_SIZE:
            raise malformed(f"{key} is {shown(found)}", self.origin.child(key), "write a size from 1 on")
        return found

    def truth(self, key: str) -> bool:
        """A switch that is off where it is missing."""
        found = self.fields.get(key)
        if found is not None and not isinstance(found, bool):
            raise malformed(f"{key} is {shown(found)}", self.origin.child(key), "write true or false")
        return bool(found)

    def sizes(
        self,
        *,
        key_value_heads: int | None = None,
        experts: int = 0,
        attention_bias: bool = False,
        output_bias: bool = False,
        mlp_bias: bool = False,
        head_norms: bool = False,
    ) -> Sizes:
        """The sizes under the field names that these architectures share."""
        hidden, heads = self.size("hidden_size"), self.size("num_attention_heads")
        return Sizes(
            hidden=hidden,
            intermediate=self.size("intermediate_size"),
            layers=self.size("num_hidden_layers"),
            heads=heads,
            key_value_heads=self.size("num_key_value_heads", key_value_heads),
            head_size=self.size("head_dim", max(1, hidden // heads)),
            vocabulary=self.size("vocab_size"),
            experts=experts,
            tied=self.truth("tie_word_embeddings"),
            attention_bias=attention_bias,
            output_bias=output_bias,
            mlp_bias=mlp_bias,
            head_norms=head_norms,
        )


def _llama(config: _Config) -> Sizes:
    bias = config.truth("attention_bias")
    return config.sizes(
        key_value_heads=config.size("num_attention_heads"),
        attention_bias=bias,
        output_bias=bias,
        mlp_bias=config.truth("mlp_bias"),
    )


def _mistral(config: _Config) -> Sizes:
    return config.sizes()


def _qwen2(config: _Config) -> Sizes:
    return config.sizes(attention_bias=True)


def _qwen3(config: _Config) -> Sizes:
    bias = config.truth("attention_bias")
    return config.sizes(attention_bias=bias, output_bias=bias, head_norms=True)


def _mixtral(config: _Config) -> Sizes:
    return config.sizes(experts=config.size("num_local_experts"))


_ARCHITECTURES: Mapping[str, Callable[[_Config], Sizes]] = {
    "LlamaForCausalLM": _llama,
    "MistralForCausalLM": _mistral,
    "MixtralForCausalLM": _mixtral,
    "Qwen2ForCausalLM": _qwen2,
    "Qwen3ForCausalLM": _qwen3,
}


def _parameters(sizes: Sizes) -> Iterator[Named]:
    yield "model.embed_tokens.weight", (sizes.vocabulary, sizes.hidden)
    for layer in range(sizes.layers):
        prefix = f"model.layers.{layer}."
        for name, shape in (*_attention(sizes), *_block(sizes), *_norms(sizes)):
            yield prefix + name, shape
    yield "model.norm.weight", (sizes.hidden,)
    if not sizes.tied:
        yield "lm_head.weight", (sizes.vocabulary, sizes.hidden)


def _attention(sizes: Sizes) -> Iterator[Named]:
    query, pairs = sizes.heads * sizes.head_size, sizes.key_value_heads * sizes.head_size
    for name, rows in (("q_proj", query), ("k_proj", pairs), ("v_proj", pairs)):
        yield f"self_attn.{name}.weight", (rows, sizes.hidden)
        if sizes.attention_bias:
            yield f"self_attn.{name}.bias", (rows,)
    yield "self_attn.o_proj.weight", (sizes.hidden, query)
    if sizes.output_bias:
        yield "self_attn.o_proj.bias", (sizes.hidden,)
    if sizes.head_norms:
        yield "self_attn.q_norm.weight", (sizes.head_size,)
        yield "self_attn.k_norm.weight", (sizes.head_size,)


def _block(sizes: Sizes) -> Iterator[Named]:
    up, down = (sizes.intermediate, sizes.hidden), (sizes.hidden, sizes.intermediate)
    if sizes.experts:
        yield "block_sparse_moe.gate.weight", (sizes.experts, sizes.hidden)
        for expert in range(sizes.experts):
            for name, shape in (("w1", up), ("w2", down), ("w3", up)):
                yield f"block_sparse_moe.experts.{expert}.{name}.weight", shape
        return
    for name, shape in (("gate_proj", up), ("up_proj", up), ("down_proj", down)):
        yield f"mlp.{name}.weight", shape
        if sizes.mlp_bias:
            yield f"mlp.{name}.bias", shape[:1]


def _norms(sizes: Sizes) -> Iterator[Named]:
    yield "input_layernorm.weight", (sizes.hidden,)
    yield "post_attention_layernorm.weight", (sizes.hidden,)
