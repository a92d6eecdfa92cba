"""Writes a small Qwen2 model with random weights and its own tokenizer: python tiny_model.py FOLDER"""

from __future__ import annotations

import sys

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

END, START, STOP = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tokenizer() -> PreTrainedTokenizerFast:
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=320, special_tokens=[END, START, STOP], initial_alphabet=alphabet)
    raw.train_from_iterator(["a node that answers is a node that works"] * 4, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token=STOP, pad_token=END)
    fast.chat_template = TEMPLATE
    return fast


def main(folder: str) -> None:
    words = tokenizer()
    words.save_pretrained(folder)
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=len(words),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        eos_token_id=words.eos_token_id,
        bos_token_id=words.pad_token_id,
        pad_token_id=words.pad_token_id,
    )
    Qwen2ForCausalLM(config).save_pretrained(folder)


if __name__ == "__main__":
    main(sys.argv[1])
