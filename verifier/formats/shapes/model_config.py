"""The shapes of a model's parameters, from its ``config.json`` in the form of transformers.

Source: the parameter names that transformers documents for these architectures. Others are refused by name:
a guessed shape would be worse than none. So are quantised weights, whose names are those of the method.
"""

from __future__ import annotations

from collections.abc import Mapping

from verifier.formats.reading.fields import integer
from verifier.formats.reading.json_text import over_limit
from verifier.formats.reading.refusal import FormatError, shown
from verifier.model.origin import Origin

Shapes = dict[str, tuple[int, ...]]

ARCHITECTURES: Mapping[str, str] = {
    "llama": "LlamaForCausalLM",
    "mistral": "MistralForCausalLM",
    "mixtral": "MixtralForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
}
"""The architectures that are known, by the type of model."""
WITH_BIAS_SWITCH = ("llama", "qwen3")
"""Where ``attention_bias`` adds biases; the others ignore it."""
QWEN3_HEAD = 128
"""Its heads have this size where the configuration does not say."""
MOST_PARAMETERS = 1_000_000


def is_model_config(value: Mapping[str, object]) -> bool:
    """Whether a JSON object is the configuration of a model."""
    return "model_type" in value and "hidden_size" in value


def shapes_of_config(value: Mapping[str, object], origin: Origin) -> Shapes:
    """Every parameter of the model with its shape.

    Raises:
        FormatError: SM002 for an architecture that is not known, quantised weights, or a size that is
            missing; SM005 for one that is no integer; SM006 for more parameters than a model has.
    """
    kind = _known_kind(value, origin)
    config = _Config(value, origin, kind)
    config.require_few()
    shapes: Shapes = {
        "model.embed_tokens.weight": (config.vocabulary, config.hidden),
        "model.norm.weight": (config.hidden,),
    }
    if value.get("tie_word_embeddings") is not True:
        shapes["lm_head.weight"] = (config.vocabulary, config.hidden)
    for layer in range(config.layers):
        prefix = f"model.layers.{layer}."
        shapes |= _attention(f"{prefix}self_attn.", config, kind)
        shapes |= _experts(prefix, config) if kind == "mixtral" else _mlp(f"{prefix}mlp.", config)
        for norm in ("input_layernorm", "post_attention_layernorm"):
            shapes[f"{prefix}{norm}.weight"] = (config.hidden,)
    return shapes


def _known_kind(value: Mapping[str, object], origin: Origin) -> str:
    """The type of a model whose parameters are known."""
    kind = value.get("model_type")
    if not isinstance(kind, str) or kind not in ARCHITECTURES:
        raise FormatError(
            "SM002",
            f"the parameters of {shown(kind)} models are not known",
            origin.child("model_type"),
            help=f"known are {', '.join(ARCHITECTURES)}; or state the shapes as JSON",
        )
    stated = value.get("architectures")
    if stated is not None and stated != [ARCHITECTURES[kind]]:
        names = stated[0] if isinstance(stated, list) and len(stated) == 1 else stated
        raise FormatError(
            "SM002",
            f"the parameters of the architecture {shown(names)} are not known",
            origin.child("architectures"),
            help=f"known is {ARCHITECTURES[kind]}; or state the shapes as JSON",
        )
    if value.get("quantization_config") is not None:
        raise FormatError(
            "SM002",
            "the weights are quantised: their names and shapes are those of the method, not of the model",
            origin.child("quantization_config"),
            help="state the shapes as JSON, or name another checkpoint of the same model",
        )
    return kind


class _Config:
    """The sizes of a configuration."""

    def __init__(self, value: Mapping[str, object], origin: Origin, kind: str) -> None:
        self._value, self._origin = value, origin
        self.hidden = self._size("hidden_size")
        self.inner = self._size("intermediate_size")
        self.vocabulary = self._size("vocab_size")
        self.layers = self._size("num_hidden_layers")
        self.heads = self._size("num_attention_heads")
        self.kv_heads = self._size("num_key_value_heads", self.heads if kind == "llama" else None)
        even = self.hidden // max(self.heads, 1)
        self.head = self._size("head_dim", QWEN3_HEAD if kind == "qwen3" else even)
        self.experts = self._size("num_local_experts") if kind == "mixtral" else 0
        self.has_bias = kind in WITH_BIAS_SWITCH and value.get("attention_bias") is True
        self.has_mlp_bias = kind == "llama" and value.get("mlp_bias") is True

    def require_few(self) -> None:
        """Refuse a file that asks for more names than any model has, before they are made."""
        found = self.layers * (16 + 3 * self.experts)
        if found > MOST_PARAMETERS:
            raise over_limit(f"about {found} parameters", MOST_PARAMETERS, "parameters", self._origin)

    def _size(self, key: str, default: int | None = None) -> int:
        if self._value.get(key) is None and default is not None:
            return default
        if self._value.get(key) is None:
            raise FormatError(
                "SM002",
                f"the configuration has no {key}",
                self._origin,
                help="name the config.json of the model",
            )
        size = integer(self._value[key], self._origin, key)
        if not 0 <= size < 2**40:
            raise FormatError(
                "SM002", f"{key} is {shown(size)}", self._origin.child(key), help="no model has such a size"
            )
        return size


def _attention(prefix: str, config: _Config, kind: str) -> Shapes:
    queries, keys = config.heads * config.head, config.kv_heads * config.head
    shapes: Shapes = {f"{prefix}q_proj.weight": (queries, config.hidden)}
    for name in ("k", "v"):
        shapes[f"{prefix}{name}_proj.weight"] = (keys, config.hidden)
    shapes[f"{prefix}o_proj.weight"] = (config.hidden, queries)
    if config.has_bias or kind == "qwen2":
        shapes[f"{prefix}q_proj.bias"] = (queries,)
        shapes[f"{prefix}k_proj.bias"] = shapes[f"{prefix}v_proj.bias"] = (keys,)
    if config.has_bias:
        shapes[f"{prefix}o_proj.bias"] = (config.hidden,)
    if kind == "qwen3":
        shapes[f"{prefix}q_norm.weight"] = shapes[f"{prefix}k_norm.weight"] = (config.head,)
    return shapes


def _mlp(prefix: str, config: _Config) -> Shapes:
    shapes: Shapes = {}
    for name, rows, columns in (
        ("gate", config.inner, config.hidden),
        ("up", config.inner, config.hidden),
        ("down", config.hidden, config.inner),
    ):
        shapes[f"{prefix}{name}_proj.weight"] = (rows, columns)
        if config.has_mlp_bias:
            shapes[f"{prefix}{name}_proj.bias"] = (rows,)
    return shapes


def _experts(prefix: str, config: _Config) -> Shapes:
    shapes: Shapes = {f"{prefix}block_sparse_moe.gate.weight": (config.experts, config.hidden)}
    for expert in range(config.experts):
        at = f"{prefix}block_sparse_moe.experts.{expert}."
        shapes[f"{at}w1.weight"] = shapes[f"{at}w3.weight"] = (config.inner, config.hidden)
        shapes[f"{at}w2.weight"] = (config.hidden, config.inner)
    return shapes
