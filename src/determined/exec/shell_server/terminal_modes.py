"""Modes of a terminal as an SSH client sends them (RFC 4254, section 8), set on one of ours."""

import contextlib
import termios
from collections.abc import Mapping

_CONTROL_CHARACTERS = {
    1: "VINTR", 2: "VQUIT", 3: "VERASE", 4: "VKILL", 5: "VEOF", 6: "VEOL", 7: "VEOL2", 8: "VSTART", 9: "VSTOP",
    10: "VSUSP", 12: "VREPRINT", 13: "VWERASE", 14: "VLNEXT", 18: "VDISCARD",
}  # fmt: skip
_INPUT, _OUTPUT, _LOCAL, _CHARACTERS = 0, 1, 3, 6  # places in what tcgetattr returns
_FLAGS = {
    _INPUT: {30: "IGNPAR", 31: "PARMRK", 32: "INPCK", 33: "ISTRIP", 34: "INLCR", 35: "IGNCR", 36: "ICRNL", 37: "IUCLC",
             38: "IXON", 39: "IXANY", 40: "IXOFF", 41: "IMAXBEL", 42: "IUTF8"},
    _LOCAL: {50: "ISIG", 51: "ICANON", 52: "XCASE", 53: "ECHO", 54: "ECHOE", 55: "ECHOK", 56: "ECHONL", 57: "NOFLSH",
             58: "TOSTOP", 59: "IEXTEN", 60: "ECHOCTL", 61: "ECHOKE", 62: "PENDIN"},
    _OUTPUT: {70: "OPOST", 71: "OLCUC", 72: "ONLCR", 73: "OCRNL", 74: "ONOCR", 75: "ONLRET"},
}  # fmt: skip
_IUTF8 = 0o40000  # Linux; Python's termios has no name for it
_DISABLED = 255  # a control character that no key makes


def set_modes(fd: int, modes: Mapping[int, int]) -> None:
    """Set what the client says; what a terminal here does not know is left out."""
    attributes = termios.tcgetattr(fd)
    for place, names in _FLAGS.items():
        for opcode in names.keys() & modes.keys():
            bit = _bit(names[opcode])
            attributes[place] = attributes[place] | bit if modes[opcode] else attributes[place] & ~bit
    for opcode in _CONTROL_CHARACTERS.keys() & modes.keys():
        index = getattr(termios, _CONTROL_CHARACTERS[opcode], None)
        if index is not None:
            value = modes[opcode]
            attributes[_CHARACTERS][index] = bytes([0 if value == _DISABLED else value & 0xFF])
    with contextlib.suppress(termios.error):
        termios.tcsetattr(fd, termios.TCSANOW, attributes)


def _bit(name: str) -> int:
    return int(getattr(termios, name, _IUTF8 if name == "IUTF8" else 0))
