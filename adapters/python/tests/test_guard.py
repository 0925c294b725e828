"""What a guard decides, and how it is asked."""

import asyncio
import copy
import os
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from unstuck import Guard, Guards, PolicyError, Stuck, presets

FAILS = "make: *** No rule to make target 'all'."


def fail(guard, tool="bash", args=None):
    before = guard.before(tool, args or {"command": "make all"})
    return before if before.blocked else guard.after(before.ticket, FAILS, error=True)


def fail_until(guard, action, tool="bash"):
    for _ in range(12):
        decision = fail(guard, tool)
        if decision.action == action:
            return decision
    raise AssertionError(f"no {action} after 12 calls")


def test_a_repeated_failure_is_noted_then_refused_then_ends_the_run():
    guard = Guard()
    actions = [fail(guard).action for _ in range(8)]
    assert actions == ["proceed", "proceed", "nudge", "nudge", "block", "block", "block", "stop"]


def test_a_decision_has_the_words_for_the_model_and_the_evidence():
    guard = Guard()
    nudge = fail_until(guard, "nudge")
    assert not nudge.blocked and not nudge.ends_run
    assert nudge.message.startswith("[unstuck] You have made the same `bash` call 3 times")
    assert nudge.annotate("x") == f"x\n\n{nudge.message}"
    finding = nudge.finding
    assert (finding.rule, finding.kind, finding.tool) == ("same-effect", "streak", "bash")
    assert (finding.laps, finding.period, finding.calls) == (3, 1, [0, 1, 2])
    assert len(finding.id) == 16 and int(finding.id, 16) >= 0
    assert str(finding) == "`bash` 3 times in a row, failing alike"
    assert fail_until(guard, "block").ticket is not None
    refused = guard.before("bash", {"command": "make all"})
    assert refused.blocked and refused.message.startswith("[unstuck] This call was not run. ")
    assert fail_until(guard, "stop").ends_run


def test_a_finding_tells_the_cause_if_the_answer_does():
    guard = Guard()
    for _ in range(3):
        before = guard.before("bash", {"command": "jq . a.json"})
        decision = guard.after(before.ticket, "bash: jq: command not found", error=True)
    text = "The program `jq` is not there. Install it, or use another one."
    assert (decision.finding.cause_kind, decision.finding.cause) == ("program_missing", text)
    assert decision.message.endswith(text)
    assert fail_until(guard, "nudge", "test").finding.cause is None


def test_a_decision_is_no_truth_value():
    with pytest.raises(TypeError, match="use .blocked"):
        bool(Guard().before("bash", {}))


def test_the_order_and_the_spelling_of_arguments_do_not_matter():
    guard = Guard()
    spellings = [
        {"path": "a.rs", "limit": 10},
        {"limit": 10.0, "path": "a.rs"},
        '{"limit":1e1,"path":"a.rs"}',
    ]
    for args in spellings:
        decision = guard.after(guard.before("read", args).ticket, "fn main() {}")
    assert decision.action == "nudge"


def test_healthy_work_is_left_alone():
    guard = Guard()
    for n in range(200):
        before = guard.before("read", {"path": f"src/{n}.rs"})
        assert before.action == "proceed"
        assert guard.after(before.ticket, f"fn number_{n}() {{}}").action == "proceed"
    assert guard.statistics.calls == 200 and guard.statistics.loops == 0


def test_a_call_is_known_by_the_id_of_the_host():
    guard = Guard()
    for n in range(3):
        guard.before("bash", {"command": "make"}, id=f"call_{n}", step=n)
        decision = guard.after(f"call_{n}", FAILS, error=True)
    assert decision.action == "nudge"
    assert guard.after("call_9", FAILS).action == "proceed"


def test_results_of_calls_that_did_not_run_change_nothing():
    guard = Guard()
    fail_until(guard, "block")
    refused = guard.before("bash", {"command": "make all"}, id="x")
    before = guard.save()
    for call in (refused.ticket, "x", "unknown", None):
        assert guard.after(call, "done").action == "proceed"
    assert guard.save() == before


def test_calls_of_one_step_count_once():
    guard = Guard()
    for n in range(3):
        tickets = [guard.before("read", {"path": path}, step=n).ticket for path in "ab"]
        for ticket in tickets:
            decision = guard.after(ticket, "same")
    assert decision.finding.kind == "cycle" or decision.finding.laps == 3


def test_a_refusal_of_the_user_is_an_attempt_and_a_cancelled_call_is_none():
    guard = Guard()
    for _ in range(2):
        guard.refused(guard.before("bash", {"command": "make"}).ticket)
    assert guard.refused(guard.before("bash", {"command": "make"}).ticket).action == "nudge"
    guard = Guard()
    for _ in range(9):
        assert guard.cancelled(guard.before("bash", "make").ticket).action == "proceed"


def test_a_message_of_the_user_starts_afresh():
    for message in ("try once more", None):
        guard = Guard()
        fail_until(guard, "block")
        guard.user_message(message) if message else guard.user_message()
        # A call that failed before goes on, and is not refused.
        assert fail(guard).action == ("warn" if message else "proceed"), message


def test_turns_of_text_are_counted():
    guard = Guard()
    actions = [guard.text_turn("Let me see.").action for _ in range(3)]
    assert actions == ["proceed", "proceed", "nudge"]


def test_a_false_positive_is_not_found_again():
    guard = Guard()
    guard.false_positive(fail_until(guard, "nudge").finding)
    assert [fail(guard).action for _ in range(6)] == ["proceed"] * 6
    assert guard.statistics.false_positives == 1


def test_clear_forgets_the_calls_and_keeps_the_counts():
    guard = Guard()
    fail_until(guard, "block")
    guard.clear()
    assert fail(guard).action == "proceed"
    statistics = guard.statistics
    assert (statistics.loops, statistics.blocked) == (1, 0)
    assert statistics.findings["streak"] == 3 and statistics.actions["nudge"] == 2


def test_observing_only_judges():
    guard = Guard(observe=True)
    decisions = [fail(guard) for _ in range(8)]
    assert {decision.action for decision in decisions} == {"proceed"}
    assert decisions[4].judged == "block" and decisions[4].finding is not None


def test_a_guard_that_is_off_finds_nothing(monkeypatch):
    monkeypatch.setenv("UNSTUCK", "off")
    guard = Guard()
    assert {fail(guard).action for _ in range(9)} == {"proceed"}
    assert guard.before("bash", "make").ticket is None


@pytest.mark.parametrize(
    "tools, actions",
    [
        ({"bash": "waits"}, {"proceed", "nudge", "warn"}),
        ({"bash": {"exempt": True}}, {"proceed"}),
        ({"other": "acts"}, {"proceed", "nudge", "block", "stop"}),
    ],
)
def test_tools_are_declared(tools, actions):
    guard = Guard(tools=tools)
    assert {fail(guard).action for _ in range(8)} == actions


def test_the_arguments_of_a_key_identify_a_call():
    guard = Guard(tools={"ask": {"key": ["id"]}})
    for n in range(3):
        decision = fail(guard, "ask", {"id": 7, "note": f"attempt {n}"})
    assert decision.action == "nudge"


def test_a_configuration_is_text_a_file_or_a_dict(tmp_path):
    text = 'preset = "nudge"\n[tools.bash]\nexempt = true\n'
    file = tmp_path / "policy.toml"
    file.write_text(text)
    for config in (text, file, {"preset": "nudge", "tools": {"bash": {"exempt": True}}}):
        guard = Guard(config=config)
        assert {fail(guard).action for _ in range(8)} == {"proceed"}
        assert fail_until(guard, "nudge", tool="sh").finding.rule
    guard = Guard("nudge", config={"tools": {"bash": {"exempt": True}}})
    assert {fail(guard).action for _ in range(8)} == {"proceed"}


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"preset": "balance"}, PolicyError, "no preset \"balance\"; there are balanced, "),
        ({"config": "preset = 3"}, PolicyError, "line 1, column 10: expected a string, found"),
        ({"config": "policy.toml"}, PolicyError, "for a file, pass a pathlib.Path"),
        ({"preset": "nudge", "config": 'preset = "repeat"'}, PolicyError, "leave one of the two out"),
        ({"config": {"exempt": None}}, PolicyError, "config: "),
        ({"config": 3}, TypeError, "expected TOML text, a path or a dict, not int"),
        ({"tools": {"bash": "wait"}}, PolicyError, 'did you mean `waits`'),
        ({"tools": ["bash"]}, TypeError, "expected a dict, not list"),
        ({"capacity": 0}, ValueError, "at least 1, not 0"),
    ],
)
def test_a_wrong_setup_says_what_is_wrong(options, error, message):
    with pytest.raises(error) as raised:
        Guards(**options)
    assert message in str(raised.value)


def test_a_file_that_does_not_exist_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError, match="none.toml"):
        Guard(config=tmp_path / "none.toml")


def test_a_call_that_is_named_wrongly_is_an_error():
    with pytest.raises(TypeError, match="expected the ticket of a decision, .* not int"):
        Guard().after(3, "x")


def test_every_preset_is_a_guard():
    assert presets()[0] == "balanced" and len(presets()) > 5
    for name in presets():
        assert fail(Guard(name)).ticket is not None


# Copies


def copies(guard):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        yield f"pickle {protocol}", pickle.loads(pickle.dumps(guard, protocol))
    yield "copy", copy.copy(guard)
    yield "deepcopy", copy.deepcopy(guard)
    yield "restore", Guard.restore(guard.save())


@pytest.mark.parametrize("calls", range(8))
def test_a_copy_goes_on_where_the_guard_was(calls):
    guard = Guard(session="s", worker="w")
    for _ in range(calls):
        fail(guard)
    for way, other in copies(guard):
        assert type(other) is Guard and other.save() == guard.save(), way
        assert (other.session, other.worker) == (("", "main") if way == "restore" else ("s", "w"))
    others = [other for _, other in copies(guard)]
    decision = fail(guard)
    assert {fail(other).action for other in others} == {decision.action}


def test_a_copy_has_the_setup_of_the_guard():
    guard = Guard(tools={"bash": {"exempt": True}}, observe=True)
    for _, other in list(copies(guard))[:-1]:
        assert {fail(other).judged for _ in range(8)} == {"proceed"}
        decisions = [fail(other, "sh") for _ in range(8)]
        assert {decision.action for decision in decisions} == {"proceed"}
        assert decisions[-1].judged == "stop"


@pytest.mark.parametrize("state", [b"", b"\x04", b"x" * 100])
def test_a_state_that_no_guard_wrote_is_an_error(state):
    with pytest.raises(ValueError):
        Guard.restore(state)
    guard = Guard()
    with pytest.raises(ValueError):
        Guard.restore(guard.save()[:-1] + b"\0\0")


# Blocks and functions


def test_a_block_reports_its_result():
    guard = Guard()
    for _ in range(3):
        with guard.call("read", {"path": "a"}) as call:
            call.result = "same"
    assert call.decision.action == "nudge"


def test_an_exception_in_a_block_is_a_failed_call_and_goes_on():
    guard = Guard()
    notes = []
    for _ in range(5):
        with pytest.raises(OSError, match="no such") as error, guard.call("read", {"path": "a"}):
            raise OSError("no such file")
        notes += getattr(error.value, "__notes__", [])
    # Before Python 3.11, exceptions have no notes.
    assert len(notes) == (2 if sys.version_info >= (3, 11) else 0)
    assert all(note.startswith("[unstuck] You have made the same") for note in notes)
    with pytest.raises(Stuck) as stuck, guard.call("read", {"path": "a"}):
        raise AssertionError("the block ran")
    assert stuck.value.decision.blocked
    assert str(stuck.value) == stuck.value.decision.message


def test_a_block_raises_if_its_result_ends_the_run():
    guard = Guard()
    with pytest.raises(Stuck) as stuck:
        for _ in range(50):
            with guard.call("click", {"at": 1}) as call:
                call.result, call.error = "nothing happened", False
                call.error = True
    assert stuck.value.decision.blocked


def test_a_broken_off_block_is_no_failure():
    guard = Guard()
    for _ in range(9):
        with pytest.raises(KeyboardInterrupt), guard.call("read", {"path": "a"}):
            raise KeyboardInterrupt
    assert guard.before("read", {"path": "a"}).action == "proceed"


def test_a_function_is_watched_by_its_name_and_arguments():
    guard = Guard()

    @guard.watch
    def search(query, limit=10):
        """Search the index."""
        return "nothing found"

    assert (search.__name__, search.__doc__) == ("search", "Search the index.")
    assert [search("a"), search(query="a")] == ["nothing found"] * 2
    assert "[unstuck] " in search("a")
    with pytest.raises(TypeError):
        search()


def test_an_async_function_is_watched():
    guard = Guard()

    @guard.watch(tool="fetch")
    async def load(url):
        await asyncio.sleep(0)
        raise ConnectionError("refused")

    async def run():
        for _ in range(5):
            with pytest.raises(ConnectionError):
                await load("http://localhost")
        with pytest.raises(Stuck) as stuck:
            await load("http://localhost")
        assert stuck.value.decision.finding.tool == "fetch"

        @guard.watch
        async def hang():
            await asyncio.sleep(60)

        for _ in range(9):
            task = asyncio.create_task(hang())
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert guard.before("hang", {}).action == "proceed"

    asyncio.run(run())


# Sessions and threads


def test_sessions_do_not_mix():
    guards = Guards()
    for _ in range(2):
        for session in "abc":
            assert fail(guards.get(session)).action == "proceed"
    assert guards.get("a") is guards.get("a") and guards.get("a").session == "a"
    assert fail(guards.get("a")).action == "nudge"


def test_the_session_that_was_idle_longest_is_forgotten():
    guards = Guards(capacity=2)
    first, second = guards.get("1"), guards.get("2")
    assert guards.get("1") is first
    guards.get("3")
    assert len(guards) == 2
    assert guards.get("1") is first and guards.get("2") is not second


def test_eight_threads_share_guards():
    guards, shared = Guards(capacity=4), Guard()
    calls = 10_000 if os.environ.get("UNSTUCK_EXHAUSTIVE") else 1_000

    def work(thread):
        for n in range(calls):
            guard = shared if n % 2 else guards.get(f"session {(thread + n) % 8}")
            before = guard.before("read", {"path": f"{thread}/{n}"}, id=f"{thread}-{n}")
            after = guard.after(before.ticket, "x" * (n % 7 * 1000) + str(n))
            assert not before.blocked and not after.blocked
        return thread

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(work, range(8))) == list(range(8))
    assert shared.statistics.calls == 8 * calls // 2
