"""A private mixed model as a statistician writes it down."""

from typing import Any, Dict, List, Mapping, Optional

from ._answers import Answer, frame

__all__ = ["Effects"]

_COMPONENTS = (("variance of random effects", "(intercept)", ("random", "intercept")),
               ("variance of random effects", "slope of half a range", ("random", "slope")),
               ("variance of residuals", "(residual)", ("residual",)),
               ("intraclass correlation", "(icc)", ("icc",)))
_NAMES = ("random intercept", "random slope x half a range", "residual", "ICC")


class Effects(Answer):
    """What all groups share, and what they differ by: fixed effects, variance components and
    the intraclass correlation, each with a standard error, in the data's own units.

    It is public, and inside the budget of the fit. Names of ``public/effects.json``, also as
    attributes: published, standard_errors, fixed, random, residual, icc, intercept_at.

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
        """Estimates and standard errors, a dict for each, as ``public/effects.csv`` has them.

        Returns
        -------
        list of dict
            what, name, estimate, standard_error: None where nothing is known.

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
        found = [_row(_what(one), one["name"], one) for one in self["fixed"]]
        for what, name, path in _COMPONENTS:
            told: Any = self
            for part in path:
                told = told[part]
            found.append(_row(what, name, told))
        return found

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
        rows = self.rows()
        fixed = len(rows) - len(_COMPONENTS)
        lines = [f"{'fixed effects':30} {'estimate':>12} {'std. error':>12}  95 %"]
        for row, told in zip(rows[:fixed], self["fixed"]):
            value, error = row["estimate"], row["standard_error"]
            within = "" if error is None else \
                f"  {value - 1.96 * error:.5g} to {value + 1.96 * error:.5g}"
            lines.append(_line(row["name"], row) + within)
            if "against" in told:
                lines[-1] += f"  (against {told['against']})"
        lines.append(f"{'variances':30} {'estimate':>12} {'std. error':>12}")
        lines += [_line(name, row) for name, row in zip(_NAMES, rows[fixed:])]
        if self["icc"].get("reason"):
            lines.append(f"(no ICC: {self['icc']['reason']})")
        if not self["standard_errors"]:
            lines.append("(too many columns for standard errors at this budget)")
        lines.append(f"The intercept is at {self['intercept_at']}; variances are at "
                     "the middle of every range, slopes of columns that vary within groups; "
                     "standard errors are of the spread between groups and of the noise, and take "
                     "slopes to vary as far up as down.")
        return "\n".join(lines)


def _what(one: Mapping[str, Any]) -> str:
    """Levels of a text are against another one, if every row has one."""
    return "fixed effect" + (f" against {one['against']}" if "against" in one else "")


def _row(what: str, name: str, told: Mapping[str, Any]) -> Dict[str, Any]:
    return {"what": what, "name": name, "estimate": told["estimate"],
            "standard_error": told["standard_error"]}


def _line(name: str, row: Mapping[str, Any]) -> str:
    return f"  {name[:28]:28} {_number(row['estimate'])} {_number(row['standard_error'])}"


def _number(value: Optional[float]) -> str:
    return f"{'-':>12}" if value is None else f"{value:12.5g}"
