"""The learning methods, by name."""

from typing import Dict, Optional

from ._answers import Answer, asked
from ._library import own_words

__all__ = ["Method", "methods"]


class Method(Answer):
    """A learning method: name, kind ("alone": shares nothing; "open": shares in the clear;
    "private"), summary, losses, options, …

    Examples
    --------
    >>> import billboard
    >>> billboard.methods("mp-mixed")["mp-mixed"].losses
    ['squared']
    """

    def __str__(self) -> str:
        said = [f"{self['name']} ({self['kind']}; {', '.join(self['losses'])}): "
                f"{self['summary']}"]
        said += [f"    {o['name']}={o['default_text']}: {o['help']}" for o in self["options"]]
        return own_words("\n".join(said))


def methods(name: Optional[str] = None) -> Dict[str, Method]:
    """The learning methods, or the one of this name.

    Parameters
    ----------
    name : str, optional
        Of a method.

    Returns
    -------
    dict of str to Method

    Examples
    --------
    >>> import billboard
    >>> billboard.methods()["mp-mixed"].kind
    'private'
    """
    found = asked("billboard_methods", None if name is None else name.encode())
    return {m["name"]: Method(m) for m in found["methods"]}
