"""Names of metrics in TensorBoard."""


def tag_of(group: str, name: str) -> str:
    """Training and validation stand side by side: what was validated begins with `val`.

    Example:
        >>> tag_of("validation", "loss")
        'Determined/val_loss'
    """
    if group == "training":
        return f"Determined/{name}"
    if group == "validation":
        return f"Determined/{name}" if name.startswith("val") else f"Determined/val_{name}"
    return f"Determined/{group}/{name}"
