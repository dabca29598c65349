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
        ("", "'' is not an engine; use local, auto, gpu, spark://host:port"),
        ("gpus", "'gpus' is not an engine (did you mean gpu?)"),
        ("cuda", "'cuda' is not an engine; use local, auto, gpu"),
        ("spark", "'spark' is not an engine; use local, auto, gpu, spark://host:port for a Spark master"),
        ("spark://host", "'spark://host' is not an engine"),
        ("spark://host:0", "'spark://host:0' is not an engine"),
        ("spark://host:65536", "'spark://host:65536' is not an engine"),
        ("spark://host:1,other:65536", "'spark://host:1,other:65536' is not an engine"),
        ("spark://ho st:1", "'spark://ho st:1' is not an engine"),
        ("local[]", "or local[n] for Spark with n threads on this machine"),
        ("local[0]", "'local[0]' is not an engine"),
        ("local[-1]", "'local[-1]' is not an engine"),
        ("local2", "'local2' is not an engine"),
    ],
)
def test_another_name_says_what_to_use(text: str, said: str) -> None:
    with pytest.raises(ParameterError) as error:
        parse_engine(text)
    assert said in str(error.value)
