"""PyTorch with dynamically quantized int8 linear layers (fbgemm or oneDNN, whichever its x86 engine takes)."""
import torch

from peers import torch_model

NAME = "PyTorch int8"
BATCHES, UNIT = [16, 48], "sentences"
REPLICAS = True
AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
Translator = torch_model.Translator


def quantize(model):
    torch.backends.quantized.engine = "x86"
    return torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)


def build(shape, folder):
    torch_model.build(shape, folder, quantize)
