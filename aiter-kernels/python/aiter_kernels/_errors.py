"""What a call that was not made raises."""


class KernelError(Exception):
    """Any of the below."""


class InvalidArgument(KernelError, ValueError):
    """An argument does not fit; the message begins with its name."""


class Unsupported(KernelError, NotImplementedError):
    """There is no such operation here, or no kernel for it on this GPU; the message begins with the argument's name."""


class RuntimeFailure(KernelError, RuntimeError):
    """The HIP runtime or the code objects failed."""


def refuse(**unsupported):
    """Raises Unsupported for the first argument that is set: name=(value, what it would need)."""
    for name, (value, reason) in unsupported.items():
        is_set = bool(value) if isinstance(value, (bool, int, float)) else value is not None
        if is_set:
            raise Unsupported(f'{name}: {reason}')
