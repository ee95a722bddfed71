"""Libraries that only some functions need."""

from __future__ import annotations

from typing import Any


def scipy_sparse(what: str) -> Any:
    """Return SciPy's module, which only those who ask for its objects need."""
    try:
        import scipy.sparse
    except ImportError:
        message = f"{what} needs SciPy; install it with 'pip install partita[sparse]'"
        raise ImportError(message) from None
    return scipy.sparse
