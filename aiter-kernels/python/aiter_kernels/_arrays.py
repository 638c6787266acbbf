"""New tensors of the same kind as another one."""
import importlib
import sys

from ._errors import InvalidArgument


def is_torch(like):
    """Whether it is a tensor of torch, or of a class that somebody made of one."""
    return any(kind.__module__.split('.')[0] == 'torch' for kind in type(like).__mro__)


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


def converted(name, value, dtype, *others):
    """The same numbers as `dtype`, side by side. A tensor that is of none of these types is left to the call, which names it."""
    found = str(getattr(value, 'dtype', None)).split('.')[-1]
    if found not in (dtype, *others):
        return value
    if is_torch(value):
        library = sys.modules['torch']
        made = value.to(getattr(library, dtype)).contiguous()
        fits = value.is_cuda or made.is_floating_point() or library.equal(made.to(value.dtype), value)
    else:
        library = sys.modules['numpy']
        made = library.ascontiguousarray(value, dtype=dtype)
        fits = made.dtype.kind == 'f' or (made == value).all()
    if not fits:
        raise InvalidArgument(f'{name}: expected numbers that {dtype} holds')
    return made
