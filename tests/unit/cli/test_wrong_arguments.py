"""Arguments that cannot be meant: status 2, the value, what may be written; and the master is not asked."""

import pytest
from recorded_master import Det, experiment
from small_master import SmallMaster

from determined.cli.grammar import UnknownWord, close, count, resolve, truth
from determined.cli.main import NOUNS

WRONG = [
    (["t", "logs", "1", "--head", "0"], "'0' is not a whole number from 1 on"),
    (["t", "logs", "1", "--tail", "-3"], "'-3' is not a whole number from 1 on"),
    (["master", "logs", "--tail", "0"], "'0' is not a whole number from 1 on"),
    (["e", "list-checkpoints", "1", "--best", "-1"], "'-1' is not a whole number from 1 on"),
    (["e", "download", "1", "--top-n", "0"], "'0' is not a whole number from 1 on"),
    (["e", "download", "1", "--top-n", "many"], "'many' is not a whole number from 1 on"),
    (["e", "set", "weight", "1", "heavy"], "value: 'heavy' is not a number"),
    (["e", "set", "priority", "1", "1.5"], "value: '1.5' is not a whole number"),
    (["e", "set", "max-slots", "1", "few"], "'few' is neither a whole number nor none"),
    (["e", "extend", "1"], "--trials"),
    (["e", "wait", "1", "--polling-interval", "soon"], "'soon' is not a number of seconds from 0 on"),
    (["e", "wait", "1", "--polling-interval", "-1"], "'-1' is not a number of seconds from 0 on"),
    (["e", "wait", "1", "--polling-interval", "inf"], "'inf' is not a number of seconds from 0 on"),
    (["environment", "clean", "--older-than", "long"], "--older-than: 'long' is not a number"),
    (["e", "describe", "1,x"], "'1,x' is not a number or numbers with commas; det e list shows them"),
    (["e", "describe", ","], "',' is not a number"),
    (["c", "delete", ",", "--yes"], "',' names no checkpoint; det e list-checkpoints shows them"),
    (["c", "rm", "u-1"], "--glob"),
    (["c", "download", "u-1", "--mode", "fast"], "choose from"),
    (["t", "download", "1"], "one of the arguments --best --latest --uuid is required"),
    (["t", "download", "1", "--best", "--latest"], "not allowed with argument"),
    (["t", "logs", "1", "--level", "LOUD"], "'LOUD'"),
    (["t", "logs", "1", "--stdtype", "stdin"], "'stdin'"),
    (["t", "logs", "1", "--rank-id", "chief"], "--rank-id: 'chief' is not a whole number"),
    (["user", "edit", "ann", "--admin", "maybe"], "'maybe' is not true or false"),
    (["w", "create", "lab", "--checkpoint-storage-config", "{type"], "'{type' is not JSON"),
    (["w", "create", "lab", "--checkpoint-storage-config", "5"], "'5' is not a JSON object"),
    (["w", "create", "lab", "--agent-uid", "root"], "--agent-uid: 'root' is not a whole number"),
    (["job", "update", "j"], "is required"),
    (["job", "update", "j", "--priority", "1", "--weight", "2"], "not allowed with argument"),
    (["job", "update", "j", "--weight", "much"], "--weight: 'much' is not a number"),
    (["token", "revoke", "mine"], "token_id: 'mine' is not a whole number"),
    (["open", "trial", "x"], "id: 'x' is not a whole number"),
    (["open", "cluster"], "choose from"),
    (["agent", "disable", "node", "--all"], "not allowed with argument"),
    (["completion", "tcsh"], "choose from"),
    (["config", "schema", "webhook"], "choose from"),
    (["e", "list", "--pages", "2"], "choose from"),
    (["e", "list", "--json", "--csv"], "not allowed with argument"),
    (["e", "list", "--lmit=5"], "did you mean '--limit'?"),
    (["master", "config", "set", "--log.level", "LOUD"], "choose from"),
]


@pytest.mark.parametrize(("words", "said"), WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_wrong_argument_is_named_and_nothing_is_asked(
    det: Det, master: SmallMaster, words: list[str], said: str
) -> None:
    done = det(*words)
    assert (done.status, done.out, master.asked) == (2, "", [])
    assert said in done.err
    assert "Traceback" not in done.err


NOTHING_TO_DO = [
    (["user", "edit", "ann"], "--display-name, --username, --remote, --active or --admin"),
    (["p", "edit", "lab", "vision"], "--new_name, --description or --key"),
    (["w", "edit", "lab"], "det workspace edit --help"),
    (["master", "config", "set"], "--log.level or --log.color"),
    (["t", "logs", "1", "-f", "--tail", "5"], "--follow cannot be combined with --head or --tail"),
    (["t", "download", "1", "--latest", "--sort-by", "loss"], "--sort-by goes with --best only"),
    (["open", "project"], "which project? Give its number: det open project 1"),
    (["w", "create", "k", "--resource-quota", "0"], "Kubernetes"),
    (["job", "update-batch", "j.priority=high"], "cannot read 'j.priority=high': priority is a number"),
    (["job", "update-batch", "j.weight="], "cannot read 'j.weight='"),
    (["job", "update-batch", "j.weight=x"], "weight is a number; write JOB.priority=N"),
    (["job", "update-batch", "j.color=red"], "JOB.ahead-of=JOB or JOB.behind-of=JOB"),
    (["e", "continue", "1", "--config-file", "none.yaml"], "usage: det e continue EXPERIMENT_ID --config-file"),
]


@pytest.mark.parametrize(("words", "said"), NOTHING_TO_DO, ids=[" ".join(words) for words, _ in NOTHING_TO_DO])
def test_command_that_would_do_nothing_says_what_to_give(
    det: Det, master: SmallMaster, words: list[str], said: str
) -> None:
    done = det(*words)
    assert done.status == 2
    assert said in done.err
    assert [path for path in master.paths() if not path.startswith("GET") and "login" not in path] == []


def test_fork_with_a_missing_config_file_names_its_own_usage(det: Det, master: SmallMaster) -> None:
    master.answers["GET", "/api/v1/experiments/1"] = (200, {"experiment": experiment()})
    done = det("e", "fork", "1", "--config-file", "none.yaml")
    assert (done.status, "usage: det e fork EXPERIMENT_ID --config-file CONFIG_FILE" in done.err) == (2, True)
    assert "POST /api/v1/experiments" not in master.paths()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["re"], "ambiguous command 'det re'; choose from: resource-pool, resources"),
        (["t"], None),
        (["ta"], None),
        (["e", "un"], None),
        (["e", "c"], "ambiguous command 'det experiment c'; choose from: create, continue, cancel, config"),
        (["e", "label", "ad"], "the following arguments are required: experiment_id, label"),
        (["master", "cluster-message", "st"], "unknown command 'det master cluster-message st'"),
        ([""], "ambiguous command 'det '"),
        (["deploy", "local", "cluster"], "choose from: cluster-up, cluster-down"),
    ],
)
def test_prefix_names_one_command_or_the_candidates(alone: Det, words: list[str], said: str | None) -> None:
    done = alone(*words, "--help") if said is None else alone(*words)
    assert done.status == (0 if said is None else 2)
    assert said is None or said in done.err


def test_alias_of_a_noun_names_it_though_other_nouns_begin_alike() -> None:
    candidates = [names for names, _, _ in NOUNS]
    for names in candidates:
        assert all(resolve(alias, candidates, "det") == names for alias in names)


def test_words_of_two_letters_are_no_candidates_for_a_typo() -> None:
    assert close("lss", ["ls", "lists"]) == ["lists"]
    with pytest.raises(UnknownWord) as e:
        resolve("zzz", [("list", "ls")], "det e")
    assert "did you mean" not in str(e.value)


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("YES", True), ("1", True), ("False", False), ("no", False), ("0", False)]
)
def test_truth_may_be_written_in_three_ways(text: str, value: bool) -> None:
    assert truth(text) is value


def test_count_is_a_plain_whole_number() -> None:
    assert count("12") == 12
