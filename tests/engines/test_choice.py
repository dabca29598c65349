"""Names of engines."""

import pytest

from noren.engines.choice import LOCAL, EngineChoice, parse_engine
from noren.errors import ParameterError


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        ("local", LOCAL),
        (" GPU ", EngineChoice("gpu")),
        ("auto", EngineChoice("auto")),
        ("local[1]", EngineChoice("spark", "local[1]")),
        ("local[*]", EngineChoice("spark", "local[*]")),
        ("spark://127.0.0.1:7077", EngineChoice("spark", "spark://127.0.0.1:7077")),
        ("spark://[::1]:7077", EngineChoice("spark", "spark://[::1]:7077")),
        ("spark://a-b.c:1,d:65535", EngineChoice("spark", "spark://a-b.c:1,d:65535")),
    ],
)
def test_a_name_is_an_engine(text: str, engine: EngineChoice) -> None:
    assert parse_engine(text) == engine
    assert parse_engine(str(engine)) == engine


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there is no engine"),
        ("gpus", "did you mean gpu"),
        ("cuda", "use local, auto, gpu"),
        ("spark", "spark://127.0.0.1:7077"),
        ("spark://host", "no address of a Spark master"),
        ("spark://host:0", "no address of a Spark master"),
        ("spark://host:65536", "no address of a Spark master"),
        ("spark://host:1,other:65536", "no address of a Spark master"),
        ("spark://ho st:1", "no address of a Spark master"),
        ("local[]", "how many threads"),
        ("local[0]", "how many threads"),
        ("local[-1]", "how many threads"),
        ("local2", "how many threads"),
    ],
)
def test_another_name_says_what_to_use(text: str, said: str) -> None:
    with pytest.raises(ParameterError) as error:
        parse_engine(text)
    assert said in str(error.value)
