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
    """Raises Unsupported for the first argument that is set, a number but 0 or a tensor: name=(value, what it would need)."""
    for name, (value, reason) in unsupported.items():
        if value is not None and (getattr(value, 'shape', ()) != () or bool(value)):
            raise Unsupported(f'{name}: {reason}')
