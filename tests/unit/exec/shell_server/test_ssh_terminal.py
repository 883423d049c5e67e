"""Terminals, by OpenSSH's client in a terminal of the test: size, keys, signals, and the way back after a loss."""

import asyncio
import contextlib
import signal

import psutil
from shell_rig import ShellRig
from terminal_client import TerminalClient, window

PROMPT = "READY>"


def opened(rig: ShellRig) -> list[str]:
    (rig.home / ".bashrc").write_text(f"PS1='{PROMPT}'\n")
    return rig.argv()


def lose(client: TerminalClient) -> None:
    """Break the connection, as a master that is killed does: the process in between vanishes."""
    for child in psutil.Process(client.process.pid).children():
        child.kill()
    client.wait()


def test_a_login_has_a_terminal_of_the_clients_size_and_type(rig: ShellRig) -> None:
    with window(opened(rig), rows=31, columns=117) as client:
        client.wait_for(PROMPT)
        client.type("stty size; echo type=$TERM; tty\n")
        client.wait_for("type=xterm-256color")
        assert b"31 117" in client.wait_for("/dev/pts/")


def test_the_window_can_be_resized(rig: ShellRig) -> None:
    with window(opened(rig)) as client:
        client.wait_for(PROMPT)
        client.type("trap 'echo now $(stty size)' WINCH; echo tr''apped\n")
        client.wait_for("trapped")
        client.resize(50, 132)
        client.type("\n")
        client.wait_for("now 50 132")


def test_the_status_of_the_shell_is_that_of_ssh(rig: ShellRig) -> None:
    with window(opened(rig)) as client:
        client.wait_for(PROMPT)
        client.type("exit 5\n")
        assert client.wait() == 5


def test_an_interrupt_reaches_the_program_and_not_the_shell(rig: ShellRig) -> None:
    with window(opened(rig)) as client:
        client.wait_for(PROMPT)
        client.type("sh -c 'echo up; exec sleep 600'\n")
        client.wait_for("\rup\r\n")
        client.type("\x03")
        client.wait_for(PROMPT, count=2)
        client.type("echo status $?\n")
        client.wait_for("status 130")


def test_keys_of_the_client_are_the_keys_of_the_terminal(rig: ShellRig) -> None:
    """The erase character of the client's terminal travels along."""
    with window(["sh", "-c", 'stty erase ^H intr ^G; exec "$@"', "sh", *opened(rig)]) as client:
        client.wait_for(PROMPT)
        client.type("stty -a | tr ';' '\\n' | grep -E 'erase|intr'\n")
        client.wait_for("erase = ^H")
        client.wait_for("intr = ^G")


def test_output_is_held_back_by_a_client_that_does_not_read(rig: ShellRig) -> None:
    with window([*opened(rig), "-tt", "yes"]) as client:
        client.wait_for("y\r\ny\r\n")
        client.process.send_signal(signal.SIGSTOP)
        process = psutil.Process(rig.process.pid)
        assert process.memory_info().rss < 400 * 1024 * 1024
        client.process.send_signal(signal.SIGCONT)


def test_programs_live_on_after_a_lost_connection_and_the_next_login_returns_to_them(rig: ShellRig) -> None:
    with window(opened(rig)) as client:
        client.wait_for(PROMPT)
        client.type("KEPT=value; echo screen''ful\n")
        client.wait_for("screenful")
        client.type(f"(until [ -e {rig.home}/go ]; do sleep 0.1; done; echo program''ended)\n")
        client.wait_for("; do sleep")
        lose(client)
    (rig.home / "go").touch()
    with window(rig.argv()) as client:
        client.wait_for("connection broke")
        client.wait_for("screenful")
        client.wait_for("programended")
        client.type("echo still=$KEPT\n")
        client.wait_for("still=value")
        client.type("exit 4\n")
        assert client.wait() == 4


def test_output_of_the_time_without_a_client_is_shown_on_return(rig: ShellRig) -> None:
    mark = rig.home / "mark"
    with window(opened(rig)) as client:
        client.wait_for(PROMPT)
        client.type(f"until [ -e {mark} ]; do sleep 0.1; done; seq 1 20000 | tail -n 5; echo writ''ten > {mark}\n")
        client.wait_for("do sleep")
        lose(client)
    mark.touch()
    rig.output(f"until grep -q written {mark}; do sleep 0.1; done")
    with window(rig.argv()) as client:
        client.wait_for("20000")


def test_each_lost_terminal_is_returned_to_once_the_last_one_first(rig: ShellRig) -> None:
    with window(opened(rig)) as one, window(rig.argv()) as two:
        one.wait_for(PROMPT)
        two.wait_for(PROMPT)
        for name, client in (("first", one), ("second", two)):
            client.type(f"NAME={name}; echo na''med\n")
            client.wait_for("named")
            lose(client)
    with contextlib.ExitStack() as stack:
        for name in ("second", "first", ""):
            client = stack.enter_context(window(rig.argv()))
            client.wait_for(PROMPT)
            client.type("echo [$NAME]\n")
            client.wait_for(f"[{name}]\r\n")


def test_a_new_terminal_can_be_asked_for(rig: ShellRig) -> None:
    with window(opened(rig)) as client:
        client.wait_for(PROMPT)
        client.type("NAME=old; echo na''med\n")
        client.wait_for("named")
        lose(client)
    with window(rig.argv("-oSetEnv=DET_SHELL_NEW=1")) as client:
        client.wait_for(PROMPT)
        client.type("echo [$NAME][$DET_SHELL_NEW]\n")
        client.wait_for("[][]\r\n")


def test_a_full_screen_program_draws_itself_again_on_return(rig: ShellRig) -> None:
    script = rig.home / "screen.py"
    script.write_text(
        "import signal, os, sys, time\n"
        "def draw(*_):\n"
        "    size = os.get_terminal_size()\n"
        "    sys.stdout.write(f'\\x1b[H\\x1b[2Jdrawn {size.lines}x{size.columns}.'); sys.stdout.flush()\n"
        "signal.signal(signal.SIGWINCH, draw)\n"
        "sys.stdout.write('\\x1b[?1049h'); draw()\n"
        "while True: time.sleep(60)\n"
    )
    with window(opened(rig), rows=30, columns=90) as client:
        client.wait_for(PROMPT)
        client.type(f"python3 {script}\n")
        client.wait_for("drawn 30x90.")
        lose(client)
    with window(rig.argv(), rows=30, columns=90) as client:
        client.wait_for("\x1b[?1049h")
        client.wait_for("drawn 30x90.")


def test_a_window_that_is_closed_leaves_its_terminal_to_return_to(rig: ShellRig) -> None:
    with window(opened(rig)) as client:
        client.wait_for(PROMPT)
        client.type("NAME=closed; echo na''med\n")
        client.wait_for("named")
        client.process.send_signal(signal.SIGHUP)
        assert client.wait() == 255
    with window(rig.argv()) as client:
        client.wait_for("connection broke")
        client.type("echo [$NAME]\n")
        client.wait_for("[closed]\r\n")


def test_a_terminal_that_a_client_closes_alone_is_hung_up(rig: ShellRig) -> None:
    """OpenSSH's client never does; other clients close the channel and keep the connection."""

    async def close() -> int:
        async with rig.connect() as connection:
            process = await connection.create_process("echo $$; exec sleep 600", term_type="xterm")
            pid = int(await process.stdout.readline())
            process.close()
            await process.wait_closed()
            return pid

    pid = asyncio.run(asyncio.wait_for(close(), 60))
    rig.output(f"while kill -0 {pid}; do sleep 0.1; done 2>/dev/null; true")


def test_signals_that_a_client_sends_reach_the_program(rig: ShellRig) -> None:
    async def send(**options: str) -> tuple[str, bool, str, str] | None:
        async with rig.connect() as connection:
            process = await connection.create_process("echo up; exec sleep 600", **options)
            await process.stdout.readline()
            process.send_signal("TERM")
            await process.wait()
            return process.exit_signal  # type: ignore[no-any-return]

    for options in ({}, {"term_type": "xterm"}):
        found = asyncio.run(asyncio.wait_for(send(**options), 60))
        assert found is not None and found[0] == "TERM"
