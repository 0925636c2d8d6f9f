"""Custom calls: programs reach LAPACK."""

from __future__ import annotations

import numpy as np

from aioarray import _xla
from tests._xla.programs import Spec, put, run

CHOLESKY = b"""module @test { func.func public @main(%x: tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<i32>) {
  %0:2 = "stablehlo.custom_call"(%x) {call_target_name = "lapack_dpotrf_ffi", api_version = 4 : i32,
    backend_config = {uplo = 76 : ui8},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
    : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<i32>)
  return %0#0, %0#1 : tensor<2x2xf64>, tensor<i32> } }"""


def test_lapack_can_be_called() -> None:
    _xla.register_lapack()
    _xla.register_lapack()
    matrix = np.array([[4.0, 2.0], [2.0, 5.0]])
    buffer, spec = put(matrix, np.float64)
    cholesky = _xla.compile(CHOLESKY, _xla.default_device())
    status = Spec((), np.int32)
    factor, info = run(cholesky, [buffer], spec, status)
    assert _xla.to_numpy(info, status).item() == 0
    np.testing.assert_allclose(np.tril(_xla.to_numpy(factor, spec)), np.linalg.cholesky(matrix))
