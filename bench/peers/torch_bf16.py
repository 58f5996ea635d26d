"""PyTorch with bfloat16 weights and activations (oneDNN, AMX where there is AMX)."""
import torch

from peers import torch_model
from peers.torch_int8 import AVX2, BATCHES, REPLICAS, UNIT

NAME = "PyTorch bf16"
Translator = torch_model.Translator


def build(shape, folder):
    torch_model.build(shape, folder, lambda model: model.to(torch.bfloat16))
