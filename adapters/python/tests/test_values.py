"""Arguments and results of any type, and their text."""

import collections
import dataclasses
import datetime
import decimal
import enum
import json
import math
import os
import pathlib
import sys
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unstuck import Guard, fingerprint, normalize


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Name(str):
    pass


@dataclasses.dataclass
class Point:
    x: int
    y: object = None


class Model:
    def model_dump(self):
        return {"x": 1, "y": None}


class Plain:
    pass


class Broken:
    def __str__(self):
        raise ValueError("no text")


class BrokenModel:
    def model_dump(self):
        raise ValueError("no members")


class Endless:
    def model_dump(self):
        return Endless()


Pair = collections.namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    "value, same",
    [
        ({"a": 1, "b": [1.0, True, None]}, '{"b":[1,true,null],"a":1}'),
        ((1, "é\n\"\\\x01"), '[1,"é\\n\\"\\\\\\u0001"]'),
        (Pair(1, 2), "[1,2]"),
        (Point(1), '{"x":1,"y":null}'),
        (Model(), '{"x":1,"y":null}'),
        ([Point(1, Model())], '[{"x":1,"y":{"x":1,"y":null}}]'),
        (collections.OrderedDict(a=1), '{"a":1}'),
        (collections.ChainMap({"a": 1}), '{"a":1}'),
        ([Color.RED, Level.HIGH, Name("n")], '["red",3,"n"]'),
        ({"b", "a"}, '["a","b"]'),
        ({1: 1, None: 2, True: 3, (1, 2): 4}, '{"1":3,"null":2,"[1,2]":4}'),
        ([b"a\xff", bytearray(b"b"), memoryview(b"c")], '["a\\\\xff","b","c"]'),
        ([math.nan, math.inf, -math.inf], '["NaN","Infinity","-Infinity"]'),
        ([2**63, -(2**100), 1e300, 5e-324], f"[{2**63},{-(2**100)},1e300,5e-324]"),
        ([562949953421312.25], "[562949953421312.2]"),
        ([2**200], f'["{hex(2**200)}"]'),
        (["\ud800x"], '["\\\\ud800x"]'),
        ([datetime.date(2026, 11, 22), decimal.Decimal("1.50")], '["2026-11-22","1.50"]'),
        ([pathlib.PurePosixPath("/a"), uuid.UUID(int=0)], f'["/a","{uuid.UUID(int=0)}"]'),
        ([KeyError("x")], '["KeyError: \'x\'"]'),
        ([Broken(), BrokenModel()], f'["<{__name__}.Broken>","<{__name__}.BrokenModel>"]'),
    ],
)
def test_a_value_is_its_json(value, same):
    assert fingerprint(value) == fingerprint(same)


@pytest.mark.parametrize(
    "value, text",
    [
        ("make all", "make all"),
        (b"make all", "make all"),
        (Color.RED, "red"),
        (ValueError("no"), "ValueError: no"),
        (pathlib.PurePosixPath("/a"), "/a"),
        (7, "7"),
        (None, "null"),
    ],
)
def test_a_value_that_is_no_container_is_its_text(value, text):
    assert fingerprint(value) == fingerprint(text)


@pytest.mark.parametrize("make", [Plain, lambda: (lambda: 0), lambda: Plain().__init__, Endless])
def test_addresses_of_objects_do_not_matter(make):
    one, other = make(), make()
    assert fingerprint([one]) == fingerprint([other])


def nested(depth, container=list):
    value = container()
    for _ in range(depth):
        value = [value] if container is list else {"a": value}
    return value


DEEP = [(63, list), (63, dict), (3_000, list), (9_999, dict), (200_000, list)]
if os.environ.get("UNSTUCK_EXHAUSTIVE"):
    DEEP += [(3_000, dict), (9_999, list), (200_000, dict)]


@pytest.mark.parametrize(("depth", "container"), DEEP)
def test_deep_values_have_digests(depth, container):
    assert fingerprint(nested(depth, container)) == fingerprint(nested(depth, container))
    assert fingerprint(nested(depth, container)) != fingerprint(nested(62, container))
    guard = Guard()
    for _ in range(3):
        ticket = guard.before("deep", nested(depth, container)).ticket
        decision = guard.after(ticket, nested(depth, container))
    assert decision.action == "nudge"


def test_values_inside_themselves_have_digests():
    a = [1]
    a.append(a)
    b = {"a": a}
    b["b"] = b
    assert fingerprint(a) == fingerprint('[1,"..."]')
    assert fingerprint(b) == fingerprint('{"a":[1,"..."],"b":"..."}')
    twice = [1]
    assert fingerprint([twice, twice]) == fingerprint("[[1],[1]]")


def test_an_interrupt_in_a_value_goes_on():
    class Interrupted:
        def __str__(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fingerprint([Interrupted()])


def test_a_list_that_changes_while_it_is_read_is_read():
    class Changing:
        def __str__(self):
            values.clear()
            return "x"

    values = [Changing(), 1, 2]
    assert fingerprint(values) == fingerprint('["x"]')


def test_huge_integers_have_digests():
    assert fingerprint(10**6000) == fingerprint(10**6000) != fingerprint(10**6000 + 1)
    assert fingerprint([1 << 200_000])


def test_volatile_parts_are_normalized():
    one, other = "at 12:03:59 pid 4711", "at 07:30:01 pid 815"
    assert normalize(one) == normalize(other)
    assert normalize("7 files") != normalize("8 files")


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.text(st.characters(categories=["Cs", "L"]))
    | st.binary()
    | st.complex_numbers()
    | st.dates()
    | st.builds(Point, st.integers()),
    lambda inner: st.lists(inner)
    | st.dictionaries(st.text() | st.integers() | st.none(), inner)
    | st.tuples(inner, inner)
    | st.builds(Point, st.integers(), inner),
    max_leaves=30,
)


@given(values, values, st.text(), st.booleans())
def test_any_value_is_an_argument_and_a_result(args, result, tool, error):
    guard = Guard()
    for _ in range(3):
        before = guard.before(tool, args, id="x")
        assert before.action in ("proceed", "nudge")
        after = guard.after(before.ticket, result, error=error)
        assert after.action in ("proceed", "nudge")


@given(values)
def test_equal_values_have_equal_digests(value):
    digest = fingerprint(value)
    assert digest == fingerprint(value)
    if isinstance(value, dict):
        assert digest == fingerprint(dict(reversed(value.items())))


scalars = st.none() | st.booleans() | st.integers(-(2**127), 2**127 - 1) | st.text()
scalars |= st.floats(allow_nan=False, allow_infinity=False)
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)


@given(documents)
@settings(max_examples=300)
def test_the_digest_of_a_value_is_that_of_its_json(value):
    if isinstance(value, str):
        value = [value]
    expected = json.dumps(value)
    assert fingerprint(value) == fingerprint(expected)


@given(st.binary(max_size=300))
def test_any_bytes_are_restored_or_refused(state):
    with pytest.raises(ValueError):
        Guard.restore(state)


def test_no_reference_is_left():
    class Held:
        pass

    held, guard = Held(), Guard()
    before = sys.getrefcount(held)
    for _ in range(100):
        guard.after(guard.before("t", {"a": [held], "b": (held,)}).ticket, [held])
    assert sys.getrefcount(held) == before
