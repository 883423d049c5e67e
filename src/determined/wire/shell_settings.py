"""Settings of the program of a shell: written by the master, read by `determined.exec.shell_server`."""

from determined.wire.codec import Wire


class ShellSettings(Wire):
    host_key: str  # private, in OpenSSH's PEM format
    authorized_keys: list[str]  # public keys that may log in
    server: str = "asyncssh"  # `shell.server` of the config
    terminal_key: str = ""  # opens a terminal without SSH, for the master alone; empty: nothing does
    reports_idle: bool = False  # the task has an idle timeout, so somebody reads the reports

    def __repr__(self) -> str:
        return f"ShellSettings(authorized_keys={self.authorized_keys!r}, server={self.server!r})"
