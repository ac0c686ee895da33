"""The model of step times: its rates give back what was measured, and bytes are those of rings."""

import itertools
from pathlib import Path

import pytest

from benchmarks import command
from benchmarks.devices.model import (
    BOTH,
    COUNTS,
    NARROW,
    RECIPES,
    WIDE,
    Assumed,
    Layer,
    Model,
    calibrated,
    lines,
    read,
    speedups,
)

MEASURED = read()["two H200"]
MODEL = Model(calibrated(MEASURED), Assumed(), Layer())


def test_rates_give_back_what_two_cards_took() -> None:
    rates = MODEL.rates
    for each in MEASURED["collectives"]:
        # Each of two devices sends half of the whole.
        assert MODEL.ring(2 * each["sent"], 2) * 1e6 == pytest.approx(each["us"])
    for each in MEASURED["layers"]:
        seconds = MODEL.ring(2 * each["sent"], 2) + each["flop"] / getattr(rates, each["type"])
        assert seconds * 1e6 == pytest.approx(each["us"])
    assert 2 < rates.f8 / rates.link / 1e3 < 10 and 1.5 < rates.f8 / rates.bf16 < 2


@pytest.mark.parametrize("recipe", RECIPES)
def test_bytes_and_types_change_what_they_should(recipe: str) -> None:
    for count in COUNTS:
        wide, narrow, both = (MODEL.cost(recipe, each, count) for each in (WIDE, NARROW, BOTH))
        assert wide.products == narrow.products > both.products
        assert wide.quantizing == 0 < narrow.quantizing == both.quantizing
        latency = MODEL.ring(0, count)
        assert narrow.wire < wide.wire < 2 * narrow.wire + 8 * latency
        assert wide.step >= wide.products
    slower = Model(MODEL.rates, Assumed(network=10e9), Layer())
    for count in COUNTS[1:]:
        assert slower.cost(recipe, WIDE, count).step >= MODEL.cost(recipe, WIDE, count).step


def test_more_devices_have_less_to_hide_behind() -> None:
    found = speedups(MODEL, "FSDP", WIDE, NARROW)
    assert found[0] == 1.0 and found[-1] > 1.5
    assert all(first <= second for first, second in itertools.pairwise(found))
    # Where nothing is hidden and quantizing is free, half of the bytes are half of the time.
    free = Model(MODEL.rates, Assumed(overlap=0), Layer(tokens=0))
    cost = free.cost("FSDP", NARROW, 16384)
    wide = free.cost("FSDP", WIDE, 16384)
    assert (wide.wire - 3 * free.ring(0, 16384)) == pytest.approx(
        2 * (cost.wire - 3 * free.ring(0, 16384))
    )


def test_an_all_to_all_between_nodes_goes_by_the_network() -> None:
    sent = 1e9
    seconds = MODEL.all_to_all(sent, 64) - MODEL.all_to_all(0, 64)
    assert seconds == pytest.approx(sent * 56 / 64 / MODEL.assumed.network)
    inside = MODEL.all_to_all(sent, 8) - MODEL.all_to_all(0, 8)
    assert inside == pytest.approx(sent * 7 / 8 / MODEL.rates.link)


def test_the_command_prints_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "model.svg"
    assert command.main(["devices", "model", "--plot", str(picture)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[:-1] == list(lines(MODEL)) and printed[-1].startswith("devices of the CPU:")
    assert all(f">{recipe}</text>" in picture.read_text() for recipe in RECIPES)
    assert command.main(["devices", "model", "--plot", "model.txt"]) == 1
    assert "give a name that ends in" in capsys.readouterr().err
