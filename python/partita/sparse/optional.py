"""Libraries that only some functions need."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def scipy_sparse(what: str) -> Any:
    """Return SciPy's module, which only those who ask for its objects need."""
    return needed("scipy.sparse", "SciPy", what, "partita[sparse]")


def pydata_sparse(what: str) -> Any:
    """Return the module of PyData's `sparse`."""
    return needed("sparse", "PyData's sparse", what, "sparse")


def needed(module: str, name: str, what: str, extra: str) -> Any:
    """Return a module; if its library is not there, say what to install.

    A library that is there may fail to load, as where memory is too little: then the reason is
    what the user must know.
    """
    library = module.partition(".")[0]
    try:
        import_module(library)
        return import_module(module)
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and error.name == library:
            message = f"{what} needs {name}; install it with 'pip install {extra}'"
            raise ImportError(message, name=library) from None
        message = f"{what} needs {name}, which is there and cannot be loaded: {error}"
        raise ImportError(message, name=library) from error
