"""Labels stand beside their points, inside the plot, and never on one another."""

from hypothesis import given
from hypothesis import strategies as st

from noren.drawing.base import LETTER
from noren.drawing.risk_map import Label, place_labels

SIZE = (640.0, 340.0)
Box = tuple[float, float, float, float]


def box(label: Label, text: str) -> Box:
    return label.left, label.top, label.left + LETTER[0] * len(text), label.top + LETTER[1]


def overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and a[2] > b[0] and a[1] < b[3] and a[3] > b[1]


def test_a_label_prefers_the_right() -> None:
    (label,) = place_labels([(100, 100)], ["k = 3"], SIZE)
    assert label == Label(111.0, 92.5, (111.0, 100), far=False)


def test_at_the_right_edge_it_goes_left() -> None:
    (label,) = place_labels([(630, 100)], ["k = 3"], SIZE)
    assert label is not None
    assert label.left + 5 * LETTER[0] == 630 - 11


def test_it_leaves_the_line_free() -> None:
    spots = [(300.0, 300.0), (600.0, 50.0)]
    first, second = place_labels(spots, ["k = 2", "pseudonymize"], SIZE, steps=spots)
    assert first is not None
    assert second is not None
    assert first.left > 302
    assert second.top + LETTER[1] <= 48 or second.top >= 52


def test_a_wide_letter_takes_the_room_of_two() -> None:
    (wide,) = place_labels([(560, 100)], ["匿名化"], SIZE)
    (narrow,) = place_labels([(560, 100)], ["abcdef"], SIZE)
    assert wide == narrow


def test_a_label_without_room_is_left_out() -> None:
    placed = place_labels([(100, 100)] * 40, ["a rather long label"] * 40, SIZE)
    assert placed[0] is not None
    assert None in placed


spots = st.lists(st.tuples(st.floats(0, 640), st.floats(0, 340)), min_size=1, max_size=12)


@given(spots)
def test_no_two_labels_meet_and_none_leaves_the_plot(spots: list[tuple[float, float]]) -> None:
    texts = [f"k = {i}" for i in range(len(spots))]
    placed = [box(label, t) for label, t in zip(place_labels(spots, texts, SIZE), texts, strict=True) if label]
    assert not any(overlap(a, b) for i, a in enumerate(placed) for b in placed[:i])
    assert all(b[0] >= 0 and b[1] >= 0 and b[2] <= SIZE[0] and b[3] <= SIZE[1] for b in placed)
    assert placed
