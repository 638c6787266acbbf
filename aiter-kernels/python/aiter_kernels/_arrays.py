"""New tensors of the same kind as another one."""
import importlib
import sys


def is_torch(like):
    return type(like).__module__.split('.')[0] == 'torch'


def _library(like):
    return sys.modules['torch'] if is_torch(like) else sys.modules['numpy']


def _named(library, name):
    """A type of torch or numpy; numpy has some from ml_dtypes."""
    if not hasattr(library, name) and library.__name__ == 'numpy':
        library = importlib.import_module('ml_dtypes')
    return getattr(library, name)


def empty(like, shape, dtype=None):
    """`dtype` is a name that torch and numpy share, or a type of theirs; None: that of `like`."""
    library = _library(like)
    chosen = like.dtype if dtype is None else _named(library, dtype) if isinstance(dtype, str) else dtype
    options = {'device': like.device} if is_torch(like) else {}
    return library.empty(tuple(shape), dtype=chosen, **options)


def numbers(values, like):
    """int32 of a list of numbers, where `like` is."""
    library = _library(like)
    if is_torch(like):
        return library.tensor(values, dtype=library.int32, device=like.device)
    return library.asarray(values, dtype=library.int32)


def to_list(value):
    """The numbers of a tensor; waits for a GPU."""
    return value.tolist()


def copy_into(target, source):
    """Every element of a tensor into another one."""
    target[...] = source
