"""Small networks for images: one for each group."""

from numbers import Integral
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from sklearn.utils._param_validation import Interval

from ._words import CLASSES, NOTES, PARAMETERS
from .classifier import MultiTaskClassifier
from .ledger import Ledger, PathLike

__all__ = ["MultiTaskNetwork"]

_NETWORK = """    net : str
        Layers, such as "conv5x32,pool2,dense62" ("convKxC", "poolK", "denseC"); the last is
        dense, with as many outputs as there are classes, which it may leave to the fit:
        "conv5x32,pool2,dense".
    image : str, optional
        Height, width and channels of X's rows, such as "28x28x1"; X of shape (n_samples,
        height, width) or (n_samples, height, width, channels) says so itself. Rows that are no
        images are one pixel with n_features channels.
    batch : int, default=10
        Rows of a step.
    start_seed : int, default=1
        Where networks start; public.
"""


class MultiTaskNetwork(MultiTaskClassifier):
    __doc__ = """Predicts classes, or labels, with a small network for each group of rows.
""" + PARAMETERS + CLASSES + _NETWORK + """
    Attributes
    ----------
    groups_, privacy_, report_, classes_
        As of `MultiTaskClassifier`.
""" + NOTES + """
    Examples
    --------
    >>> import numpy as np, billboard
    >>> rng = np.random.default_rng(0)
    >>> person, X = np.repeat(np.arange(20), 20), rng.uniform(-1, 1, (400, 6, 6))
    >>> y = (X.mean(axis=(1, 2)) > 0).astype(int)
    >>> net = billboard.MultiTaskNetwork("conv3x4,pool2,dense", "fedavg", rounds=2,
    ...                                  options={"mechanism": "none"})
    >>> net.fit(X, y, groups=person).predict(X[:3], groups=person[:3]).shape
    (3,)
    """

    def __init__(self, net: str = "dense", method: str = "auto", *,
                 epsilon: Optional[float] = None, delta: Optional[float] = None,
                 adjacency: str = "replace-one", bounds: Any = None, standardize: str = "auto",
                 ledger: Union[Ledger, PathLike, None] = None, sampling: Optional[str] = None,
                 rounds: Optional[int] = None,
                 method_params: Optional[Mapping[str, Any]] = None,
                 options: Optional[Mapping[str, Any]] = None,
                 group_column: Union[str, int, None] = None, unknown_groups: str = "error",
                 random_state: Any = None, n_jobs: Optional[int] = 1,
                 progress: Union[bool, Callable[[str, int, int], None]] = False,
                 classes: Optional[Sequence[Any]] = None, image: Optional[str] = None,
                 batch: int = 10, start_seed: int = 1) -> None:
        super().__init__(method, epsilon=epsilon, delta=delta, adjacency=adjacency,
                         bounds=bounds, standardize=standardize, ledger=ledger,
                         sampling=sampling, rounds=rounds, method_params=method_params,
                         options=options, group_column=group_column,
                         unknown_groups=unknown_groups, random_state=random_state,
                         n_jobs=n_jobs, progress=progress, classes=classes)
        self.net = net
        self.image = image
        self.batch = batch
        self.start_seed = start_seed

    _parameter_constraints = {**MultiTaskClassifier._parameter_constraints,
                              "net": [str], "image": [str, None],
                              "batch": [Interval(Integral, 0, None, closed="left")],
                              "start_seed": [Interval(Integral, 0, None, closed="left")]}

    _sparse = False

    def _finds_units(self) -> bool:
        return False

    def _loss(self) -> str:
        return "multilabel" if self.multilabel_ else "softmax"

    def _own_options(self) -> Dict[str, Any]:
        net = self.net
        if net.split(",")[-1].strip() == "dense":
            net += str(len(self.classes_))
        return {**super()._own_options(), "net": net, "image": self._image_,
                "batch": self.batch, "start-seed": self.start_seed}

    def _rows(self, X: Any, groups: Any, reset: bool, y: Any = None) -> Tuple[Any, Any, Any]:
        shape: Tuple[int, ...] = np.shape(X) if hasattr(X, "shape") else ()
        image = self.image
        if len(shape) in (3, 4):
            image = "x".join(map(str, shape[1:] + (1,) * (4 - len(shape))))
            X = np.reshape(X, (shape[0], -1))
        X, y, groups = super()._rows(X, groups, reset, y)
        if reset:
            self._image_ = image or f"1x1x{X.shape[1]}"
        return X, y, groups
