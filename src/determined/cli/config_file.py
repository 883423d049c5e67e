"""Config files on the command line: read, changed by --config, written again."""

from pathlib import Path

from determined.cli.grammar import UsageError
from determined.errors import InvalidConfig


def config_text(path: str, overrides: list[str], usage: str = "det e create CONFIG_FILE MODEL_DIR") -> str:
    """Return the file as written; with overrides it is read, changed and written again (comments are lost)."""
    from determined import config as configuration

    file = Path(path)
    if file.is_dir() or not file.exists():  # a pipe will do: `--config-file <(...)`
        what = "is a directory" if file.is_dir() else "does not exist"
        raise UsageError(f"config file '{path}' {what}; usage: {usage}")
    try:
        text = file.read_text()
        raw = configuration.parse_yaml(text)
    except UnicodeDecodeError as e:
        raise InvalidConfig(f"invalid experiment config file '{path}': it is not UTF-8 text ({e})") from e
    except InvalidConfig as e:
        raise InvalidConfig(f"invalid experiment config file '{path}'", str(e).splitlines()) from e
    return configuration.dump_yaml(configuration.apply_overrides(raw, overrides)) if overrides else text
