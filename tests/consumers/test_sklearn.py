"""scikit-learn's estimators and metrics on Arrays, with its array API dispatch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import aioarray as aio
from tests.consumers.agreement import check, compare

if TYPE_CHECKING:
    from collections.abc import Iterator

sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed; it comes with the extra 'consumers'")
decomposition = pytest.importorskip("sklearn.decomposition")
discriminant_analysis = pytest.importorskip("sklearn.discriminant_analysis")
linear_model = pytest.importorskip("sklearn.linear_model")
metrics = pytest.importorskip("sklearn.metrics")
naive_bayes = pytest.importorskip("sklearn.naive_bayes")
preprocessing = pytest.importorskip("sklearn.preprocessing")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
TARGET = X @ np.array([1.0, 2, 0, -1]) + RNG.normal(size=60)
LABELS = (TARGET > 0).astype(np.int64)


@pytest.fixture(autouse=True)
def dispatch() -> Iterator[None]:
    with sklearn.config_context(array_api_dispatch=True):
        yield


@pytest.mark.parametrize(
    "estimator",
    [
        preprocessing.StandardScaler(),
        preprocessing.MinMaxScaler(),
        preprocessing.MaxAbsScaler(),
        preprocessing.Normalizer(),
        preprocessing.Binarizer(),
        preprocessing.PolynomialFeatures(),
        decomposition.PCA(2, svd_solver="full"),
        decomposition.PCA(2, svd_solver="covariance_eigh"),
    ],
    ids=str,
)
def test_transformers(estimator: Any) -> None:
    check(lambda x: sklearn.clone(estimator).fit(x).transform(x), X)


@pytest.mark.parametrize(
    "estimator",
    [
        discriminant_analysis.LinearDiscriminantAnalysis(),
        naive_bayes.GaussianNB(),
        linear_model.RidgeClassifier(solver="svd"),
    ],
    ids=str,
)
def test_classifiers(estimator: Any) -> None:
    check(lambda x, y: sklearn.clone(estimator).fit(x, y).predict(x), X, LABELS)


@pytest.mark.parametrize("estimator", [linear_model.Ridge(solver="svd"), linear_model.RidgeCV()], ids=str)
def test_regressors(estimator: Any) -> None:
    check(lambda x, y: sklearn.clone(estimator).fit(x, y).predict(x), X, TARGET, rtol=1e-7)


@pytest.mark.parametrize("name", ["r2_score", "mean_squared_error", "mean_absolute_error", "explained_variance_score"])
def test_metrics_of_regressions(name: str) -> None:
    check(getattr(metrics, name), TARGET, TARGET + X[:, 0])


@pytest.mark.parametrize("name", ["accuracy_score", "confusion_matrix", "f1_score", "zero_one_loss", "jaccard_score"])
def test_metrics_of_classifications(name: str) -> None:
    # Shares of a number of samples are in the default real dtype, which is not NumPy's.
    check(getattr(metrics, name), LABELS, (X[:, 0] > 0).astype(np.int64), rtol=1e-6)


@pytest.mark.parametrize("name", ["cosine_similarity", "rbf_kernel", "linear_kernel"])
def test_pairwise(name: str) -> None:
    check(getattr(metrics.pairwise, name), X, X[::2])


@pytest.mark.asyncio
async def test_in_a_coroutine_it_runs_off_the_loop() -> None:
    def fit(x: Any, y: Any) -> Any:
        with sklearn.config_context(array_api_dispatch=True):
            return linear_model.Ridge(solver="svd").fit(x, y).predict(x)

    with aio.sync_reads("raise"):
        predicted = await aio.run_sync(fit, aio.asarray(X), aio.asarray(TARGET))
        await predicted
        compare(predicted, fit(X, TARGET), rtol=1e-7)
