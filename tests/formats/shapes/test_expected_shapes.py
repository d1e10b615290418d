"""Expected shapes: from a list, a configuration, another checkpoint; and what is none of them is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders import columns
from tests.cli.command import CORPUS, shardproof
from verifier.certificates.encode import map_to_json
from verifier.formats import FormatError
from verifier.formats.shapes.expected_shapes import read_expected_shapes

LLAMA = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 172,
    "vocab_size": 1000,
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
}


def written(tmp_path: Path, value: object, name: str = "shapes.json") -> Path:
    path = tmp_path / name
    path.write_text(json.dumps(value))
    return path


def test_a_list_of_shapes(tmp_path: Path) -> None:
    path = written(tmp_path, {"w": [8, 6], "scalar": []})
    assert read_expected_shapes(path) == {"w": (8, 6), "scalar": ()}


def test_the_configuration_of_a_llama(tmp_path: Path) -> None:
    shapes = read_expected_shapes(written(tmp_path, LLAMA, "config.json"))
    assert len(shapes) == 3 + 2 * 9
    assert shapes["model.layers.1.self_attn.k_proj.weight"] == (16, 64)
    assert shapes["model.layers.0.mlp.down_proj.weight"] == (64, 172)
    tied = read_expected_shapes(written(tmp_path, {**LLAMA, "tie_word_embeddings": True}))
    assert "lm_head.weight" not in tied


@pytest.mark.parametrize(("kind", "count"), [("mistral", 21), ("qwen2", 27), ("qwen3", 25)])
def test_its_relatives(kind: str, count: int, tmp_path: Path) -> None:
    assert len(read_expected_shapes(written(tmp_path, {**LLAMA, "model_type": kind}))) == count


def test_a_mixture_of_experts(tmp_path: Path) -> None:
    config = {**LLAMA, "model_type": "mixtral", "num_local_experts": 4}
    shapes = read_expected_shapes(written(tmp_path, config))
    assert shapes["model.layers.0.block_sparse_moe.experts.3.w2.weight"] == (64, 172)
    assert len(shapes) == 3 + 2 * (4 + 2 + 1 + 4 * 3)


def test_biases_and_heads_are_those_of_the_architecture(tmp_path: Path) -> None:
    switches = {**LLAMA, "attention_bias": True, "mlp_bias": True}
    assert len(read_expected_shapes(written(tmp_path, switches))) == 21 + 2 * (4 + 3)
    assert len(read_expected_shapes(written(tmp_path, {**switches, "model_type": "mistral"}))) == 21
    qwen3 = read_expected_shapes(written(tmp_path, {**LLAMA, "model_type": "qwen3"}))
    assert qwen3["model.layers.0.self_attn.q_norm.weight"] == (128,)


def test_the_names_and_shapes_are_those_of_a_real_llama() -> None:
    """The sample in the corpus was saved by the library itself, configuration and all."""
    folder = CORPUS / "files" / "safetensors" / "llama_tiny"
    stated = read_expected_shapes(folder / "config.json")
    assert stated == read_expected_shapes(folder)
    assert stated == read_expected_shapes(folder / "model.safetensors.index.json")
    assert shardproof("audit", folder, "--expect-shapes", folder).code == 0


def test_a_checkpoint_that_inferred_its_shapes_states_none() -> None:
    """Taken for the full ones, they would hide a missing last file in the other checkpoint, too."""
    folder = CORPUS / "files" / "hf_dcp"
    with pytest.raises(FormatError, match="does not state full shapes"):
        read_expected_shapes(folder / "sharded_w4")
    assert read_expected_shapes(folder / "consolidated_w4")["w"] == (8, 6)


def test_another_checkpoint(tmp_path: Path) -> None:
    path = written(tmp_path, {"version": 1, "params": {"^w$": map_to_json(columns(3, 2, 2))}})
    assert read_expected_shapes(path) == {"w": (3, 4)}


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ({**LLAMA, "model_type": "gpt9"}, 'the parameters of "gpt9" models are not known'),
        ({k: v for k, v in LLAMA.items() if k != "vocab_size"}, "has no vocab_size"),
        ({**LLAMA, "hidden_size": "64"}, "SM005"),
        ({**LLAMA, "hidden_size": True}, "SM005"),
        ({**LLAMA, "num_hidden_layers": -1}, "num_hidden_layers is -1"),
        ({**LLAMA, "num_hidden_layers": 2**39}, "SM006"),
        ({**LLAMA, "quantization_config": {"quant_method": "fp8"}}, "quantised"),
        ({**LLAMA, "architectures": ["LlamaForSequenceClassification"]}, "LlamaForSequenceClassification"),
        ({**LLAMA, "model_type": "mistral", "num_key_value_heads": None}, "has no num_key_value_heads"),
        ({"w": [8, -6]}, "negative dimension"),
        ({"w": [8, 6.0]}, "SM005"),
        ({}, "SM001"),
        ([], "SM001"),
    ],
)
def test_what_states_no_shapes_is_named(value: object, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError) as raised:
        read_expected_shapes(written(tmp_path, value))
    assert complaint in str(raised.value)


def test_the_command_names_the_option(tmp_path: Path) -> None:
    ran = shardproof("audit", CORPUS / "files", "--expect-shapes", written(tmp_path, []))
    assert ran.code == 2
    assert "--expect-shapes: SM001" in ran.err


def test_a_missing_last_shard_is_found(tmp_path: Path) -> None:
    folder = CORPUS / "files" / "hf_dcp" / "damaged" / "last_shard_missing"
    shapes = written(tmp_path, {"w": [8, 6]})
    ran = shardproof("audit", folder, "--expect-shapes", shapes, "--format", "concise")
    assert ran.code == 1
    assert "w" in ran.out
