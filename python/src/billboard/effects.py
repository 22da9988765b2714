"""A private mixed model as a statistician writes it down."""

from typing import Any, Dict, List, Mapping, Optional, Tuple, cast

from ._answers import Answer, frame

__all__ = ["Effects"]

_COMPONENTS = (("variance of random effects", "(intercept)", ("random", "intercept")),
               ("variance of random effects", "slope of half a range", ("random", "slope")),
               ("variance of residuals", "(residual)", ("residual",)),
               ("intraclass correlation", "(icc)", ("icc",)))
_NAMES = ("random intercept", "random slopes x half a range", "residual", "ICC")


class Effects(Answer):
    """What all groups share, and what they differ by: fixed effects, variance components and
    the intraclass correlation, each with a standard error, in the data's own units.

    It is public, and inside the budget of the fit. Names of ``public/effects.json``, also as
    attributes: published, standard_errors, fixed, random, residual, icc, intercept_at, warning.
    Estimates have a 95 % interval, or a reason why there is none.

    Examples
    --------
    >>> import numpy as np, billboard
    >>> rng = np.random.default_rng(0)
    >>> school = np.repeat(np.arange(800), 10)
    >>> X = rng.uniform(-1, 1, (8000, 1))
    >>> y = 1 + X[:, 0] + 0.3 * rng.standard_normal(800)[school] + 0.1 * rng.standard_normal(8000)
    >>> model = billboard.MultiTaskRegressor(
    ...     epsilon=20, bounds=billboard.Bounds(others=1, target=4), report_effects=True)
    >>> effects = model.fit(X, y, groups=school).effects_
    >>> [row["name"] for row in effects.rows()][:3]
    ['x1', '(intercept)', '(intercept)']
    """

    def rows(self) -> List[Dict[str, Any]]:
        """Estimates, standard errors and 95 % intervals, a dict for each, as
        ``public/effects.csv`` has them.

        Returns
        -------
        list of dict
            what, name, estimate, standard_error, lower, upper: None where nothing is known.

        Examples
        --------
        >>> import billboard
        >>> told = {"estimate": 0.5, "standard_error": 0.1}
        >>> effects = billboard.Effects({
        ...     "fixed": [{"name": "gcse", **told}], "random": {"intercept": told, "slope": told},
        ...     "residual": told, "icc": told})
        >>> effects.rows()[0]["name"], len(effects.rows())
        ('gcse', 5)
        """
        return [_row(_what(one), one["name"], one) for one in self["fixed"]] + [
            _row(what, name, self._at(path)) for what, name, path in _COMPONENTS]

    def to_frame(self) -> Any:
        """The same as a ``pandas.DataFrame``, or as it is where there is no pandas.

        Examples
        --------
        >>> import billboard
        >>> told = {"estimate": 0.5, "standard_error": 0.1}
        >>> effects = billboard.Effects({
        ...     "fixed": [{"name": "gcse", **told}], "random": {"intercept": told, "slope": told},
        ...     "residual": told, "icc": told})
        >>> len(effects.to_frame())
        5
        """
        return frame(self.rows())

    def __str__(self) -> str:
        if not self["published"]:
            return "effects: nothing was published, and so nothing is known of them"
        lines = [f"{'fixed effects':30} {'estimate':>12} {'std. error':>12}  95 %"]
        for told in self["fixed"]:
            against = f"  (against {told['against']})" if "against" in told else ""
            lines.append(_line(told["name"], told) + _rest(told) + against)
        lines.append(f"{'variances':30} {'estimate':>12} {'std. error':>12} {'std. dev.':>12}  95 %")
        for name, (_, _, path) in zip(_NAMES, _COMPONENTS):
            told = self._at(path)
            deviation = _number(told["deviation"]) if "deviation" in told else " " * 12
            lines.append(f"{_line(name, told)} {deviation}{_rest(told)}")
        lines.append(f"The intercept is at {self['intercept_at']}; variances are in the target's "
                     "unit squared, at the middle of every range; slopes have one for all columns "
                     "that vary within groups, about the mean of theirs; standard errors are of "
                     "the spread between groups and of the noise, and take slopes to vary as far "
                     "up as down.")
        if self.get("warning"):
            lines.append(f"Warning: {self['warning']}")
        return "\n".join(lines)

    def _at(self, path: Tuple[str, ...]) -> Mapping[str, Any]:
        told: Any = self
        for part in path:
            told = told[part]
        return cast(Mapping[str, Any], told)


def _what(one: Mapping[str, Any]) -> str:
    """Levels of a text are against another one, if every row has one."""
    return "fixed effect" + (f" against {one['against']}" if "against" in one else "")


def _row(what: str, name: str, told: Mapping[str, Any]) -> Dict[str, Any]:
    lower, upper = told.get("interval") or (None, None)
    return {"what": what, "name": name, "estimate": told["estimate"],
            "standard_error": told["standard_error"], "lower": lower, "upper": upper}


def _rest(told: Mapping[str, Any]) -> str:
    """An interval, or why there is none."""
    if told.get("interval"):
        low, high = told["interval"]
        return f"  {low:.5g} to {high:.5g}"
    return f"  ({told['reason']})" if told.get("reason") else ""


def _line(name: str, row: Mapping[str, Any]) -> str:
    return f"  {name[:28]:28} {_number(row['estimate'])} {_number(row['standard_error'])}"


def _number(value: Optional[float]) -> str:
    return f"{'-':>12}" if value is None else f"{value:12.5g}"
