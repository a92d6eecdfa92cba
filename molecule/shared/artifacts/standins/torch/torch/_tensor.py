# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A tensor of numbers in a list: enough for "does a card compute": fill, add, multiply, matrix product, sum."""

from __future__ import annotations

float16, bfloat16, float32, int64 = "torch.float16", "torch.bfloat16", "torch.float32", "torch.int64"
# Filled by torch_npu when it is loaded: called with (device, dtype) before a tensor comes to be on an NPU.
device_hooks: list = []


class Tensor:
    """Numbers in row order, their shape, the device and the dtype they are on."""

    def __init__(self, values: list, shape: tuple, device: str = "cpu", dtype: str = float32) -> None:
        self.values, self.shape, self.device, self.dtype = values, tuple(shape), str(device), dtype
        if not self.device.startswith("cpu"):
            if not device_hooks:
                raise RuntimeError(f"Expected one of cpu device type at start of device string: {self.device}")
            for hook in device_hooks:
                hook(self.device, dtype)

    def to(self, *targets: str, device: str = "", dtype: str = "") -> Tensor:
        for target in targets:
            if str(target).startswith("torch."):
                dtype = target
            else:
                device = target
        return Tensor(list(self.values), self.shape, device or self.device, dtype or self.dtype)

    def npu(self, index: int = 0) -> Tensor:
        return self.to(device=f"npu:{index}")

    def cpu(self) -> Tensor:
        return self.to(device="cpu")

    def _pairwise(self, other: Tensor | float, operation) -> Tensor:
        others = other.values if isinstance(other, Tensor) else [other] * len(self.values)
        if len(others) != len(self.values):
            raise RuntimeError("The size of tensor a must match the size of tensor b")
        return Tensor([operation(a, b) for a, b in zip(self.values, others)], self.shape, self.device, self.dtype)

    def __add__(self, other: Tensor | float) -> Tensor:
        return self._pairwise(other, lambda a, b: a + b)

    def __mul__(self, other: Tensor | float) -> Tensor:
        return self._pairwise(other, lambda a, b: a * b)

    def __matmul__(self, other: Tensor) -> Tensor:
        (rows, inner), (inner_too, columns) = self.shape, other.shape
        if inner != inner_too:
            raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({rows}x{inner} and {inner_too}x{columns})")
        values = [
            sum(self.values[row * inner + k] * other.values[k * columns + column] for k in range(inner))
            for row in range(rows)
            for column in range(columns)
        ]
        return Tensor(values, (rows, columns), self.device, self.dtype)

    def sum(self) -> Tensor:
        return Tensor([sum(self.values)], (), self.device, self.dtype)

    def item(self) -> float:
        if len(self.values) != 1:
            raise RuntimeError(f"a Tensor with {len(self.values)} elements cannot be converted to Scalar")
        return self.values[0]

    def tolist(self) -> list:
        return list(self.values)


def full(shape, value, device="cpu", dtype=float32) -> Tensor:
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    count = 1
    for size in shape:
        count *= size
    return Tensor([value] * count, shape, device, dtype)


def _shape(sizes: tuple) -> tuple:
    return tuple(sizes[0]) if sizes and not isinstance(sizes[0], int) else sizes


def ones(*sizes, device="cpu", dtype=float32) -> Tensor:
    return full(_shape(sizes), 1.0, device, dtype)


def zeros(*sizes, device="cpu", dtype=float32) -> Tensor:
    return full(_shape(sizes), 0.0, device, dtype)


def arange(stop, device="cpu", dtype=int64) -> Tensor:
    return Tensor(list(range(stop)), (stop,), device, dtype)


def tensor(values, device="cpu", dtype=float32) -> Tensor:
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    return Tensor(values, (len(values),), device, dtype)
