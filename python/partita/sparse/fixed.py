"""Properties of tensors that nobody sets: whoever tries is told what to use instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

# What gives a tensor of which a property is another.
_INSTEAD = {
    "shape": "t.reshape(shape), which returns a new tensor",
    "dtype": "t.astype(dtype), which returns a new tensor",
    "index_dtype": "index_dtype= where the tensor is made",
    "format": "t.asformat(format), which returns a new tensor",
    "layout": "t.redistribute(layout=layout), which returns a new tensor",
    "values": "t.with_values(values), which returns a new tensor",
}

if TYPE_CHECKING:
    fixed = property
else:

    class fixed(property):
        """A property of `_INSTEAD`."""

        def __set__(self, tensor: object, value: Any) -> NoReturn:
            name = self.fget.__name__
            said = f"{name} of a {type(tensor).__name__} is not set; use {_INSTEAD[name]}"
            raise AttributeError(said, name=name, obj=tensor)
